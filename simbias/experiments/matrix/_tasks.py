"""The task of every bias, to which the laws of the inputs apply."""

import jax
import jax.numpy as jnp
from jaxtyping import Array, Float, PRNGKeyArray

from simbias.core import Dataset
from simbias.experiments.matrix._inputs import inputs, positions
from simbias.experiments.matrix._settings import D
from simbias.experiments.matrix._task import (
    PARTS,
    TEST,
    N,
    Sample,
    labels,
    task,
    with_one,
)
from simbias.numerics.clones import gaussian_clone, isotropic_clone
from simbias.numerics.walsh_hadamard import cube

FREQUENCIES = (1, 2, 3, 4)
# Variances of the principal components.
VARIANCES = tuple(8 / j / 2.717857142857143 for j in range(1, PARTS + 1))
_ROWS = N + TEST
# Slabs of a coordinate that no linear or quadratic function tells apart: the third
# from the middle outwards is again of the first class, as of five slabs in `slabs`.
_SLAB = 0.44


def waves(key: PRNGKeyArray, law: str) -> Dataset:
    """Σ_k sin(2πkp + φ_k) of a place p on a circle, looked for on an even grid."""
    key_place, key_phase = jax.random.split(key)
    place = positions(key_place, law, _ROWS)
    phase = jax.random.uniform(key_phase, (len(FREQUENCIES),), jnp.float64)
    parts = _waves(place[:N], phase)
    grid = jnp.arange(N, dtype=jnp.float64) / N
    y = jnp.sum(_waves(place, phase), axis=1)
    x, even = _circle(place), _circle(grid)
    return task(Sample(x, y), parts=parts, probe=(even, _waves(grid, phase)))


def components(key: PRNGKeyArray, law: str) -> Dataset:
    """Σ_j ±z_j/√8, z_j components of variance 1 on the sample, x_j = √d_j z_j."""
    key_x, key_sign = jax.random.split(key)
    raw = inputs(key_x, law, _ROWS, D)
    # Uncorrelated and of variance 1 on the sample itself: R of x = Q R is undone.
    r = jnp.linalg.qr(raw[:N])[1]
    z = N**0.5 * jax.scipy.linalg.solve_triangular(r.T, raw.T, lower=True).T
    sign = jax.random.rademacher(key_sign, (D,), jnp.float64)
    parts = z * sign[None] / D**0.5
    x = z * jnp.sqrt(jnp.asarray(VARIANCES, z.dtype))[None]
    return task(Sample(x, jnp.sum(parts, axis=1)), parts=parts[:N])


def features(key: PRNGKeyArray, law: str) -> Dataset:
    """One linear coordinate, three of slabs, three of the law that tell nothing."""
    key_x, key_y, key_slab = jax.random.split(key, 3)
    y, rest = labels(key_y), inputs(key_x, law, _ROWS, 4)
    linear = y * (0.5 + jnp.abs(rest[:, 0]) / 2)
    slabs = _slabs(key_slab, y, 3)
    return task(Sample(_joined(linear, slabs, rest[:, 1:]), y))


def moments(key: PRNGKeyArray, law: str) -> Dataset:
    """Classes that differ in means, in a covariance, and in fourth moments.

    Two coordinates of each, and one of the law that tells nothing; means and the sign
    of a correlation belong to the class, and of class −1 the last two have two peaks.
    The clones of the test rows share their means, or means and covariances.
    """
    key_x, key_y, key_z, *key_clones = jax.random.split(key, 7)
    y = labels(key_y)
    # As many of either class in the test.
    y = y.at[N:].set(jnp.where(jnp.arange(TEST) % 2 == 0, 1.0, -1.0))
    rest = inputs(key_x, law, _ROWS, 3)
    z = jax.random.normal(key_z, (_ROWS, 6), jnp.float64)
    means = rest[:, :2] + 0.7 * y[:, None]
    pair = jnp.stack([z[:, 0], 0.9 * y * z[:, 0] + 0.19**0.5 * z[:, 1]], axis=1)
    peaks = 0.95 * jnp.sign(z[:, 2:4]) + 0.0975**0.5 * z[:, 4:]
    fourth = jnp.where(y[:, None] > 0, z[:, 2:4], peaks)
    x = _joined(means, pair, fourth, rest[:, 2:])
    test = x[N:]

    def clone(make, keys):
        of = [make(k, test[i::2, : D - 1]) for i, k in enumerate(keys)]
        return with_one(jnp.stack(of, axis=1).reshape(TEST, D - 1))

    clones = (
        clone(isotropic_clone, key_clones[:2]),
        clone(gaussian_clone, key_clones[2:]),
    )
    return task(Sample(x, y), clones=clones)


def separable(key: PRNGKeyArray, law: str) -> Dataset:
    """Classes that one coordinate separates with a margin of ½; seven tell nothing."""
    key_x, key_y = jax.random.split(key)
    y, rest = labels(key_y), inputs(key_x, law, _ROWS, D)
    linear = y * (0.5 + jnp.abs(rest[:, 0]))
    return task(Sample(_beside(linear, rest[:, 1:]), y))


def teacher(key: PRNGKeyArray, law: str) -> Dataset:
    """A linear teacher of norm 1 and noise of deviation 0.2."""
    key_x, key_w, key_noise = jax.random.split(key, 3)
    x = inputs(key_x, law, _ROWS, D)
    w = jax.random.normal(key_w, (D,), jnp.float64)
    noise = jax.random.normal(key_noise, (_ROWS,), jnp.float64)
    return task(Sample(x, x @ w / jnp.linalg.norm(w) + 0.2 * noise))


def crossed(key: PRNGKeyArray, law: str) -> Dataset:
    """Four clusters at ±2e₁, class +1, and ±2e₂, class −1; around them the law.

    The last coordinate is 1: without it an odd network, as one of tanh, has no chance.
    """
    key_x, key_y, key_side = jax.random.split(key, 3)
    y, rest = labels(key_y), inputs(key_x, law, _ROWS, D - 1)
    side = 2 * jax.random.rademacher(key_side, (_ROWS,), jnp.float64)
    zero = jnp.zeros_like(side)
    is_first = y > 0
    middle = _beside(
        jnp.where(is_first, side, zero), jnp.where(is_first, zero, side)[:, None]
    )
    return task(Sample(with_one((0.4 * rest).at[:, :2].add(middle)), y))


def strings(key: PRNGKeyArray, law: str) -> Dataset:
    """Random labels on a quarter of the strings of eight bits; the test is all of them.

    Every row twice.  Which quarter is the law's: any; 1 : 2 : 4 on thirds of the
    strings in their order; a few far more often, as ranks of a random order to the
    power −2; or those nearest to eight of them.
    """
    key_quarter, key_y, key_centre = jax.random.split(key, 3)
    points = jnp.asarray(cube(D), jnp.float64)
    gumbel = jax.random.gumbel(key_quarter, (TEST,), jnp.float64)
    place = jnp.arange(TEST, dtype=jnp.float64)
    if law == "uniform":
        weight = jnp.zeros(TEST, jnp.float64)
    elif law == "steps":
        weight = jnp.log(2.0) * jnp.floor(3 * place / TEST)
    elif law == "heavy":
        order = jax.random.permutation(key_centre, TEST)
        weight = -2 * jnp.log1p(order.astype(jnp.float64))
    else:
        centres = jax.random.permutation(key_centre, points)[:8]
        weight = 10 * jnp.max(points @ centres.T, axis=1)
    quarter = jnp.tile(jnp.argsort(-(weight + gumbel))[: N // 2], 2)
    y = jax.random.rademacher(key_y, (TEST,), jnp.float64)
    rows = jnp.concatenate([quarter, jnp.arange(TEST)])
    return task(Sample(points[rows], y[rows]))


def curved(key: PRNGKeyArray, law: str) -> Dataset:
    """Classes by the sign of u₁ + 1.5 (|u₂| − mean), of which a line sees a part."""
    u = inputs(key, law, _ROWS, D - 1)
    bent = jnp.abs(u[:, 1])
    score = u[:, 0] + 1.5 * (bent - jnp.mean(bent))
    return task(Sample(with_one(u), jnp.where(score > 0, 1.0, -1.0)))


def _circle(place: Float[Array, " n"]) -> Float[Array, "n d"]:
    angle = 2 * jnp.pi * place[:, None]
    zero = jnp.zeros((len(place), D - 3), jnp.float64)
    one = jnp.ones_like(angle)
    return 2 * jnp.concatenate([jnp.cos(angle), jnp.sin(angle), one, zero], axis=1)


def _waves(place: Float[Array, " n"], phase: Float[Array, " q"]) -> Float[Array, "n p"]:
    k = jnp.asarray(FREQUENCIES, jnp.float64)
    each = jnp.sin(2 * jnp.pi * (k[None, :] * place[:, None] + phase[None, :]))
    return jnp.pad(each, ((0, 0), (0, PARTS - len(FREQUENCIES))))


def _slabs(key: PRNGKeyArray, y: Float[Array, " n"], count: int) -> Float[Array, "n c"]:
    """Five slabs each: the middle and both outer ones of class −1, as in `slabs`."""
    u = jax.random.uniform(key, (3, len(y), count), jnp.float64)
    sign = jnp.where(u[0] < 0.5, -1.0, 1.0)
    far = jnp.where(u[1] < 0.75, 0.0, 2.0)
    slab = jnp.where(y[:, None] > 0, 1.0, far)
    return 2 * (sign * slab * _SLAB + 0.24 * (u[2] - 0.5))


def _joined(*parts: Array) -> Float[Array, "n d"]:
    """Columns beside each other, and a constant one."""
    return with_one(_beside(*parts))


def _beside(*parts: Array) -> Float[Array, "n p"]:
    return jnp.concatenate([v if v.ndim == 2 else v[:, None] for v in parts], axis=1)
