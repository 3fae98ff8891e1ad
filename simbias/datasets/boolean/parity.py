"""The parity of some of the bits: no smaller set of bits tells anything of it."""

import equinox as eqx
import jax
import jax.numpy as jnp
from jaxtyping import Array, Bool, Float, PRNGKeyArray

from simbias.core import Dataset, Index, Real
from simbias.datasets.boolean._signs import fair_signs
from simbias.errors import BadInput
from simbias.validation.values import at_most_one, positive_integers


class ParityRows(eqx.Module):
    """Rows of the law; called, it draws x and y = ±χ_I(x), − with odds `flips`."""

    is_relevant: Bool[Array, " d"]
    flips: Float[Array, ""] | None = None

    def __call__(
        self, key: PRNGKeyArray, rows: int
    ) -> tuple[Float[Array, "n d"], Float[Array, "n 1"]]:
        """`rows` inputs and their labels."""
        x = fair_signs(key, rows, self.is_relevant.shape)
        y = self.label(x)
        if self.flips is None:
            return x, y
        # A key of its own, so that the inputs do not depend on the noise.
        u = jax.random.uniform(jax.random.fold_in(key, 1), (rows, 1), jnp.float64)
        return x, jnp.where(u < self.flips, -y, y)

    def label(self, x: Float[Array, "n d"]) -> Float[Array, "n 1"]:
        """χ_I(x) = Π_{i ∈ I} xᵢ of every row; 1 for the empty subset."""
        factors = jnp.where(self.is_relevant[None, :], x, 1)
        return jnp.prod(factors, axis=1, keepdims=True)


def parity(
    key: PRNGKeyArray,
    *,
    n: int = 1000,
    d: int = 10,
    k: Index | None = None,
    flips: Real | None = None,
) -> Dataset:
    """Uniform x on {−1, +1}ᵈ and y = χ_I(x) = Π_{i ∈ I} xᵢ, for a random subset I.

    I does not depend on n, nor x on I or on the noise.  `fresh` draws further rows.

    Args:
        key: random key, of the subset and of the sample.
        n: rows.
        d: bits.
        k: size of the subset, uniform among those of that size; with None every bit
            belongs to it with odds ½, as in the published code.
        flips: odds of a label of the wrong sign; None is 0, at no cost.

    Returns:
        The sample; `features` is one row, 1 for the bits of I and 0 for the others.

    Raises:
        ValueError: for a size out of range, or odds that are none.

    Reference: Shalev-Shwartz, Shamir & Shammah (2017), arXiv:1703.07950, section 2.
    """
    positive_integers(n=n, d=d)
    # A size that is traced was checked with its value.
    if k is not None and not isinstance(k, jax.Array):
        is_size = isinstance(k, int) and not isinstance(k, bool) and 0 <= k <= d
        if not is_size:
            raise BadInput(
                f"`k` must be a whole number from 0 to d = {d}, got {k!r}. "
                f"Example: k={d // 2}."
            )
    if flips is not None:
        at_most_one("flips", flips)
    key_subset, key_rows = jax.random.split(key)
    draw = jax.random.uniform(key_subset, (d,), jnp.float64)
    is_relevant = draw < 0.5 if k is None else jnp.argsort(jnp.argsort(draw)) < k
    odds = None if flips is None else jnp.asarray(flips, jnp.float64)
    rows = ParityRows(is_relevant, odds)
    x, y = rows(key_rows, n)
    mean = rows.label(x) if odds is None else (1 - 2 * odds) * rows.label(x)
    features = is_relevant.astype(jnp.float64)[None, :]
    return Dataset(x, y, jnp.ones(n, jnp.float64), mean, features, fresh=rows)
