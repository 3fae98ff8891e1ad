"""Digits: classes, and the settings of training on them."""

import numpy as np

from simbias.datasets.vision.images import SHAPE, Source

CLASSES = 10
# With n = 1000 and a batch of 50, time counts epochs.
RATE, BATCH, N = 0.05, 50, 1000


def input_size(source: Source) -> int:
    """Entries of an image: pixels times channels."""
    return int(np.prod(SHAPE[source]))
