"""The rows of a sample that a kernel is taken on."""

from typing import Any

import jax.numpy as jnp
from jaxtyping import Array, Float

from simbias.core import Dataset
from simbias.errors import BadInput
from simbias.introspection import tangents
from simbias.validation.values import positive_integer


def check_rows(rows: int | None) -> None:
    """Refuse what is no number of rows; None are all of them."""
    if rows is not None:
        positive_integer("rows", rows)


def kernel_of(
    network: Any, data: Dataset, rows: int | None
) -> tuple[Float[Array, "k n n"], Float[Array, ""]]:
    """K on the first rows, 0 where one of the two is padding, and how many are none.

    Raises:
        ValueError: for more rows than the sample has.
    """
    n = data.x.shape[0]
    if rows is not None and rows > n:
        raise BadInput(f"`rows` must be at most the {n} of the sample, got {rows}.")
    is_real = data.weight[:rows] > 0
    kernel = tangents.tangent_kernel(network, data.x[:rows])
    is_kept = is_real[:, None] & is_real[None, :]
    count = jnp.sum(is_real.astype(kernel.dtype))
    return jnp.where(is_kept[None], kernel, 0), count
