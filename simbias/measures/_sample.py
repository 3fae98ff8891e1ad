"""Outputs of a network on a sample."""

from typing import Any

import jax
from jaxtyping import Array, Float

from simbias.core import Dataset


def outputs(network: Any, x: Float[Array, "n d"]) -> Float[Array, "n k"]:
    """f(xᵢ) for every row of x."""
    return jax.vmap(network)(x)


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
