"""How many directions the neurons of a network use, and with which masses."""

from typing import Any, ClassVar

import equinox as eqx
import jax
import jax.numpy as jnp
import numpy as np
from jaxtyping import Array, Float

from simbias.core import AbstractMeasure, Dataset
from simbias.errors import BadInput
from simbias.measures._neurons import directions, incoming, mass_shares
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


class EntropyRank(AbstractMeasure):
    """Effective rank of the neurons: exponential of the entropy of their spectrum.

    It is exp(−Σ pᵢ ln pᵢ), pᵢ the normalised eigenvalues of Σⱼ |aⱼ|‖wⱼ‖ ŵⱼŵⱼᵀ.

    ŵⱼ = wⱼ/‖wⱼ‖.  Opposite directions are one dimension: the two neurons of a linear
    function have entropy rank 1 and effective width 2.  At most d (d + 1 with a hidden
    bias); NaN for a network of zeros.
    """

    def __call__(self, network: Any, data: Dataset) -> Float[Array, ""]:
        """Effective number of dimensions."""
        shares = mass_shares(network)
        u = directions(incoming(network))
        root = jnp.where(jnp.isnan(u), 0, u) * jnp.sqrt(shares)[:, None]
        return exp_entropy(jnp.linalg.eigvalsh(root.T @ root))


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


def exp_entropy(parts: Float[Array, " q"]) -> Float[Array, ""]:
    """exp(−Σ pᵢ ln pᵢ), pᵢ the parts divided by their sum, 0 ln 0 = 0.

    Parts below 0 (rounding) count as 0; NaN if nothing is left.
    """
    parts = jnp.where(parts < 0, 0, parts)
    total = jnp.sum(parts)
    p = jnp.where(total > 0, parts / jnp.where(total > 0, total, 1), jnp.nan)
    is_zero = p == 0
    logs = jnp.log(jnp.where(is_zero, 1, p))
    return jnp.exp(-jnp.sum(jnp.where(is_zero, 0, p * logs)))
