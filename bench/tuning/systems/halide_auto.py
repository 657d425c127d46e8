"""Halide: a pipeline for any number of rows, scheduled by its autoscheduler for an
estimate of them; for other sizes the pipeline of the nearest sample runs."""
import importlib.metadata
import os

import halide as hl
import numpy as np

from peer import agree, nearest, serve, timed

hl.load_plugin(os.path.join(os.path.dirname(hl.__file__), "lib64", "libautoschedule_adams2019.so"))
TARGET = hl.get_jit_target_from_environment()


class Problem:
    def __init__(self, k, n, turned):
        self.k, self.n, self.turned = k, n, turned
        rng = np.random.default_rng(1)
        self.w = (rng.random((n, k) if turned else (k, n)) - 0.5).astype(np.float32)
        self.pipelines, self.inputs = {}, {}

    def rows(self, m):
        if m not in self.inputs:
            a = (np.random.default_rng(m).random((m, self.k)) - 0.5).astype(np.float32)
            self.inputs[m] = (hl.Buffer(a), hl.Buffer(np.zeros((m, self.n), np.float32)), a)
        return self.inputs[m]

    def pipeline(self, m):
        a, b = hl.ImageParam(hl.Float(32), 2, "a"), hl.ImageParam(hl.Float(32), 2, "b")
        x, y, c = hl.Var("x"), hl.Var("y"), hl.Func("c")
        r = hl.RDom([(0, self.k)])
        c[x, y] = 0.0
        c[x, y] += a[r.x, y] * (b[r.x, x] if self.turned else b[x, r.x])
        a.dim(0).set_bounds(0, self.k)
        a.set_estimates([(0, self.k), (0, m)])
        wide = (self.k, self.n) if self.turned else (self.n, self.k)
        b.dim(0).set_bounds(0, wide[0])
        b.dim(1).set_bounds(0, wide[1])
        b.set_estimates([(0, wide[0]), (0, wide[1])])
        c.output_buffer().dim(0).set_bounds(0, self.n)
        c.set_estimates([(0, self.n), (0, m)])
        p = hl.Pipeline(c)
        p.apply_autoscheduler(TARGET, hl.AutoschedulerParams("Adams2019", {"parallelism": "1"}))
        p.compile_jit(TARGET)
        b.set(hl.Buffer(self.w))
        return p, a


def one(p, m):
    pipe, a = p.pipelines[nearest(list(p.pipelines), m)]
    given, result, _ = p.rows(m)
    a.set(given)
    return lambda: pipe.realize(result)


def tune(p, samples):
    p.pipelines = {}
    for m in samples:
        p.pipelines[m] = p.pipeline(m)
        one(p, m)()


def run(p, m, count):
    f = one(p, m)
    f()
    return timed(f, count)


def check(p, m):
    one(p, m)()
    agree(np.array(p.rows(m)[1]).tolist(), p.rows(m)[2].tolist(), p.w.tolist(), p.turned)


serve("Halide " + importlib.metadata.version("halide"), Problem, tune, run, check)
