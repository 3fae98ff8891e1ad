"""How many neurons a network uses, without a threshold on their mass."""

from typing import Any

import equinox as eqx
from jaxtyping import Array, Float

from simbias.core import AbstractMeasure, Dataset
from simbias.measures.clusters._clusters import check_clusters, cluster_shares
from simbias.measures.clusters._entropy import exp_entropy


class EffectiveWidthEntropy(AbstractMeasure):
    """Effective width by entropy: exponential of the entropy of clusters of directions.

    It is exp(−Σ_c p_c ln p_c), p_c the share of the mass in cluster c.

    Clusters and mass as in `EffectiveWidth`; the p_c are normalised over the clusters.
    k clusters of equal mass give k, whatever their size; a light cluster counts less
    than one.
    """

    angle: float = eqx.field(static=True, default=1.0)
    share: float = eqx.field(static=True, default=1e-3)

    def __check_init__(self):
        check_clusters(self.angle, self.share)

    def __call__(self, network: Any, data: Dataset) -> Float[Array, ""]:
        """Effective number of clusters, at least 1; NaN for a network of zeros."""
        return exp_entropy(cluster_shares(network, self.angle, self.share))
