"""The heaviest clusters of neurons."""

from typing import Any, ClassVar

import equinox as eqx
import jax
import jax.numpy as jnp
import numpy as np
from jaxtyping import Array, Float

from simbias.core import AbstractMeasure, Dataset
from simbias.errors import BadInput
from simbias.measures.clusters._clusters import check_clusters, cluster_shares


class ClusterMasses(AbstractMeasure):
    """Shares of the mass in the `count` heaviest clusters of directions, in order.

    Clusters and mass as in `EffectiveWidth`.  0 where there are fewer clusters; what
    is missing to 1 lies in further clusters and in neurons lighter than share/m.
    """

    count: int = eqx.field(static=True, default=8)
    angle: float = eqx.field(static=True, default=1.0)
    share: float = eqx.field(static=True, default=1e-3)
    dims: ClassVar[tuple[str, ...]] = ("cluster",)

    def __check_init__(self):
        if self.count < 1:
            raise BadInput(
                f"`count` must be a positive integer, got {self.count}. "
                "Example: count=8."
            )
        check_clusters(self.angle, self.share)

    def __call__(self, network: Any, data: Dataset) -> Float[Array, " count"]:
        """Shares, heaviest first; NaN for a network of zeros."""
        shares = cluster_shares(network, self.angle, self.share)
        kept = min(self.count, shares.shape[0])
        heaviest = jax.lax.top_k(shares, kept)[0]
        padded = jnp.pad(heaviest, (0, self.count - kept))
        return jnp.where(jnp.isnan(shares[0]), jnp.nan, padded)

    def coords(self) -> dict[str, np.ndarray]:
        """Rank of the cluster, from 1."""
        return {"cluster": np.arange(1, self.count + 1)}
