"""Cosine of every neuron with one direction of the input space."""

from typing import Any

import jax.numpy as jnp
from jaxtyping import Array, Float

from simbias.core import Dataset
from simbias.errors import BadInput
from simbias.measures._neurons import directions, incoming
from simbias.measures._ols import ols


def cosines(
    network: Any, data: Dataset, feature: int | None, output: int
) -> Float[Array, " m"]:
    """vⱼ·u/‖vⱼ‖ in [−1, 1]; NaN for a neuron that is zero.

    Args:
        network: a two-layer network; vⱼ = (wⱼ, bⱼ) if it has a hidden bias.
        data: gives u, the sample's least-squares direction or a feature.
        feature: u is this row of `data.features`, (feature, 0) beside a bias; None for
            least squares, with an intercept if the network has a bias.
        output: which output is regressed, of several.

    Raises:
        ValueError: if there is no such feature or output.
    """
    has_bias = network.b is not None
    if feature is None:
        check_index("output", output, data.y.shape[1])
        target = ols(data, has_intercept=has_bias)[:, output]
    else:
        check_index("feature", feature, data.features.shape[0])
        target = data.features[feature]
        if has_bias:
            target = jnp.append(target, jnp.zeros_like(target[0]))
    u = directions(target[None, :])[0]
    # TF32 would blur angles of a few degrees.
    c = jnp.matmul(directions(incoming(network)), u, precision="highest")
    return jnp.clip(c, -1, 1)


def check_index(field: str, index: int, size: int) -> None:
    """Refuse the index of a feature or output that is not there.

    Raises:
        ValueError: naming the field.
    """
    if not 0 <= index < size:
        raise BadInput(
            f"`{field}` must be an index below {size}, the number of {field}s of the "
            f"data, got {index}."
        )
