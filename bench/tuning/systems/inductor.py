"""TorchInductor. Without samples it compiles once for every size; with samples,
for each by itself with max-autotune, and other sizes are made of those."""
import sys

import torch
import torch._dynamo
import torch._inductor.config as inductor

from peer import agree, pieces, serve, timed

torch.set_num_threads(1)
inductor.freezing = True  # weights are constants, and may be packed
inductor.fx_graph_cache = False
torch._dynamo.config.cache_size_limit = 1000


class Product(torch.nn.Module):
    def __init__(self, k, n, turned):
        super().__init__()
        self.k, self.n, self.turned = k, n, turned
        shape = (n, k) if turned else (k, n)
        self.weight = torch.nn.Parameter(torch.rand(*shape) - 0.5, requires_grad=False)

    def forward(self, a):
        return torch.nn.functional.linear(a, self.weight) if self.turned else a @ self.weight


class Problem:
    def __init__(self, k, n, turned):
        self.k, self.model = k, Product(k, n, turned).eval()
        self.compiled, self.any, self.inputs = {}, None, {}

    def rows(self, m):
        if m not in self.inputs:
            self.inputs = {**self.inputs, m: torch.rand(m, self.k) - 0.5}
        return self.inputs[m]


def tune(p, samples):
    torch._dynamo.reset()
    p.compiled, p.any = {}, None
    with torch.inference_mode():
        if not samples:
            p.any = torch.compile(p.model, dynamic=True)
            a = p.rows(64)
            torch._dynamo.mark_dynamic(a, 0)
            p.any(a)
        for m in samples:
            copy = Product(p.k, p.model.n, p.model.turned).eval()
            copy.weight = p.model.weight
            p.compiled[m] = torch.compile(copy, dynamic=False, mode="max-autotune-no-cudagraphs")
            p.compiled[m](p.rows(m))


def run(p, m, count):
    with torch.inference_mode():
        if p.any is not None:
            a = p.rows(m)
            p.any(a)
            return timed(lambda: p.any(a), count)
        parts = [(p.compiled[s], p.rows(s)) for s in pieces(list(p.compiled), m)]

        def all_parts():
            for f, a in parts:
                f(a)

        all_parts()
        return timed(all_parts, count)


def check(p, m):
    with torch.inference_mode():
        f, a = (p.any, p.rows(m)) if p.any is not None else [(p.compiled[s], p.rows(s)) for s in pieces(list(p.compiled), m)][0]
        agree(f(a).tolist(), a.tolist(), p.model.weight.tolist(), p.model.turned)


serve(f"TorchInductor {torch.__version__}", Problem, tune, run, check)
