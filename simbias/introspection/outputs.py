"""Outputs of a network on a sample, and their classes."""

from collections.abc import Callable

import jax
import jax.numpy as jnp
from jaxtyping import Array, Float, Int

from simbias.core import Dataset
from simbias.errors import BadInput
from simbias.numerics.tiling import ROWS


def outputs(
    f: Callable[[Array], Array], x: Float[Array, "n ..."]
) -> Float[Array, "n k"]:
    """f(xᵢ) for every row of x, f a network or its `features`.

    In chunks: the activations of a large sample are never all in memory.
    """
    if x.shape[0] <= ROWS:
        return jax.vmap(f)(x)
    return jax.lax.map(f, x, batch_size=ROWS)


def classes(y: Float[Array, "n k"]) -> Int[Array, " n"]:
    """Largest of several outputs; of one output 1 if it is positive, else 0."""
    if y.shape[1] == 1:
        return (y[:, 0] > 0).astype(jnp.int32)
    return jnp.argmax(y, axis=1).astype(jnp.int32)


def classified_share(f: Callable[[Array], Array], data: Dataset) -> Float[Array, ""]:
    """Share of the rows on which the largest output is that of the class.

    Raises:
        ValueError: for targets of one column, whose largest says nothing.
    """
    if data.y.shape[1] == 1:
        raise BadInput(
            "the largest of several outputs is compared with the class, got one "
            "column of targets. Example: y = np.eye(k)[labels] and k outputs; for "
            "labels −1 and +1 measure TrainSignAccuracy or TestSignAccuracy."
        )
    found = jnp.argmax(outputs(f, data.x), axis=1)
    is_right = found == jnp.argmax(data.y, axis=1)
    return jnp.sum(jnp.where(is_right, data.weight, 0)) / jnp.sum(data.weight)


def second_sample(data: Dataset) -> Dataset:
    """The test sample.

    Raises:
        ValueError: if there is none.
    """
    if data.test is None:
        raise BadInput(
            "this measure needs a test sample, but `data.test` is None. Draw the data "
            "with one, or measure `TrainRisk`."
        )
    return data.test
