"""An oracle for the exact flow: explicit Euler in C, which knows nothing of events.

θ ← θ − h ∇L(θ) with σ'(0) the negative slope, at steps h, h/2 and h/4 to the end time.
The value is the extrapolation 2 θ_{h/4} − θ_{h/2}.  Its error is taken to be its
distance from 2 θ_{h/2} − θ_h: where the flow is smooth this is three times too much;
where a neuron slides, Euler trembles about the hyperplane with an amplitude
proportional to h and a phase that is random in h, both extrapolations are off by about
that amplitude, and so is their difference.  (Averages over the last steps would remove
the tremble of the end alone, not what it did to the other neurons on the way, and would
make the error look smaller than it is.)  Two extrapolations may agree by luck: the
error counts as no less than 1/50 of |θ_{h/4} − θ_{h/2}|.  h is halved until every
neuron's error is below `AIM`, or the steps allowed are used.

Whether there is one solution to find is asked in the same way, without events: Euler
is started again from weights that differ by 1e-9 and from samples in another order.
Where the ends differ by much more than that, it took one of several solutions, or one
that no tolerance in use can follow.
"""

import ctypes
import dataclasses
import functools
import pathlib
import subprocess
import tempfile

import numpy as np

SOURCE = pathlib.Path(__file__).parent / "_euler.c"
LOSSES = ("half_mse", "logistic", "exponential")
# A neuron's error that needs no further halving: 1/20 of the least tolerance asked for.
AIM = 5e-6
PERTURBATION = 1e-9
# No better than this share of what extrapolation removes.
_LUCK = 0.02
# Neurons that the program treats side by side.
_BLOCK = 8


@dataclasses.dataclass(frozen=True)
class Problem:
    """A sample and a start; the hidden bias is the last column of `x` and `w`."""

    x: np.ndarray  # n e
    y: np.ndarray  # n k
    weight: np.ndarray  # n
    w: np.ndarray  # m e
    a: np.ndarray  # m k
    slope: float
    loss: str


@dataclasses.dataclass(frozen=True)
class Reference:
    """Where Euler says that the flow ends: rows (w, a) of every neuron.

    `error` is the oracle's own, per neuron and relative to |(w, a)|; `steps` are those
    of its longest run.
    """

    end: np.ndarray  # m (e + k)
    error: np.ndarray  # m
    steps: int


class NoCompiler(Exception):
    """There is no C compiler, so there is no oracle."""


def reference(
    problem: Problem, time: float, most: int = 2_000_000, least: int = 0
) -> Reference:
    """The end at `time`; the last run is of `least` steps at least.

    It is of `most` steps at most, unless the first three, or `least`, are more.
    """
    steps = max(2000, round(1000 * time), least // 4)
    runs = [run(problem, time, steps * 2**i) for i in range(3)]
    while True:
        before, end = (2 * fine - rough for rough, fine in zip(runs, runs[1:]))  # noqa: B905
        tremble = _LUCK * distance(runs[1], runs[2])
        error = np.maximum(distance(before, end), tremble)
        if np.max(error) <= AIM or 8 * steps > most:
            break
        steps *= 2
        runs = [*runs[1:], run(problem, time, 4 * steps)]
    return Reference(end, error, 4 * steps)


def perturbed_ends(
    problem: Problem, time: float, steps: int, count: int = 24
) -> tuple[np.ndarray, list[np.ndarray]]:
    """The end in a quarter of `steps`, and those of perturbed starts in as many."""
    rng = np.random.default_rng(0)
    size = np.linalg.norm(np.concatenate([problem.w, problem.a], axis=1), axis=1)
    move = lambda v: v + PERTURBATION * size[:, None] * rng.standard_normal(v.shape)
    ends = []
    for i in range(count):
        order = rng.permutation(len(problem.x))
        x, y, weight = (v[order] for v in (problem.x, problem.y, problem.weight))
        # Every fourth has the samples in another order alone.
        w, a = (move(v) if i % 4 else v for v in (problem.w, problem.a))
        other = dataclasses.replace(problem, x=x, y=y, weight=weight, w=w, a=a)
        ends.append(run(other, time, steps // 4))
    return run(problem, time, steps // 4), ends


def distance(one: np.ndarray, two: np.ndarray) -> np.ndarray:
    """Per row, |one − two| / |two|; 0 if both are 0, infinite if one is no number."""
    apart, size = (np.linalg.norm(v, axis=1) for v in (one - two, two))
    safe = np.where(size > 0, size, 1)
    relative = np.where(size > 0, apart / safe, np.where(apart > 0, np.inf, 0))
    return np.where(np.isfinite(relative), relative, np.inf)


def run(problem: Problem, time: float, steps: int) -> np.ndarray:
    """Rows (w, a) after so many steps of Euler."""
    is_kept = problem.weight > 0
    x, y, weight = (v[is_kept] for v in (problem.x, problem.y, problem.weight))
    (m, e), k = problem.w.shape, problem.a.shape[1]
    blocks = -(-m // _BLOCK)
    program = _program(e, k, blocks)
    x, y, share = (
        np.ascontiguousarray(v, float) for v in (x, y, weight / weight.sum())
    )
    w, a = _side_by_side(problem.w, blocks), _side_by_side(problem.a, blocks)
    address = lambda v: v.ctypes.data_as(ctypes.c_void_p)
    program(
        ctypes.c_int(len(x)),
        address(x),
        address(y),
        address(share),
        ctypes.c_double(problem.slope),
        ctypes.c_int(LOSSES.index(problem.loss)),
        ctypes.c_double(time / steps),
        ctypes.c_long(steps),
        address(w),
        address(a),
    )
    return np.concatenate([_rows(w, m), _rows(a, m)], axis=1)


def _side_by_side(v: np.ndarray, blocks: int) -> np.ndarray:
    padded = np.zeros((blocks * _BLOCK, v.shape[1]))
    padded[: len(v)] = v
    return np.ascontiguousarray(padded.reshape(blocks, _BLOCK, -1).swapaxes(1, 2))


def _rows(v: np.ndarray, m: int) -> np.ndarray:
    return v.swapaxes(1, 2).reshape(-1, v.shape[1])[:m]


@functools.cache
def _program(e: int, k: int, blocks: int):
    sizes = [f"-DE={e}", f"-DK={k}", f"-DB={blocks}"]
    with tempfile.TemporaryDirectory() as folder:
        target = pathlib.Path(folder) / "euler.so"
        # Half of the time goes where the processor's own instructions are not known.
        for options in (["-O3", "-march=native"], ["-O2"]):
            command = ["cc", *options, *sizes, "-shared", "-fPIC", "-o", target, SOURCE]
            try:
                done = subprocess.run([*command, "-lm"], capture_output=True, text=True)
            except FileNotFoundError:
                raise NoCompiler("`cc` was not found: install a C compiler") from None
            if done.returncode == 0:
                return ctypes.CDLL(str(target)).euler
    raise NoCompiler(f"`cc` could not compile {SOURCE.name}: {done.stderr}")
