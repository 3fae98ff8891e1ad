"""Whether the square of a symmetric matrix moves by a law of its own."""

from typing import Any, ClassVar

import jax
import jax.numpy as jnp
from jaxtyping import Array, Float

from simbias.core import AbstractMeasure, Dataset
from simbias.losses import half_mse

# |A − Aᵀ| over |A|, largest entries, beyond which A is not symmetric up to rounding.
_ROUNDING = 1e-10


class TiedVelocity(AbstractMeasure):
    """Relative gap between the velocity of B = A² and its law, |Ḃ + law|/|Ḃ|.

    Ḃ = A′A + AA′ is from the gradient of A.

    `exact`: ∇B + 2A∇A + B∇.  `slide`: c √B∇√B with the c that fits best, as the law is
    given "dropping 2's"; the same law where A and ∇ commute, with c = 4.

    Both laws are of a symmetric A, the `root` of the network; NaN for any other.

    Reference: Barak (2021), Harvard CS 229br, lecture 2; the exact law is ours.
    """

    dims: ClassVar[tuple[str, ...]] = ("law",)
    entries: ClassVar = {"law": ("exact", "slide")}

    def __call__(self, network: Any, data: Dataset) -> Float[Array, " 2"]:
        """Both, without units."""
        a, velocity, gradient, slide = _parts(network, data)
        exact = gradient @ a @ a + 2 * a @ gradient @ a + a @ a @ gradient
        fitted = _factor(velocity, slide) * slide
        size = jnp.linalg.norm(velocity)
        gaps = [jnp.linalg.norm(velocity + law) / size for law in (exact, fitted)]
        return jnp.stack(gaps)


def _parts(network: Any, data: Dataset) -> tuple[Array, Array, Array, Array]:
    """A, Ḃ, ∇ as a function of B, and √B∇√B; NaN if A is not symmetric."""
    a = network.root
    is_symmetric = jnp.max(jnp.abs(a - a.T)) <= _ROUNDING * jnp.max(jnp.abs(a))
    a = jnp.where(is_symmetric, a, jnp.nan)
    # Residuals by B itself in both, so that they are rounded alike.
    through = lambda b: half_mse(data.x @ b.T, data.y, data.weight)
    moves = -jax.grad(lambda a: through(a @ a))(a)
    gradient = jax.grad(through)(a @ a)
    values, vectors = jnp.linalg.eigh(a)
    root = (vectors * jnp.abs(values)[None, :]) @ vectors.T
    return a, moves @ a + a @ moves, gradient, root @ gradient @ root


def _factor(velocity: Array, slide: Array) -> Array:
    return -jnp.sum(velocity * slide) / jnp.sum(slide**2)
