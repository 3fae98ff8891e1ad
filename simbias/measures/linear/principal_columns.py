"""What a network has learned along each principal component of its sample."""

from typing import Any, ClassVar

import equinox as eqx
import jax
import jax.numpy as jnp
from jaxtyping import Array, Float

from simbias.core import AbstractMeasure, Dataset


class PrincipalColumns(AbstractMeasure):
    """Response of the network to each principal component of the inputs.

    wⱼ = (1/n) Σᵢ f(xᵢ) (uⱼ·xᵢ)/d_j, a vector of outputs for each component uⱼ.

    The regression of the outputs on the components, which are the rows of
    `data.features`, d_j = (1/n) Σᵢ (uⱼ·xᵢ)².  For a linear network it is W uⱼ, if the
    components are uncorrelated on the sample, as those of `principal_classes` are; of
    any other it is the linear part.  With `of_target` it is that of y: the optimum.

    Reference: Hacohen & Weinshall (2022), JMLR 23(155), section 2.
    """

    of_target: bool = eqx.field(static=True, default=False)
    dims: ClassVar[tuple[str, ...]] = ("output", "component")

    def __call__(self, network: Any, data: Dataset) -> Float[Array, "k p"]:
        """In units of output by input; NaN for a component without variance."""
        share = data.weight / jnp.sum(data.weight)
        along = data.x @ data.features.T
        outputs = data.y if self.of_target else jax.vmap(network)(data.x)
        variance = jnp.sum(share[:, None] * along**2, axis=0)
        mixed = (share[:, None] * outputs).T @ along
        return mixed / jnp.where(variance > 0, variance, jnp.nan)[None]
