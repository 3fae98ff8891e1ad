"""Outputs of a network on a sample."""

from collections.abc import Callable

import jax
from jaxtyping import Array, Float

from simbias.core import Dataset
from simbias.errors import BadInput
from simbias.numerics.tiling import ROWS


def outputs(f: Callable[[Array], Array], x: Float[Array, "n d"]) -> Float[Array, "n k"]:
    """f(xᵢ) for every row of x, f a network or its `features`.

    In chunks: the activations of a large sample are never all in memory.
    """
    if x.shape[0] <= ROWS:
        return jax.vmap(f)(x)
    return jax.lax.map(f, x, batch_size=ROWS)


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
