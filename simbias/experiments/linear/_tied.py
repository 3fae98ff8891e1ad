"""A network with one symmetric matrix in both layers."""

import numpy as np
from jax.core import Tracer
from jaxtyping import Array, Float

from simbias.core import AbstractNetwork
from simbias.errors import BadInput


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
