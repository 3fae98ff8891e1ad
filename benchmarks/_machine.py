"""The machine that a benchmark ran on: its processor, and the most it can do."""

import concurrent.futures
import os
import pathlib
import platform
import re
import time

import numpy as np

# Of a product of square matrices, and of three arrays that no cache holds.
_SIDE, _LENGTH = 1536, 8_000_000


def processor() -> str:
    """The processor's name and model, as far as the system tells."""
    try:
        told = pathlib.Path("/proc/cpuinfo").read_text()
    except OSError:
        return platform.processor() or platform.machine()
    found = dict(re.findall(r"(?m)^([\w ]+?)\s*: (.+)$", told))
    number = [found.get(key, "?") for key in ("cpu family", "model")]
    return f"{found.get('model name', '?')} (family {number[0]}, model {number[1]})"


def peaks(dtype: str) -> dict[str, float]:
    """The best of five: a product's 10⁹ operations, a triad's 10⁹ bytes a second.

    Both on all cores: a product of two matrices (two operations for each of its
    terms), and a + b · 0.5 in two passes (three arrays read, two written).
    """
    one = np.ones((_SIDE, _SIDE), dtype)
    cores = os.cpu_count() or 1
    parts = [
        tuple(np.ones(_LENGTH // cores, dtype) for _ in range(3)) for _ in range(cores)
    ]

    def triad(part):
        a, b, out = part
        np.multiply(b, a.dtype.type(0.5), out=out)
        np.add(out, a, out=out)

    with concurrent.futures.ThreadPoolExecutor(cores) as pool:
        product = _least(lambda: one @ one)
        passed = _least(lambda: list(pool.map(triad, parts)))
    moved = 5 * _LENGTH * one.itemsize
    return {
        "gflops": 2e-9 * _SIDE**3 / product,
        "gbytes_per_second": 1e-9 * moved / passed,
    }


def _least(call) -> float:
    """Seconds of the quickest of five calls, after one that is not counted."""
    seconds = []
    for _ in range(6):
        began = time.perf_counter()
        call()
        seconds.append(time.perf_counter() - began)
    return min(seconds[1:])
