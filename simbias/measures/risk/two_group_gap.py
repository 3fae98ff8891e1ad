"""How far the train error is from that of one regression per side of the teacher."""

from typing import Any

import equinox as eqx
from jaxtyping import Array, Float

from simbias.core import AbstractMeasure, Dataset
from simbias.introspection.outputs import outputs
from simbias.losses import mse
from simbias.measures.risk._two_groups import predicted, two_groups


class TwoGroupGap(AbstractMeasure):
    """Training error of the network minus that of two regressions on the same sample.

    It is (1/n) Σᵢ |f(xᵢ) − yᵢ|² − (1/n) Σᵢ |h(xᵢ) − yᵢ|².

    h is least squares on S₊ = {i: u·xᵢ > 0} and on S₋ = {i: u·xᵢ < 0}, each of least
    norm if there are several; u is row `feature` of `data.features`, the teacher β* of
    a linear law.  No ½.  Negative for a network that fits more of the noise than two
    regressions; free of what the noise of the sample does to both.

    Reference: two-neuron limit of Boursier & Flammarion (2024), arXiv:2410.02348.
    """

    feature: int = eqx.field(static=True, default=0)

    def __call__(self, network: Any, data: Dataset) -> Float[Array, ""]:
        """Difference of the train errors; any network."""
        lines = two_groups(data, self.feature)
        fit = predicted(lines, data.x, data.features[self.feature])
        own = mse(outputs(network, data.x), data.y, data.weight)
        return own - mse(fit, data.y, data.weight)
