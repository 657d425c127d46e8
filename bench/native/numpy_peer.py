"""The peer NumPy, in a process of its own: lines as in onednn.c.

Everything is written with preallocated arrays (out=), as fast as NumPy alone
lets one. What NumPy has no function for (erf) it has no row for.
"""
import os
import sys
import time

os.sched_setaffinity(0, {int(sys.argv[1])})

import numpy as np  # after the processor is chosen: its threads ask once


def filled(*shape):
    n = int(np.prod(shape))
    i = np.arange(n, dtype=np.int64)
    return ((i * 7919 % 1009) / np.float32(252.25) - 2).astype(np.float32).reshape(shape)


def add(m, n):
    x, y, z = filled(m, n), filled(m, n), np.zeros((m, n), np.float32)
    return lambda: np.add(x, y, out=z)


def total(m, n):
    x, s = filled(m, n), np.zeros((), np.float32)
    return lambda: np.sum(x, out=s)


def transpose(m, n):
    x, y = filled(m, n), np.zeros((n, m), np.float32)
    return lambda: np.copyto(y, x.T)


def softmax(m, n):
    x, y = filled(m, n), np.zeros((m, n), np.float32)
    r = np.zeros((m, 1), np.float32)

    def run():
        np.max(x, axis=1, keepdims=True, out=r)
        np.subtract(x, r, out=y)
        np.exp(y, out=y)
        np.sum(y, axis=1, keepdims=True, out=r)
        np.divide(y, r, out=y)

    return run


def layernorm(m, n):
    x, g, b, y = filled(m, n), filled(n), filled(n), np.zeros((m, n), np.float32)
    t, mean, var = np.zeros((m, n), np.float32), np.zeros((m, 1), np.float32), np.zeros((m, 1), np.float32)

    def run():
        np.mean(x, axis=1, keepdims=True, out=mean)
        np.subtract(x, mean, out=y)
        np.multiply(y, y, out=t)
        np.mean(t, axis=1, keepdims=True, out=var)
        np.add(var, np.float32(1e-5), out=var)
        np.sqrt(var, out=var)
        np.divide(y, var, out=y)
        np.multiply(y, g, out=y)
        np.add(y, b, out=y)

    return run


def gelu_tanh(m, n):
    x, y = filled(m, n), np.zeros((m, n), np.float32)
    t = np.zeros((m, n), np.float32)

    def run():
        np.multiply(x, x, out=t)
        np.multiply(t, np.float32(0.044715), out=t)
        np.add(t, np.float32(1), out=t)
        np.multiply(t, x, out=t)
        np.multiply(t, np.float32(0.7978845608), out=t)
        np.tanh(t, out=t)
        np.add(t, np.float32(1), out=t)
        np.multiply(t, x, out=y)
        np.multiply(y, np.float32(0.5), out=y)

    return run


OPS = {"add": add, "sum": total, "transpose": transpose, "softmax": softmax, "layernorm": layernorm, "gelu_tanh": gelu_tanh}


def features():
    """The instruction sets that NumPy found and uses."""
    from numpy._core._multiarray_umath import __cpu_features__

    return ",".join(name for name, on in __cpu_features__.items() if on and (name.startswith("AVX") or name.startswith("X86")))


def main():
    print("ok", np.__version__, "isa", features(), flush=True)
    opened = []
    for line in sys.stdin:
        word, *args = line.split()
        if word == "open" and args[0] in OPS:
            opened.append(OPS[args[0]](int(args[1]), int(args[2])))
            print("ok", len(opened) - 1, "numpy", flush=True)
        elif word == "run":
            run, n = opened[int(args[0])], int(args[1])
            t = time.process_time_ns()
            for _ in range(n):
                run()
            print("ok %.9f" % ((time.process_time_ns() - t) * 1e-9), flush=True)
        else:
            print("no such operation", flush=True)


main()
