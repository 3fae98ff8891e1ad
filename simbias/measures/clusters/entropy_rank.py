"""How many dimensions the neurons span, weighted by what they do."""

from typing import Any

import jax.numpy as jnp
from jaxtyping import Array, Float

from simbias.core import AbstractMeasure, Dataset
from simbias.measures._neurons import directions, incoming, mass_shares
from simbias.measures.clusters._entropy import exp_entropy


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
