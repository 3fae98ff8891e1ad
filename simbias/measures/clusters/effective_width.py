"""How many neurons a network uses, copies counted once."""

from typing import Any

import equinox as eqx
import jax.numpy as jnp
from jaxtyping import Array, Float

from simbias.core import AbstractMeasure, Dataset
from simbias.measures.clusters._clusters import check_clusters, cluster_shares


class EffectiveWidth(AbstractMeasure):
    """Effective width: number of directions that the neurons use.

    Counted are clusters of wⱼ/‖wⱼ‖ that hold more than `share` of the mass.  Clusters:
    single linkage at `angle` degrees.  Mass: |aⱼ|‖wⱼ‖.  A hidden bias is one
    more coordinate of wⱼ, and the sign of aⱼ plays no part.  Neurons lighter than
    share/m take no part in the linkage.  NaN for a network of zeros.

    Limits before alignment: 0 if the mass is spread over more than 1/share directions;
    1 if they are so dense (wide, two dimensions) that they link all around.
    """

    angle: float = eqx.field(static=True, default=1.0)
    share: float = eqx.field(static=True, default=1e-3)

    def __check_init__(self):
        check_clusters(self.angle, self.share)

    def __call__(self, network: Any, data: Dataset) -> Float[Array, ""]:
        """Number of clusters, as a float."""
        shares = cluster_shares(network, self.angle, self.share)
        is_heavy = (shares > self.share).astype(shares.dtype)
        return jnp.sum(jnp.where(jnp.isnan(shares), jnp.nan, is_heavy))
