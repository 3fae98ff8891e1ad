"""How far a network is from one regression on each side of a direction."""

from typing import Any

import equinox as eqx
import jax.numpy as jnp
from jaxtyping import Array, Float

from simbias.core import AbstractMeasure, Dataset
from simbias.introspection.outputs import outputs, second_sample
from simbias.losses import mse
from simbias.measures._cosine import check_index
from simbias.measures._ols import ols


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


def two_groups(data: Dataset, feature: int) -> Float[Array, "2 d k"]:
    """Least squares where u·xᵢ > 0 and where u·xᵢ < 0, each of least norm if several.

    u is row `feature` of `data.features`; NaN if u is not known.

    Raises:
        ValueError: if there is no such feature.
    """
    check_index("feature", feature, data.features.shape[0])
    side = data.x @ data.features[feature]

    def on(is_mine):
        weight = jnp.where(is_mine, data.weight, 0)
        group = eqx.tree_at(lambda d: d.weight, data, weight)
        return ols(group, has_intercept=False)

    is_known = jnp.all(jnp.isfinite(data.features[feature]))
    return jnp.where(is_known, jnp.stack([on(side > 0), on(side < 0)]), jnp.nan)


def predicted(
    lines: Float[Array, "2 d k"], x: Float[Array, "n d"], direction: Float[Array, " d"]
) -> Float[Array, "n k"]:
    """The first line where u·x > 0, the second elsewhere."""
    is_up = (x @ direction > 0)[:, None]
    return jnp.where(is_up, x @ lines[0], x @ lines[1])
