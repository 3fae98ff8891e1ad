"""Outputs on a few rows, of networks that were trained on clones of a sample."""

from typing import Any, ClassVar

import equinox as eqx
import numpy as np
from jaxtyping import Array, Float

from simbias.core import AbstractMeasure, Dataset
from simbias.measures.clones._side import of_each
from simbias.validation.values import positive_integer


class RealOutputs(AbstractMeasure):
    """Outputs of each of several networks on a few rows of the real law.

    The rows are `data.others["real"]`, inputs of all networks side by side.

    Args:
        trained_on: what each network was trained on.
        rows: how many, evenly spaced.
    """

    trained_on: tuple[str, ...] = eqx.field(static=True)
    rows: int = eqx.field(static=True, default=8)
    dims: ClassVar[tuple[str, ...]] = ("row", "trained_on", "output")

    def __check_init__(self):
        positive_integer("rows", self.rows)

    def coords(self) -> dict[str, np.ndarray]:
        """What the network was trained on."""
        return {"trained_on": np.array(self.trained_on)}

    def __call__(self, network: Any, data: Dataset) -> Float[Array, "row g k"]:
        """By row, network and output."""
        x = data.others["real"].x
        few = x[:: max(len(x) // self.rows, 1)][: self.rows]
        return of_each(network, few, len(self.trained_on))
