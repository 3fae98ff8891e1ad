"""Singular values of each layer, relative to its largest."""

from typing import Any, ClassVar

import equinox as eqx
import jax.numpy as jnp
from jaxtyping import Array, Float

from simbias.core import AbstractMeasure, Dataset
from simbias.numerics.matrix_rank import singular_values


class SingularShares(AbstractMeasure):
    """Singular values of every matrix of `weights` over the largest, σ_q/σ_1.

    0 beyond the last singular value of a layer; NaN for a layer of zeros.

    Args:
        most: number of values, q = 1, …, `most`.
    """

    most: int = eqx.field(static=True, default=6)
    dims: ClassVar[tuple[str, ...]] = ("layer", "value")

    def __call__(self, network: Any, data: Dataset) -> Float[Array, "layer value"]:
        """From the first layer to the last; the first value of each is 1."""
        rows = []
        for w in network.weights:
            values = singular_values(w)[: self.most]
            values = jnp.pad(values, (0, self.most - len(values)))
            rows.append(values / values[0])
        return jnp.stack(rows)
