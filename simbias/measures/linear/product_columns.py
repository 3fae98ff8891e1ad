"""The product of the layers along each principal component of the sample."""

from typing import Any, ClassVar

from jaxtyping import Array, Float

from simbias.core import AbstractMeasure, Dataset
from simbias.measures.linear.end_to_end_error import product


class ProductColumns(AbstractMeasure):
    """Columns of the product of all matrices along the principal components.

    They are W_L ⋯ W_1 uⱼ for every component uⱼ, as if there were no activations.

    Components are the rows of `data.features`.  Needs a network with `weights`.  Of a
    linear network this is what `PrincipalColumns` is; of any other that is the linear
    part of its outputs.

    Reference: Hacohen & Weinshall (2022), JMLR 23(155), section 4.
    """

    dims: ClassVar[tuple[str, ...]] = ("output", "component")

    def __call__(self, network: Any, data: Dataset) -> Float[Array, "k p"]:
        """In units of output by input."""
        return product(network.weights) @ data.features.T
