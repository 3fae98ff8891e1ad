"""Rows of the test sample seen through the first principal components."""

from typing import Any, ClassVar

import equinox as eqx
import jax
import jax.numpy as jnp
import numpy as np
from jaxtyping import Array, Bool, Float

from simbias.core import AbstractMeasure, Dataset
from simbias.introspection.outputs import second_sample


class CorrectRows(AbstractMeasure):
    """Whether each row of the test sample is told its class: 1 or 0.

    Its mean over networks and times is the row's accessibility.
    """

    dims: ClassVar[tuple[str, ...]] = ("row",)

    def __call__(self, network: Any, data: Dataset) -> Float[Array, " r"]:
        """By row.

        Raises:
            ValueError: without a test sample.
        """
        test = second_sample(data)
        return _is_right(network, test.x, test.y).astype(test.x.dtype)


class ProjectedAccuracy(AbstractMeasure):
    """Accuracy on test rows of which the first P components are kept, the others 0.

    Components are `data.features`, orthonormal, in order.

    Args:
        first: values of P.
    """

    first: tuple[int, ...] = eqx.field(static=True, default=(1, 2, 5, 10, 20, 40, 64))
    dims: ClassVar[tuple[str, ...]] = ("first",)

    def coords(self) -> dict[str, np.ndarray]:
        """The numbers of components."""
        return {"first": np.array(self.first)}

    def __call__(self, network: Any, data: Dataset) -> Float[Array, " p"]:
        """By P.

        Raises:
            ValueError: without a test sample.
        """
        test = second_sample(data)
        right = _by_components(network, data, jnp.asarray(self.first))
        weight = test.weight / jnp.sum(test.weight)
        return jnp.sum(jnp.where(right, weight, 0), axis=1)


class CriticalComponent(AbstractMeasure):
    """The least P from which on a test row is told its class by its first P components.

    NaN for a row that is wrong as it is.
    """

    dims: ClassVar[tuple[str, ...]] = ("row",)

    def __call__(self, network: Any, data: Dataset) -> Float[Array, " r"]:
        """By row, from 1.

        Raises:
            ValueError: without a test sample.
        """
        p = data.features.shape[0]
        right = _by_components(network, data, jnp.arange(1, p + 1))
        stays = jnp.cumprod(right[::-1].astype(jnp.int32), axis=0)[::-1]
        first = (p + 1 - jnp.sum(stays, axis=0)).astype(data.x.dtype)
        return jnp.where(stays[-1] > 0, first, jnp.nan)


def _by_components(network: Any, data: Dataset, kept: Array) -> Bool[Array, "p r"]:
    test = second_sample(data)
    along = test.x @ data.features.T
    place = jnp.arange(data.features.shape[0])

    def of(count: Array) -> Array:
        part = jnp.where((place < count)[None, :], along, 0) @ data.features
        return _is_right(network, part, test.y)

    return jax.lax.map(of, kept)


def _is_right(network: Any, x: Array, y: Array) -> Bool[Array, " r"]:
    return jnp.argmax(jax.vmap(network)(x), axis=1) == jnp.argmax(y, axis=1)
