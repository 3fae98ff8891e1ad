"""Which inputs of a sample vary, and which stand for a bias."""

import numpy as np
from jaxtyping import Float, Int

from simbias.core import Dataset


def varying(data: Dataset) -> Int[np.ndarray, " v"]:
    """Numbers of the inputs that are not the same in every row of the sample."""
    x = rows(data)[0]
    return np.flatnonzero((x != x[:1]).any(axis=0))


def rows(data: Dataset) -> tuple[Float[np.ndarray, "n d"], Float[np.ndarray, "n k"]]:
    """Inputs and targets of the rows that are no padding."""
    is_there = np.asarray(data.weight) > 0
    return np.asarray(data.x)[is_there], np.asarray(data.y)[is_there]


def has_two_classes(data: Dataset) -> bool:
    """True for one output with one positive and one other label."""
    y = rows(data)[1]
    return y.shape[1] == 1 and len(np.unique(y)) == 2


def filled(
    data: Dataset, columns: Int[np.ndarray, " v"], values: Float[np.ndarray, "g v"]
) -> Float[np.ndarray, "g d"]:
    """Inputs with these values in some columns, and those of the sample elsewhere."""
    x = rows(data)[0]
    out = np.repeat(x[:1], len(values), axis=0)
    out[:, columns] = values
    return out
