"""Which test rows are classified correctly."""

from typing import Any, ClassVar

from jaxtyping import Array, Float

from simbias.core import AbstractMeasure, Dataset
from simbias.introspection.outputs import second_sample
from simbias.measures.components._projected import is_right


class CorrectRows(AbstractMeasure):
    """Which test rows are classified correctly: 1 if argmax f = argmax y, otherwise 0.

    The mean over networks and times is the accessibility of the row.

    Reference: Hacohen & Weinshall (2022), JMLR 23(155), section 4.
    """

    dims: ClassVar[tuple[str, ...]] = ("row",)

    def __call__(self, network: Any, data: Dataset) -> Float[Array, " r"]:
        """By row."""
        test = second_sample(data)
        return is_right(network, test.x, test.y).astype(test.x.dtype)
