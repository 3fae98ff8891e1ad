"""Coordinates that each tell the class, from a linear one to one of seven slabs."""

from typing import Literal

import jax
import jax.numpy as jnp
from jax.core import Tracer
from jaxtyping import Array, Bool, Float, PRNGKeyArray

from simbias.core import Dataset, Real
from simbias.errors import BadInput
from simbias.numerics.haar_frame import haar_frame
from simbias.validation.values import at_most_one, positive, positive_integers

Slabs = Literal[2, 3, 5, 7]
# Slabs by their distance from 0, in steps; then the classes they belong to, in turn.
# Each row: probability of slab 0, 1, 2, 3 given the class.
_SHARES: dict[int, dict[str, tuple[float, ...]]] = {
    3: {"negative": (1, 0), "positive": (0, 1)},
    5: {"negative": (3 / 4, 0, 1 / 4), "positive": (0, 1, 0)},
    7: {"negative": (1 / 2, 0, 1 / 2, 0), "positive": (0, 7 / 8, 0, 1 / 8)},
}


def slabs(
    key: PRNGKeyArray,
    *,
    n: int = 1000,
    d: int = 50,
    simple: Slabs = 2,
    others: Slabs = 5,
    noise: Real = 0.0,
    margin: Real = 0.1,
    is_rotated: bool = True,
    n_test: int = 1000,
) -> Dataset:
    """One simple coordinate and d − 1 complex ones, then a rotation: x = Qᵀz.

    In a coordinate of k slabs [−1, 1] is cut into k intervals of width
    (2 − 2(k − 1)γ)/k with gaps of 2γ, whose classes alternate.  k = 2 is the linear
    coordinate, z = y(γ + (1 − γ)U).  For k odd the middle one is negative and z and −z
    have the same law.  Outwards from the middle the probabilities given the class are

        k = 3   −: 1          +: 1
        k = 5   −: ¾, ¼       +: 1
        k = 7   −: ½, ½       +: ⅞, ⅛

    so that E[z² | y] is nearly the same in both classes for k = 5 (to 0.0003) and
    k = 7 (0.0001) at γ = 0.1: neither a linear nor a quadratic function sees the class.
    Given y the coordinates are independent, and y = ±1 with equal odds.

    With `noise` p, the simple coordinate is U[−γ, γ] with probability p, whatever the
    class: the best linear classifier then errs on p/2.  (The published code replaces
    exactly p n of them.)  Every complex coordinate still tells the class.

    LMS-k is simple=2, others=k; MS-(5, 7) is simple=5, others=7; MS-k is
    simple=others=k.

    Args:
        key: random key.  A larger `n` adds rows and changes none; the test sample does
            not depend on `n`.
        n: training samples.
        d: coordinates.
        simple: slabs of the first coordinate.
        others: slabs of the other d − 1.
        noise: p, in [0, 1]; only for simple=2.
        margin: γ, half the gap between slabs, in (0, ⅙).
        is_rotated: draw Q uniformly among the orthogonal matrices; else Q = I.
        n_test: test samples.

    Returns:
        The sample; `features` are the rows of Q, the simple coordinate first, so that
        z = features · x.

    Raises:
        ValueError: for a size or value out of range, or noise in slabs.

    Reference: Shah et al. (2020), arXiv:2006.07710, section 3.
    """
    positive_integers(n=n, d=d, n_test=n_test)
    for name, value in (("simple", simple), ("others", others)):
        if value not in (2, *_SHARES):
            raise BadInput(
                f"`{name}` must be 2, 3, 5 or 7, got {value!r}. Example: {name}=5."
            )
    at_most_one("noise", noise)
    positive("margin", margin)
    if simple != 2 and not isinstance(noise, Tracer) and noise > 0:
        raise BadInput(
            f"`noise` must be 0 unless simple=2, got {noise} with simple={simple}. "
            "Example: noise=0.1, simple=2."
        )
    if not isinstance(margin, Tracer) and margin >= 1 / 6:
        raise BadInput(f"`margin` must be below 1/6, got {margin}. Example: 0.1.")
    key_train, key_test, key_q = jax.random.split(key, 3)
    q = haar_frame(key_q, d, d) if is_rotated else jnp.eye(d, dtype=jnp.float64)
    kinds = (simple, others)
    test = _sample(key_test, n_test, q, kinds, noise, margin, None)
    return _sample(key_train, n, q, kinds, noise, margin, test)


def _sample(
    key: PRNGKeyArray,
    n: int,
    q: Float[Array, "d d"],
    kinds: tuple[int, int],
    noise: Real,
    margin: Real,
    test: Dataset | None,
) -> Dataset:
    d = q.shape[0]
    # One draw for everything: a row is the same whatever the number of rows.
    u = jax.random.uniform(key, (n, 2 * d + 3), jnp.float64)
    which, place, others = u[:, :d], 2 * u[:, d : 2 * d] - 1, u[:, 2 * d :]
    y = 2 * (others[:, 0] < 0.5).astype(jnp.float64) - 1
    gamma = jnp.asarray(margin, jnp.float64)
    z = jnp.concatenate(
        [
            _coordinates(kinds[0], y, which[:, :1], place[:, :1], gamma),
            _coordinates(kinds[1], y, which[:, 1:], place[:, 1:], gamma),
        ],
        axis=1,
    )
    blurred = gamma * (2 * others[:, 1] - 1)
    z = z.at[:, 0].set(jnp.where(others[:, 2] < noise, blurred, z[:, 0]))
    x = jnp.matmul(z, q, precision="highest")
    weight = jnp.ones(n, jnp.float64)
    return Dataset(x, y[:, None], weight, y[:, None], q, test)


def _coordinates(
    k: int,
    y: Float[Array, " n"],
    which: Float[Array, "n e"],
    place: Float[Array, "n e"],
    gamma: Float[Array, ""],
) -> Float[Array, "n e"]:
    """Coordinates of k slabs: `which` ∈ [0, 1) picks one, `place` ∈ [−1, 1) in it."""
    width = (2 - 2 * (k - 1) * gamma) / k
    is_positive = y[:, None] > 0
    if k == 2:
        return y[:, None] * (gamma + width * (place + 1) / 2)
    # The half of [0, 1) is the sign of z, the place in the half the slab.
    sign = jnp.where(which < 0.5, -1.0, 1.0)
    slab = _slab(k, is_positive, (2 * which) % 1)
    return sign * slab * (width + 2 * gamma) + width * place / 2


def _slab(
    k: int, is_positive: Bool[Array, "n 1"], u: Float[Array, "n e"]
) -> Float[Array, "n e"]:
    """Number of the slab, counted from the middle, by inverting its law."""
    out = jnp.zeros_like(u)
    for label, chosen in (("negative", ~is_positive), ("positive", is_positive)):
        below = 0.0
        for share in _SHARES[k][label][:-1]:
            below += share
            out = out + jnp.where(chosen & (u >= below), 1.0, 0.0)
    return out
