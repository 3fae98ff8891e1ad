"""Test rows that are classified by their first principal components."""

from typing import Any, ClassVar

import equinox as eqx
import jax
import jax.numpy as jnp
import numpy as np
from jaxtyping import Array, Bool, Float

from simbias.core import AbstractMeasure, Dataset
from simbias.introspection.outputs import second_sample


class CorrectRows(AbstractMeasure):
    """Which test rows are classified correctly: 1 if argmax f = argmax y, otherwise 0.

    The mean over networks and times is the accessibility of the row.

    Reference: Hacohen & Weinshall (2022), JMLR 23(155), section 4.
    """

    dims: ClassVar[tuple[str, ...]] = ("row",)

    def __call__(self, network: Any, data: Dataset) -> Float[Array, " r"]:
        """By row."""
        test = second_sample(data)
        return is_right(network, test.x, test.y).astype(test.x.dtype)


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


class ProjectedAccuracy(AbstractMeasure):
    """Test accuracy when only the first P principal components of a row are kept.

    Components are the rows of `data.features`, orthonormal, in order; the others are
    set to 0.

    Args:
        first: values of P.

    Reference: Hacohen & Weinshall (2022), JMLR 23(155), section 5.
    """

    first: tuple[int, ...] = eqx.field(static=True, default=(1, 2, 5, 10, 20, 40, 64))
    dims: ClassVar[tuple[str, ...]] = ("first",)

    def coords(self) -> dict[str, np.ndarray]:
        """The numbers of components."""
        return {"first": np.array(self.first)}

    def __call__(self, network: Any, data: Dataset) -> Float[Array, " p"]:
        """Accuracies in [0, 1], by P."""
        test = second_sample(data)
        right = by_components(network, data, jnp.asarray(self.first))
        weight = test.weight / jnp.sum(test.weight)
        return jnp.sum(jnp.where(right, weight, 0), axis=1)


def by_components(network: Any, data: Dataset, kept: Array) -> Bool[Array, "p r"]:
    """Whether each test row is right, for each count of components in `kept`."""
    test = second_sample(data)
    along = test.x @ data.features.T
    place = jnp.arange(data.features.shape[0])

    def of(count: Array) -> Array:
        part = jnp.where((place < count)[None, :], along, 0) @ data.features
        return is_right(network, part, test.y)

    return jax.lax.map(of, kept)


def is_right(network: Any, x: Array, y: Array) -> Bool[Array, " r"]:
    """Whether the largest output is that of the class, by row."""
    return jnp.argmax(jax.vmap(network)(x), axis=1) == jnp.argmax(y, axis=1)
