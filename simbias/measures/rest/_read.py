"""The weights and the sample of what these measures are about."""

from typing import Any

import jax
from jaxtyping import Array, Float

from simbias.core import Dataset, Loss
from simbias.errors import BadInput
from simbias.limits.neurons import (
    Neurons,
    Sample,
    has_known_frozen,
    output,
    read,
)


def forces(
    name: str, network: Any, data: Dataset, loss: Loss
) -> tuple[Neurons, Sample, Float[Array, " n"]]:
    """Neurons, sample, and −∂L/∂f.

    Raises:
        ValueError: unless the network has two layers of ReLU or leaky ReLU, one output,
            and no weights that are frozen but those of the output.
    """
    if getattr(network, "negative_slope", None) is None or data.y.shape[1] != 1:
        raise BadInput(
            f"`{name}` is about two layers of ReLU or leaky ReLU with one output, got "
            f"{type(network).__name__} and y of shape {data.y.shape}."
        )
    if not has_known_frozen(network):
        raise BadInput(
            f"`{name}` knows of frozen weights those of the output, ('a',), got "
            f"frozen={network.frozen}."
        )
    neurons, sample = read(network, data, loss)
    f = output(neurons, sample.x)[:, None]
    return neurons, sample, -jax.grad(loss)(f, sample.y, sample.weight)[:, 0]
