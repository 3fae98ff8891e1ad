"""Images, and the clock of those who learn them."""

import numpy as np

from simbias.datasets.vision.images import SHAPE, Source

CLASSES = 10
# Clock of one epoch: with n = 1000 and a batch of 50 the clock counts epochs.
RATE, BATCH, N = 0.05, 50, 1000


def input_size(source: Source) -> int:
    """Pixels times channels."""
    return int(np.prod(SHAPE[source]))
