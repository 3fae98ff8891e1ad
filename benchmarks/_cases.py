"""Random problems for the exact flow with every oddity that its events may meet.

A case is drawn from its own seed.  Sizes are at most n = 12, m = 8, d = 4, and all
cases are padded to these: rows of weight 0 (with junk in some), inputs that are 0
throughout, neurons that are 0 and stay so.  What needs a program of its own (loss,
slope, number of outputs, hidden bias) comes in twelve combinations.
"""

import dataclasses

import numpy as np
from _euler import Problem

N, M, D = 12, 8, 4
TIMES = (2.0, 8.0, 20.0, 40.0)
# loss, slope, outputs, hidden bias.  One output without a bias is drawn twice as often.
PLAIN = tuple(
    (loss, slope, 1, False)
    for loss in ("half_mse", "logistic", "exponential")
    for slope in (0.0, 0.1)
)
OTHER = (
    ("half_mse", 0.0, 3, False),
    ("half_mse", 0.1, 1, True),
    ("logistic", 0.0, 1, True),
    ("logistic", 0.1, 3, False),
    ("exponential", 0.0, 3, True),
    ("exponential", 0.1, 3, True),
)
PROGRAMS = (*PLAIN, *OTHER, *PLAIN)


@dataclasses.dataclass(frozen=True)
class Case:
    """A problem (without its bias as a column), an end time and what is odd in it."""

    name: str
    kinds: tuple[str, ...]
    x: np.ndarray  # n d
    y: np.ndarray  # n k
    weight: np.ndarray  # n
    w: np.ndarray  # m d
    a: np.ndarray  # m k
    b: np.ndarray | None  # m
    slope: float
    loss: str
    time: float
    rtol: float = 1e-7

    @property
    def problem(self) -> Problem:
        """What the oracle takes."""
        x, w = self.x, self.w
        if self.b is not None:
            x = np.concatenate([x, np.ones((len(x), 1))], axis=1)
            w = np.concatenate([w, self.b[:, None]], axis=1)
        return Problem(x, self.y, self.weight, w, self.a, self.slope, self.loss)


def random_case(seed: int) -> Case:
    """The case of a seed."""
    return _case(seed, PROGRAMS[seed % len(PROGRAMS)], (1, M), (M,), TIMES)


def wide_case(seed: int, fewest: int, most: int) -> Case:
    """The same with many neurons, one output and no bias, to a time of 8 at most."""
    rooms = sorted({min(most, 512), most})
    program = PLAIN[seed % len(PLAIN)]
    return _case(seed, program, (fewest, most), rooms, TIMES[:2])


def _case(seed, program, neurons, rooms, times) -> Case:
    """With as many neurons as a range says, padded to the least room that does."""
    rng = np.random.default_rng(seed)
    loss, slope, k, has_bias = program
    law = SAMPLES[rng.integers(len(SAMPLES))]
    x, y = law(rng, k)
    kinds = [law.__name__.strip("_")]
    if loss != "half_mse":
        y = np.where(y < 0, -1.0, 1.0)
    # None, one, or a mixture of several oddities of the sample, then of the start.
    x, y = _altered(rng, kinds, rng.choice([0, 1, 1, 2, 3]), CHANGES, x, y)
    if loss == "half_mse" and rng.random() < 0.1:
        kinds.append("zero_labels")
        y[rng.random(y.shape) < 0.5] = 0.0
    w, a = _start(rng, kinds, x, k, has_bias, neurons)
    rows = next(room for room in rooms if room >= len(w))
    z = np.concatenate([x, np.ones((len(x), 1))], axis=1) if has_bias else x
    w, a = _altered(rng, kinds, rng.choice([0, 0, 1, 1, 2]), STARTS, w, a, z)
    kinds += ["bias"] * has_bias + ["three_outputs"] * (k > 1)
    junk = rng.random() < 0.3
    kinds += ["junk"] * junk
    fill = 1e3 * rng.standard_normal((N, D + k)) if junk else np.zeros((N, D + k))
    n, d = x.shape
    fill[:n, :D] = 0.0
    fill[:n, :d], fill[:n, D:] = x, y
    w = np.pad(w, [(0, rows - len(w)), (0, 0)])
    b = w[:, d] if has_bias else None
    return Case(
        name=str(seed),
        kinds=tuple(kinds),
        x=fill[:, :D],
        y=fill[:, D:],
        weight=(np.arange(N) < n).astype(float),
        w=np.pad(w[:, :d], [(0, 0), (0, D - d)]),
        a=np.pad(a, [(0, rows - len(a)), (0, 0)]),
        b=b,
        slope=slope,
        loss=loss,
        time=float(rng.choice(times)),
    )


def _altered(rng, kinds, count, changes, one, two, *more):
    for change in rng.choice(len(changes), count, replace=False):
        one, two = changes[change](rng, one, two, *more)
        kinds.append(changes[change].__name__.strip("_"))
    return one, two


# Samples: (generator, outputs) -> x "n d", y "n k".


def _generic(rng, k):
    n, d = rng.integers(2, N + 1), rng.integers(2, D + 1)
    return rng.standard_normal((n, d)), rng.standard_normal((n, k))


def _lattice(rng, k):
    n, d = rng.integers(3, N + 1), rng.integers(2, D + 1)
    return rng.integers(-1, 2, (n, d)).astype(float), rng.standard_normal((n, k))


def _low_rank(rng, k):
    n, d = rng.integers(3, N + 1), rng.integers(3, D + 1)
    rank = rng.integers(1, d)
    # Whole numbers, so that products of the same inputs are exactly the same.
    x = rng.integers(-2, 3, (n, rank)) @ rng.integers(-1, 2, (rank, d))
    return x.astype(float), rng.standard_normal((n, k))


def _one_dimension(rng, k):
    n = rng.integers(2, N + 1)
    return rng.standard_normal((n, 1)), rng.standard_normal((n, k))


def _symmetric_separable(rng, k):
    n, d = rng.integers(2, N // 2 + 1), rng.integers(2, D + 1)
    x = rng.standard_normal((n, d))
    x[:, 0] = np.abs(x[:, 0]) + 0.3
    y = np.ones((n, k))
    return np.concatenate([x, -x]), np.concatenate([y, -y])


def _orthogonal(rng, k):
    n = d = rng.integers(2, D + 1)
    if rng.random() < 0.5:
        x = np.eye(n)
    else:
        x = np.linalg.qr(rng.standard_normal((d, d)))[0]
    return x * np.sqrt(d), rng.standard_normal((n, k))


def _three_points(_rng, k):
    x = np.array([[-0.75, 1], [-0.5, 1], [0.125, 1]])
    return x, np.array([[1.1], [0.1], [0.8]]) * np.ones(k)


def _stewart_1d(rng, k):
    n = rng.integers(4, N + 1)
    knots = (-1.0, -0.7, -0.55, -0.4, 0.0, 0.5, 0.6, 0.7, 1.0)
    values = (0.0, 0.7, 0.5, 1.0, 0.0, 1.0, 0.6, 0.7, 0.0)
    x = rng.uniform(-1, 1, n)
    y = np.interp(x, knots, values)[:, None] * np.ones(k)
    return np.stack([x, np.ones(n)], axis=1), y - 0.4 * rng.integers(0, 2)


def _xor(rng, k):
    x = np.array([[1.0, 0], [-1, 0], [0, 1], [0, -1]])
    y = np.array([-1.0, -1, 1, 1])[:, None] * np.ones(k)
    repeats = rng.integers(1, 4)
    return np.tile(x, (repeats, 1)), np.tile(y, (repeats, 1))


SAMPLES = (
    _generic,
    _generic,
    _generic,
    _lattice,
    _lattice,
    _low_rank,
    _one_dimension,
    _symmetric_separable,
    _orthogonal,
    _three_points,
    _stewart_1d,
    _xor,
)


# Changes of a sample: rows are replaced or, where there is room, added.


def _with_rows(x, y, new_x, new_y):
    n = len(x)
    count = min(len(new_x), N)
    kept = min(n, N - count)
    return (
        np.concatenate([x[:kept], new_x[:count]]),
        np.concatenate([y[:kept], new_y[:count]]),
    )


def _some(rng, x):
    return rng.permutation(len(x))[: rng.integers(1, max(2, len(x) // 2 + 1))]


def _shuffled(rng, x, y):
    order = rng.permutation(len(x))
    return x[order], y[order]


def _duplicates(rng, x, y):
    i = _some(rng, x)
    return _shuffled(rng, *_with_rows(x, y, x[i], y[i]))


def _duplicates_relabelled(rng, x, y):
    i = _some(rng, x)
    new = -y[i] * (1.0 if np.all(np.abs(y) == 1) else rng.uniform(0, 1))
    return _shuffled(rng, *_with_rows(x, y, x[i], new))


def _multiples(rng, x, y):
    i = _some(rng, x)
    factor = 2.0 ** rng.integers(-2, 2, (len(i), 1))
    return _shuffled(rng, *_with_rows(x, y, factor * x[i], y[rng.permutation(i)]))


def _uneven_multiples(rng, x, y):
    i = _some(rng, x)
    factor = rng.uniform(0.3, 2.0, (len(i), 1))
    return _shuffled(rng, *_with_rows(x, y, factor * x[i], y[rng.permutation(i)]))


def _mirror_images(rng, x, y):
    i = rng.permutation(len(x))[: N // 2]
    return _shuffled(rng, np.concatenate([x[i], -x[i]]), np.concatenate([y[i], -y[i]]))


def _mirror_relabelled(rng, x, y):
    i = _some(rng, x)
    return _shuffled(rng, *_with_rows(x, y, -x[i], y[rng.permutation(i)]))


def _zero_inputs(rng, x, y):
    i = _some(rng, x)[:2]
    return _shuffled(rng, *_with_rows(x, y, 0 * x[i], y[i]))


CHANGES = (
    _duplicates,
    _duplicates_relabelled,
    _multiples,
    _uneven_multiples,
    _mirror_images,
    _mirror_relabelled,
    _zero_inputs,
)


# Starts.


def _start(rng, kinds, x, k, has_bias, neurons=(1, M)):
    m, e = rng.integers(neurons[0], neurons[1] + 1), x.shape[1] + has_bias
    scale = 10 ** rng.uniform(-3, 0) / np.sqrt(m)
    w = scale * rng.standard_normal((m, e))
    a = rng.standard_normal((m, k))
    a *= (np.linalg.norm(w, axis=1) / np.linalg.norm(a, axis=1))[:, None]
    law = ("balanced", "small_a", "small_w")[rng.choice(3, p=(0.5, 0.25, 0.25))]
    kinds.append(law)
    factor = rng.uniform(0.1, 0.9, (m, 1))
    if law == "small_a":
        a = a * factor
    if law == "small_w":
        w = w * factor
    return w, a


def _equal_neurons(rng, w, a, _x):
    i, j = rng.integers(len(w), size=2)
    w, a = w.copy(), a.copy()
    w[i], a[i] = w[j], a[j]
    return w, a


def _on_a_plane(rng, w, a, x):
    """w·x = 0 to the last bit: the axis in which one input is made to lie is left."""
    w = w.copy()
    i, j = rng.integers(len(x)), rng.integers(len(w))
    at = np.flatnonzero(x[i])
    if len(at) == 0:
        return w, a
    if len(at) == 1:
        w[j, at] = 0.0
        return w, a
    p, q = at[:2]
    w[j] = 0.0
    w[j, p], w[j, q] = x[i, q] / 64, -x[i, p] / 64
    return w, a


def _aligned(rng, w, a, x):
    i, j = rng.integers(len(x)), rng.integers(len(w))
    size = np.linalg.norm(x[i])
    w = w.copy()
    if size > 0:
        w[j] = rng.choice([-1, 1]) * np.linalg.norm(w[j]) / size * x[i]
    return w, a


def _some_a_zero(rng, w, a, _x):
    a = a.copy()
    a[rng.random(len(a)) < 0.5] = 0.0
    return w, a


def _some_w_zero(rng, w, a, _x):
    w = w.copy()
    w[rng.random(len(w)) < 0.5] = 0.0
    return w, a


def _some_zero(rng, w, a, _x):
    w, a = w.copy(), a.copy()
    i = rng.random(len(w)) < 0.5
    w[i], a[i] = 0.0, 0.0
    return w, a


STARTS = (
    _equal_neurons,
    _on_a_plane,
    _on_a_plane,
    _aligned,
    _some_a_zero,
    _some_w_zero,
    _some_zero,
)
