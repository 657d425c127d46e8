"""What the systems of the benchmark have in common: a system is a process that
obeys lines on its standard input and answers each with one line.

    open K N TURNED     ok ID         products a[M, K] by weights [K, N], or [N, K] if TURNED is 1
    tune ID M,M,..      ok SECONDS    from nothing to the first result, given these sizes; none: as the system does it
    run ID M COUNT      ok SECONDS    so many products of M rows
    check ID M          ok            the result is compared with dot products

An answer may be `no REASON` instead.
"""
import sys
import time


def nearest(samples, m):
    """The sample whose ratio to m is closest to 1."""
    return min(samples, key=lambda s: max(s / m, m / s))


def pieces(samples, m):
    """Samples that together have at least m rows, for code of fixed sizes."""
    most, out = max(samples), []
    while m > most:
        out.append(most)
        m -= most
    return out + [min(s for s in samples if s >= m)]


def timed(run, count):
    start = time.perf_counter()
    for _ in range(count):
        run()
    return time.perf_counter() - start


def serve(name, make, tune, run, check):
    """make(k, n, turned) gives a problem; tune, run and check work on it."""
    out = sys.stdout
    sys.stdout = sys.stderr  # the systems' own chatter

    def say(text):
        print(text, file=out, flush=True)

    say("ok " + name)
    problems = []
    for line in sys.stdin:
        word, *args = line.split()
        try:
            if word == "open":
                problems.append(make(int(args[0]), int(args[1]), args[2] == "1"))
                say(f"ok {len(problems) - 1}")
            elif word == "tune":
                samples = [int(m) for m in args[1].split(",")] if len(args) > 1 else []
                start = time.perf_counter()
                tune(problems[int(args[0])], samples)
                say(f"ok {time.perf_counter() - start}")
            elif word == "run":
                say(f"ok {run(problems[int(args[0])], int(args[1]), int(args[2]))}")
            elif word == "check":
                check(problems[int(args[0])], int(args[1]))
                say("ok ")
            else:
                say("no such command")
        except Exception as fault:  # the benchmark goes on without this figure
            say("no " + " ".join(f"{type(fault).__name__}: {fault}".split())[:300])


def agree(got, a, w, turned):
    """Holds three elements of a result against dot products."""
    rows, cols = len(got), len(got[0])
    for i, j in ((0, 0), (rows - 1, cols - 1), (rows // 2, cols // 2)):
        want = sum(float(x) * float(w[j][l] if turned else w[l][j]) for l, x in enumerate(a[i]))
        if abs(float(got[i][j]) - want) > 1e-3 * (1 + abs(want)):
            raise ValueError(f"element {i}, {j} is {got[i][j]}, a dot product gives {want}")
