"""A Cantor set against its gaps: classes that differ in detail after detail."""

import math

import equinox as eqx
import jax
import jax.numpy as jnp
from jaxtyping import Array, Float, PRNGKeyArray

from simbias.core import Dataset, Real
from simbias.datasets.boolean._signs import fair_signs
from simbias.errors import BadInput
from simbias.validation.values import is_number, positive_integers


class CantorRows(eqx.Module):
    """Rows of the law.  `shares` are q₁, …, q_n, coarsest first; `like` has d entries.

    A gap of level j has the probability 2^{−q₁−…−q_{j−1}}(1 − 2^{−q_j}).
    """

    shares: Float[Array, " n"]
    like: Float[Array, " d"]

    def __call__(
        self, key: PRNGKeyArray, rows: int
    ) -> tuple[Float[Array, "m d"], Float[Array, "m 1"]]:
        """`rows` inputs and their labels."""
        n, d = self.shares.shape[0], self.like.shape[0]
        key_signs, key_place = jax.random.split(key)
        signs = fair_signs(key_signs, rows, (n, d))
        u = jax.random.uniform(key_place, (rows, 1 + d), jnp.float64)
        # In a gap of level j that is below n, in the set if it is n.
        until = 1 - 2.0 ** -jnp.cumsum(self.shares.astype(jnp.float64))
        level = jnp.sum(u[:, :1] >= until[None, :], axis=1)
        y = jnp.where(level == n, 1.0, -1.0).astype(jnp.float64)
        thirds = 3.0 ** -jnp.arange(1, n + 1, dtype=jnp.float64)
        is_above = jnp.arange(n)[None, :] < level[:, None]
        step = jnp.where(is_above, 2 * thirds[None, :], 0)
        centre = jnp.sum(signs * step[:, :, None], axis=1)
        half = thirds[jnp.minimum(level, n - 1)]
        return centre + half[:, None] * (2 * u[:, 1:] - 1), y[:, None]


def cantor(
    key: PRNGKeyArray,
    *,
    n: int = 1000,
    d: int = 5,
    levels: int = 5,
    degree: Real = 0.0,
) -> Dataset:
    """The Cantor set of `levels` cuts in [−1, 1]ᵈ (y = +1) and its gaps (y = −1).

    K₀ = [−1, 1]ᵈ, and K_j has 2ᵈ cubes for each of K_{j−1}, a third as wide, at its
    corners.  A positive is uniform on a random cube of K_n, a negative on the middle
    third of a random cube of K_{j−1}: a gap of level j, in all coordinates at once.
    With q_j = jᵖ/Σ_i iᵖ,

        P(j) = Pr(x ∉ K_j or y = 1) = 3/2 − 2^{−(q₁+…+q_j)},   P(0) = ½, P(n) = 1,

    the approximation curve: the accuracy of who sees j levels and no more.

    Args:
        key: random key.
        n: rows.
        d: coordinates, each of which tells the class.
        levels: cuts, the n of K_n; a gap of the last is 2/3ⁿ wide.
        degree: p, the finer the larger: 0 spreads the curve evenly, above about 100
            all gaps are of the last level; the published code has p ≥ 0.

    Returns:
        The sample; `features` are the coordinates.

    Raises:
        ValueError: for a size out of range, or a degree that is no finite number.

    Reference: Malach & Shalev-Shwartz (2019), arXiv:1903.03488, section 3.
    """
    positive_integers(n=n, d=d, levels=levels)
    if not isinstance(degree, jax.Array) and not (
        is_number(degree) and math.isfinite(degree)
    ):
        raise BadInput(f"`degree` must be a finite number, got {degree}. Example: 0.0.")
    shares = level_shares(levels, degree)
    rows = CantorRows(shares, jnp.zeros(d, jnp.float64))
    x, y = rows(key, n)
    features = jnp.eye(d, dtype=jnp.float64)
    return Dataset(x, y, jnp.ones(n, jnp.float64), y, features, fresh=rows)


def level_shares(levels: int, degree: Real) -> Float[Array, " n"]:
    """q_j = jᵖ/Σ_i iᵖ, by logarithms: no power overflows."""
    logs = jnp.log(jnp.arange(1, levels + 1, dtype=jnp.float64))
    return jax.nn.softmax(jnp.asarray(degree, jnp.float64) * logs)
