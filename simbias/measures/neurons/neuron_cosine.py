"""Direction of every neuron, against one that means something."""

from typing import Any, ClassVar

import equinox as eqx
from jaxtyping import Array, Float

from simbias.core import AbstractMeasure, Dataset
from simbias.measures._cosine import cosines


class NeuronCosine(AbstractMeasure):
    """Cosine of every neuron of a two-layer network with u; NaN where wⱼ = 0.

    u is the sample's least-squares direction, or row `feature` of `data.features`.  A
    hidden bias is one more coordinate of wⱼ; the regression then has an intercept, and
    a feature has 0 there.  `output` chooses the column of y, of several.

    Reference: Boursier & Flammarion (2024), arXiv:2410.02348, histograms of
    the neurons at the end of training.
    """

    feature: int | None = eqx.field(static=True, default=None)
    output: int = eqx.field(static=True, default=0)
    dims: ClassVar[tuple[str, ...]] = ("neuron",)

    def __call__(self, network: Any, data: Dataset) -> Float[Array, " m"]:
        """Cosines in [−1, 1]."""
        return cosines(network, data, self.feature, self.output)
