"""Outputs of a network on a sample."""

from typing import Any

import jax
from jaxtyping import Array, Float

from simbias.core import Dataset
from simbias.tiling import ROWS


def outputs(network: Any, x: Float[Array, "n d"]) -> Float[Array, "n k"]:
    """f(xᵢ) for every row of x.

    In chunks: the activations of a large sample are never all in memory.
    """
    if x.shape[0] <= ROWS:
        return jax.vmap(network)(x)
    return jax.lax.map(network, x, batch_size=ROWS)


def second_sample(data: Dataset) -> Dataset:
    """The test sample.

    Raises:
        ValueError: if there is none.
    """
    if data.test is None:
        raise ValueError(
            "this measure needs a test sample, but `data.test` is None. Draw the data "
            "with one, or measure `TrainRisk`."
        )
    return data.test
