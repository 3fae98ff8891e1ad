"""One symmetric matrix in both layers, and the two laws for how its square moves."""

from typing import Any, ClassVar

import jax
import jax.numpy as jnp
import numpy as np
from jax.core import Tracer
from jaxtyping import Array, Float

from simbias.core import AbstractMeasure, AbstractNetwork, Dataset
from simbias.errors import BadInput
from simbias.losses import half_mse

LAWS = ("exact", "slide")
# |A − Aᵀ| over |A|, largest entries, beyond which A is not symmetric up to rounding.
_ROUNDING = 1e-10


class Tied(AbstractNetwork):
    """f(x) = A A x, A symmetric, and so balanced: AᵀA = AAᵀ.

    A stays symmetric if the loss asks for a symmetric matrix.
    """

    root: Float[Array, "p q"]

    def __check_init__(self):
        if isinstance(self.root, Tracer):
            return
        a = np.asarray(self.root)
        if a.ndim != 2 or a.shape[0] != a.shape[1]:
            raise BadInput(
                f"`root` must be a square matrix, got one of shape {a.shape}: its two "
                "layers are one. Example: root=0.1 * jnp.eye(3)."
            )
        gap = float(abs(a - a.T).max())
        if gap > 1e-12 * float(abs(a).max()):
            raise BadInput(
                f"`root` must be symmetric, got one that differs from its transpose by "
                f"{gap:.3g}: tied layers are then not balanced, AᵀA ≠ AAᵀ, and their "
                "product has no law of its own. Example: root=(a + a.T) / 2."
            )

    @property
    def has_kinks(self) -> bool:
        """False: the output is a polynomial of the weights."""
        return False

    @property
    def product(self) -> Float[Array, "d d"]:
        """B = A²."""
        return self.root @ self.root

    def __call__(self, x: Float[Array, " d"]) -> Float[Array, " d"]:
        """Output for one input."""
        return self.root @ (self.root @ x)


class TiedVelocity(AbstractMeasure):
    """|Ḃ + law|/|Ḃ| for B = A², with Ḃ = A′A + AA′ from the gradient of A.

    `exact`: ∇B + 2A∇A + B∇.  `slide`: c √B∇√B with the c that fits best, as the law is
    given "dropping 2's"; the same law where A and ∇ commute, with c = 4.

    Both laws are of a symmetric A.  Of any other, which `Tied` cannot refuse where it
    is traced, nothing is said: NaN.
    """

    dims: ClassVar[tuple[str, ...]] = ("law",)

    def coords(self) -> dict[str, np.ndarray]:
        """Names of the laws."""
        return {"law": np.array(LAWS)}

    def __call__(self, network: Any, data: Dataset) -> Float[Array, " 2"]:
        """Both, relative."""
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
