"""How far the excess risk is from that of one regression per side of the teacher."""

from typing import Any

import equinox as eqx
from jaxtyping import Array, Float

from simbias.core import AbstractMeasure, Dataset
from simbias.introspection.outputs import outputs, second_sample
from simbias.losses import mse
from simbias.measures.risk._two_groups import predicted, two_groups


class TwoGroupExcess(AbstractMeasure):
    """`ExcessRisk` of the network minus that of the two regressions of `TwoGroupGap`.

    Both are fitted to the same sample and taken on the same test inputs, where a side
    is again the sign of u·x.  The regressions' own mean is known in closed form
    (`theory.two_group`), so that law + mean of this is the mean of the network, without
    most of what differs from sample to sample.
    """

    feature: int = eqx.field(static=True, default=0)

    def __call__(self, network: Any, data: Dataset) -> Float[Array, ""]:
        """Difference of the excess risks; any network."""
        test = second_sample(data)
        lines = two_groups(data, self.feature)
        fit = predicted(lines, test.x, data.features[self.feature])
        own = mse(outputs(network, test.x), test.mean, test.weight)
        return own - mse(fit, test.mean, test.weight)
