"""How many principal components a test row needs."""

from typing import Any, ClassVar

import jax.numpy as jnp
from jaxtyping import Array, Float

from simbias.core import AbstractMeasure, Dataset
from simbias.measures.components._projected import by_components


class CriticalComponent(AbstractMeasure):
    """Number of principal components from which on a test row is classified correctly.

    Components are the rows of `data.features`, orthonormal, in order.  NaN for a row
    that is wrong as it is.

    Reference: Hacohen & Weinshall (2022), JMLR 23(155), section 4.
    """

    dims: ClassVar[tuple[str, ...]] = ("row",)

    def __call__(self, network: Any, data: Dataset) -> Float[Array, " r"]:
        """A number of components by row, from 1."""
        p = data.features.shape[0]
        right = by_components(network, data, jnp.arange(1, p + 1))
        stays = jnp.cumprod(right[::-1].astype(jnp.int32), axis=0)[::-1]
        first = (p + 1 - jnp.sum(stays, axis=0)).astype(data.x.dtype)
        return jnp.where(stays[-1] > 0, first, jnp.nan)
