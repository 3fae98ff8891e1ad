"""Least squares on each side of a direction, and what it predicts."""

import equinox as eqx
import jax.numpy as jnp
from jaxtyping import Array, Float

from simbias.core import Dataset
from simbias.measures._cosine import check_index
from simbias.measures._ols import ols


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
