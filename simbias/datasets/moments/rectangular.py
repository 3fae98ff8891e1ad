"""Two classes, each uniform in a rectangle of two inputs and Gaussian in the others."""

from typing import Literal, get_args

import equinox as eqx
import jax
import jax.numpy as jnp
from jaxtyping import Array, Float, PRNGKeyArray

from simbias.core import Dataset
from simbias.errors import BadInput
from simbias.validation.sample import one_of
from simbias.validation.values import positive, positive_integers

Within = Literal["rectangle", "gaussian"]
# Inputs that are uniform.
SIDES = 2


class RectangularRows(eqx.Module):
    """Rows of the law; called, it draws x and y = ±1 with even odds."""

    means: Float[Array, " d"]
    deviations: Float[Array, " d"]
    within: Within = eqx.field(static=True)

    def __call__(
        self, key: PRNGKeyArray, rows: int
    ) -> tuple[Float[Array, "n d"], Float[Array, "n 1"]]:
        """`rows` inputs and their labels."""
        key_label, key_noise, key_side = jax.random.split(key, 3)
        y = jax.random.rademacher(key_label, (rows, 1), jnp.float64)
        noise = jax.random.normal(key_noise, (rows, len(self.means)), jnp.float64)
        if self.within == "rectangle":
            sides = jax.random.uniform(
                key_side, (rows, SIDES), jnp.float64, -(3**0.5), 3**0.5
            )
            noise = noise.at[:, :SIDES].set(sides)
        return y * self.means[None] + self.deviations[None] * noise, y


def rectangular(
    key: PRNGKeyArray,
    *,
    n: int = 1000,
    d: int = 6,
    means: tuple[float, ...] = (1.5, 2.0, 1.0),
    deviations: tuple[float, ...] = (1.0, 2.0, 1.0),
    within: Within = "rectangle",
) -> Dataset:
    """xᵢ = y μᵢ + sᵢ ξᵢ with y = ±1, ξ₁ and ξ₂ uniform on ±√3, the other ξᵢ normal.

    All ξᵢ are independent, of mean 0 and variance 1, so that the classes have the means
    ±μ and both the covariance Σ = diag s².  Their third cumulants are 0, the fourth are
    −6/5 sᵢ⁴ for i = 1, 2 and 0 for the others.  The law "gaussian" has the same means
    and covariance, and no further cumulants.  `fresh` draws further rows.

    Args:
        key: random key.
        n: samples.
        d: inputs.
        means: μ₁, μ₂, …; 0 for the inputs that are left.
        deviations: s₁, s₂, …; 1 for the inputs that are left.
        within: "rectangle" or "gaussian".

    Returns:
        The sample; `features` are the directions μ, which tells isotropic classes apart
        best, and Σ⁻¹μ, which tells Gaussian ones apart best; of length 1.

    Raises:
        ValueError: for a size, number or name out of range.

    Reference: Refinetti, Ingrosso & Goldt (2023), arXiv:2211.11567, section 3; the
    numbers and the Gaussian input beside the rectangle are ours.
    """
    positive_integers(n=n, d=d)
    one_of("within", within, get_args(Within))
    for s in deviations:
        positive("deviations", s)
    least = max(SIDES, len(means), len(deviations))
    if d < least:
        raise BadInput(
            f"`d` must be {least} or more, got {d}: two sides of the rectangle, and "
            "all inputs that have a mean or deviation."
        )
    if not any(means):
        raise BadInput(
            "`means` must not all be 0: the classes would have one law. "
            "Example: means=(1.5, 2.0, 1.0)."
        )
    mean, deviation = (
        jnp.asarray([*given, *(rest,) * (d - len(given))], jnp.float64)
        for given, rest in ((means, 0.0), (deviations, 1.0))
    )
    rows = RectangularRows(mean, deviation, within)
    x, y = rows(key, n)
    features = jnp.stack([mean, mean / deviation**2])
    features = features / jnp.linalg.norm(features, axis=1, keepdims=True)
    return Dataset(x, y, jnp.ones(n, jnp.float64), y, features, fresh=rows)
