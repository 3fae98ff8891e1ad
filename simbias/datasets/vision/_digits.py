"""The 1797 digits of 8 × 8 pixels that come with scikit-learn."""

import functools

import numpy as np

from simbias.datasets.vision._labelled import Labelled
from simbias.errors import MissingFiles

# The first are for training, the other 597 for the test sample.
_TRAINING = 1200


@functools.cache
def digits() -> tuple[Labelled, Labelled]:
    """Training and test set, "n 1 8 8" with values 0 to 16 and labels 0 to 9.

    Raises:
        ValueError: if scikit-learn is not installed.

    Reference: Alpaydin & Kaynak (1998), Optical recognition of handwritten digits,
    UCI repository; its test set.
    """
    try:
        # Imported here: scikit-learn is an extra.
        from sklearn.datasets import load_digits
    except ImportError as error:
        raise MissingFiles(
            '`source="digits"` needs scikit-learn, which holds the images: '
            "pip install 'simbias[data]'."
        ) from error
    found = load_digits()
    images = found.images.astype(np.uint8)[:, None]  # pyright: ignore
    labels = found.target.astype(np.uint8)  # pyright: ignore
    return (
        Labelled(images[:_TRAINING], labels[:_TRAINING]),
        Labelled(images[_TRAINING:], labels[_TRAINING:]),
    )
