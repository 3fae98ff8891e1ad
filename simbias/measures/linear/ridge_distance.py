"""How far a linear model is from ridge regression."""

from typing import Any, ClassVar

import equinox as eqx
import jax.numpy as jnp
import numpy as np
from jaxtyping import Array, Float

from simbias.core import AbstractMeasure, Dataset
from simbias.measures.linear._row_space import row_space, weights_of


class RidgeDistance(AbstractMeasure):
    """Distance of the weights from the ridge solution, for several penalties.

    It is ‖w − w_λ‖, w_λ = argmin (1/2n)‖Xw − y‖² + (λ/2)‖w‖².

    w_λ = V (S² + λ)⁻¹ S² Vᵀ X⁺y with X/√n = U S Vᵀ.  Needs a network with a `product`
    and one output, such as `DeepLinear`.

    Args:
        penalties: values of λ, in units of the eigenvalues of XᵀX/n.
    """

    penalties: tuple[float, ...] = eqx.field(static=True)
    dims: ClassVar[tuple[str, ...]] = ("penalty",)

    def coords(self) -> dict[str, np.ndarray]:
        """The values of λ."""
        return {"penalty": np.asarray(self.penalties)}

    def __call__(self, network: Any, data: Dataset) -> Float[Array, " q"]:
        """A distance for each λ, in units of the weights."""
        (rows, values, target), w = row_space(data), weights_of(network)
        penalties = jnp.asarray(self.penalties, w.dtype)[:, None]
        kept = values[None] / (values[None] + penalties)
        ridge = (kept * target[None]) @ rows
        return jnp.linalg.norm(w[None] - ridge, axis=1)
