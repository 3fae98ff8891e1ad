"""Images with classes."""

from typing import NamedTuple

import numpy as np
from jaxtyping import UInt8


class Labelled(NamedTuple):
    """Images as bytes "n channels height width", and their classes from 0."""

    image: UInt8[np.ndarray, "n c y x"]
    label: UInt8[np.ndarray, " n"]
