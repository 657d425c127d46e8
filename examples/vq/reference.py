"""The linear layer in NumPy: reference.py FOLDER reads codes, codebooks, scales
and x (.npy), decodes the weights and writes want.npy in float64."""
import sys

import numpy as np

folder = sys.argv[1]
codes, codebooks, scales, x = (np.load(f"{folder}/{name}.npy") for name in ("codes", "codebooks", "scales", "x"))
codebooks, scales, x = (a.astype(np.float64) for a in (codebooks, scales, x))

n, groups, books = codes.shape
w = sum(codebooks[c][codes[:, :, c]] for c in range(books)).reshape(n, groups * codebooks.shape[2])
np.save(f"{folder}/want.npy", x @ (w * scales[:, None]).T)
