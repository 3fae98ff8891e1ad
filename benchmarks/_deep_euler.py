"""An oracle for the flow of deep networks: explicit Euler in C, without any events.

θ ← θ − h ∇L(θ) at three steps h, each half of the one before.  The value is the
extrapolation 2 θ_{h/4} − θ_{h/2}; its error is taken to be its distance from
2 θ_{h/2} − θ_h.  Two extrapolations may agree by luck, so the error counts as no less
than 1/50 of |θ_{h/4} − θ_{h/2}|.  `_euler.py`, of two layers, says more.
"""

import ctypes
import dataclasses
import functools
import pathlib
import subprocess
import tempfile
from typing import Any, NamedTuple

import numpy as np
from _deep_problems import distance

SOURCE = pathlib.Path(__file__).parent / "_deep_euler.c"
LOSSES = ("half_mse", "logistic", "cross_entropy")
PERTURBATION = 1e-9
# No better than this share of what extrapolation removes.
_LUCK = 0.02


@dataclasses.dataclass(frozen=True)
class DeepProblem:
    """A sample and a start; theta holds of every layer W row by row, then b."""

    x: np.ndarray  # n d
    y: np.ndarray  # n k
    widths: tuple[int, ...]
    has_bias: bool
    slope: float
    loss: str
    theta: np.ndarray  # p


class Known(NamedTuple):
    """Where Euler says that the flow is, and its own error relative to |θ|."""

    end: np.ndarray
    error: float


def reference(problem: DeepProblem, time: float, step: float) -> Known:
    """The end by steps of `step`, and of half and of a quarter of it."""
    runs = [run(problem, time, step / 2**i) for i in range(3)]
    before, end = 2 * runs[1] - runs[0], 2 * runs[2] - runs[1]
    return Known(end, max(distance(before, end), _LUCK * distance(runs[1], runs[2])))


def perturbed_ends(
    problem: DeepProblem, time: float, step: float, count: int = 12
) -> list[np.ndarray]:
    """Ends from the start, then from starts that differ by 1e-9 of it."""
    rng = np.random.default_rng(0)
    size = np.linalg.norm(problem.theta) / np.sqrt(len(problem.theta))
    starts = [problem.theta] + [
        problem.theta + PERTURBATION * size * rng.standard_normal(len(problem.theta))
        for _ in range(count)
    ]
    moved = [dataclasses.replace(problem, theta=start) for start in starts]
    return [run(p, time, step) for p in moved]


def run(problem: DeepProblem, time: float, step: float) -> np.ndarray:
    """θ at the time."""
    address = lambda v: v.ctypes.data_as(ctypes.c_void_p)
    widths = np.array(problem.widths, np.int32)
    x, y = (np.ascontiguousarray(v.T, float) for v in (problem.x, problem.y))
    theta, steps = np.array(problem.theta, float), round(time / step)
    program(len(problem.x))(
        ctypes.c_int(len(widths) - 1),
        address(widths),
        ctypes.c_int(problem.has_bias),
        ctypes.c_int(LOSSES.index(problem.loss)),
        address(x),
        address(y),
        ctypes.c_double(problem.slope),
        ctypes.c_double(time / steps),
        ctypes.c_long(steps),
        address(theta),
    )
    return theta


@functools.cache
def program(n: int) -> Any:
    """Euler for n samples.

    Raises:
        FileNotFoundError: without a C compiler.
    """
    flags = ["-O3", "-march=native", "-fopenmp-simd", "-shared", "-fPIC", f"-DN={n}"]
    with tempfile.TemporaryDirectory() as folder:
        target = pathlib.Path(folder) / "euler.so"
        command = ["cc", *flags, "-o", str(target), str(SOURCE), "-lm"]
        subprocess.run(command, check=True)
        return ctypes.CDLL(str(target)).euler
