"""Images cut into patches."""

import numpy as np
from jaxtyping import Int

from simbias.errors import BadInput


def patch_numbers(
    image: tuple[int, int, int], patch: tuple[int, int]
) -> Int[np.ndarray, " d"]:
    """The number of its patch for every entry of a flattened image "c y x".

    Patches do not overlap, hold all channels, and are numbered row by row.

    Args:
        image: channels, height and width.
        patch: height and width of a patch, which divide those of the image.

    Raises:
        ValueError: for a patch that does not divide the image.
    """
    channels, height, width = image
    for side, whole in zip(patch, (height, width), strict=True):
        if side < 1 or whole % side:
            raise BadInput(
                f"`patch` must be a height and a width that divide {height} and "
                f"{width}, those of the image, got {patch}. Example: patch=(1, 1)."
            )
    row = np.arange(height)[:, None] // patch[0]
    column = np.arange(width)[None, :] // patch[1]
    number = row * (width // patch[1]) + column
    return np.tile(number.ravel(), channels)
