"""How far the train error is from that of one regression per side of the teacher."""

from typing import Any, ClassVar

import equinox as eqx
import jax.numpy as jnp
from jaxtyping import Array, Float

from simbias.core import AbstractMeasure, Dataset
from simbias.losses import mse
from simbias.measures._cosine import check_index
from simbias.measures._ols import ols
from simbias.measures._sample import outputs


class TwoGroupGap(AbstractMeasure):
    """(1/n) Σᵢ |f(xᵢ) − yᵢ|² − (1/n) Σᵢ |h(xᵢ) − yᵢ|², both on this training sample.

    h is least squares on S₊ = {i: u·xᵢ > 0} and on S₋ = {i: u·xᵢ < 0}, each of least
    norm if there are several; u is row `feature` of `data.features`, the teacher β* of
    a linear law.  No ½.  Negative for a network that fits more of the noise than two
    regressions; its mean over samples is free of what the samples' own noise does.

    Reference: two-neuron limit of Boursier & Flammarion (2024), arXiv:2410.02348.
    """

    feature: int = eqx.field(static=True, default=0)
    dims: ClassVar[tuple[str, ...]] = ()

    def __call__(self, network: Any, data: Dataset) -> Float[Array, ""]:
        """Difference of the train errors; any network.

        Raises:
            ValueError: if the data have no such feature.
        """
        check_index("feature", self.feature, data.features.shape[0])
        side = data.x @ data.features[self.feature]
        fitted = jnp.zeros_like(data.y)
        for is_mine in (side > 0, side < 0):
            weight = jnp.where(is_mine, data.weight, 0)
            group = eqx.tree_at(lambda d: d.weight, data, weight)
            line = data.x @ ols(group, has_intercept=False)
            fitted = jnp.where(is_mine[:, None], line, fitted)
        own = mse(outputs(network, data.x), data.y, data.weight)
        return own - mse(fitted, data.y, data.weight)
