"""Whether each layer looks where the one before it writes."""

import itertools
from typing import Any, ClassVar

import jax.numpy as jnp
from jaxtyping import Array, Float

from simbias.core import AbstractMeasure, Dataset


class LayerAlignment(AbstractMeasure):
    """Alignment of neighbouring layers, |v_{l+1} · u_l|.

    v is the top right singular vector of a layer, u the top left of the one before.

    From 0 to 1, for each pair of neighbouring matrices; needs a network with `weights`.
    If the top singular value of a matrix is double, its vector is any of a plane.  NaN
    for a layer of zeros.

    Reference: Ji & Telgarsky (2019), arXiv:1810.02032; Le & Jegelka (2022),
    arXiv:2201.11968.
    """

    dims: ClassVar[tuple[str, ...]] = ("pair",)

    def __call__(self, network: Any, data: Dataset) -> Float[Array, " pair"]:
        """A cosine for layers 1 and 2, for 2 and 3, and so on."""
        parts = [jnp.linalg.svd(w, full_matrices=False) for w in network.weights]
        return jnp.stack(
            [
                jnp.where(s[0] * t[0] > 0, jnp.abs(vt[0] @ u[:, 0]), jnp.nan)
                for (u, s, _), (_, t, vt) in itertools.pairwise(parts)
            ]
        )
