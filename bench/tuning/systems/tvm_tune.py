"""TVM: MetaSchedule tunes a product of fixed sizes for each sample, TRIALS
candidates each; other sizes are made of those."""
import os
import tempfile

import numpy as np
import tvm
from tvm import te
from tvm.s_tir import meta_schedule as ms

from peer import agree, pieces, serve, timed

TRIALS = int(os.environ.get("TRIALS", "32"))
CPU = tvm.target.codegen.llvm_get_system_cpu()
TARGET = tvm.target.Target({"kind": "llvm", "mcpu": CPU, "num-cores": 1})


def space():
    """The default space, its rules by name: looking them up by the target crashes this version."""
    return ms.space_generator.PostOrderApply(sch_rules="llvm", postprocs="llvm", mutator_probs="llvm")


class Problem:
    def __init__(self, k, n, turned):
        self.k, self.n, self.turned = k, n, turned
        self.w = (np.random.default_rng(1).random((n, k) if turned else (k, n)) - 0.5).astype(np.float32)
        self.b = tvm.runtime.tensor(self.w)
        self.compiled, self.inputs = {}, {}

    def rows(self, m):
        if m not in self.inputs:
            a = (np.random.default_rng(m).random((m, self.k)) - 0.5).astype(np.float32)
            self.inputs[m] = (tvm.runtime.tensor(a), tvm.runtime.tensor(np.zeros((m, self.n), np.float32)), a)
        return self.inputs[m]

    def program(self, m):
        a = te.placeholder((m, self.k), name="A")
        b = te.placeholder((self.n, self.k) if self.turned else (self.k, self.n), name="B")
        r = te.reduce_axis((0, self.k), name="k")
        c = te.compute((m, self.n), lambda i, j: te.sum(a[i, r] * (b[j, r] if self.turned else b[r, j]), axis=r), name="C")
        return tvm.IRModule({"main": te.create_prim_func([a, b, c])})

    def tuned(self, m):
        mod = self.program(m)
        with tempfile.TemporaryDirectory() as work:
            database = ms.tir_integration.tune_tir(mod, TARGET, work, max_trials_global=TRIALS, num_trials_per_iter=16, seed=1, database="memory", space=space())
            schedule = ms.tir_integration.compile_tir(database, mod, TARGET)
        if schedule is None:
            raise ValueError("no candidate could be measured")
        return tvm.compile(schedule.mod, TARGET)["main"]


def parts(p, m):
    list_ = [(p.compiled[s], *p.rows(s)[:2]) for s in pieces(list(p.compiled), m)]

    def run_all():
        for f, a, c in list_:
            f(a, p.b, c)

    return run_all


def tune(p, samples):
    p.compiled = {}
    for m in samples:
        p.compiled[m] = p.tuned(m)
        parts(p, m)()


def run(p, m, count):
    f = parts(p, m)
    f()
    return timed(f, count)


def check(p, m):
    parts(p, m)()
    s = pieces(list(p.compiled), m)[0]
    agree(p.rows(s)[1].numpy().tolist(), p.rows(s)[2].tolist(), p.w.tolist(), p.turned)


serve("TVM " + tvm.__version__, Problem, tune, run, check)
