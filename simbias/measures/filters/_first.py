"""The filters of a network's first convolution."""

from typing import Any

from jaxtyping import Array, Float

from simbias.errors import BadInput

# A smaller window holds no wave.
_SMALLEST = 5


def first_filters(network: Any) -> Float[Array, "f c s s"]:
    """Weights of the first convolution.

    Raises:
        ValueError: for a network without convolutions, or filters below 5 × 5.
    """
    kernels = getattr(network, "kernels", ())
    if not kernels:
        raise BadInput(
            f"`network` must have `kernels`, got {type(network).__name__}. "
            "Example: simbias.networks.convolutional(key, image=image, k=3, size=7)."
        )
    if kernels[0].shape[2] < _SMALLEST:
        raise BadInput(
            f"`size` of the kernels must be at least {_SMALLEST}, of which a Gabor "
            f"function can be told, got {kernels[0].shape[2]}. Example: size=7."
        )
    return kernels[0]
