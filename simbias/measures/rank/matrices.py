"""Ranks and singular values of the matrices of a network."""

import itertools
from typing import Any, ClassVar

import equinox as eqx
import jax.numpy as jnp
from jaxtyping import Array, Float

from simbias.core import AbstractMeasure, Dataset
from simbias.measures._layer import layer_matrix
from simbias.numerics import matrix_rank
from simbias.numerics.matrix_rank import singular_values, spectral_entropy, stable_rank


class StableRank(AbstractMeasure):
    """Stable rank of a layer, ‖W‖²_F/‖W‖²_op; NaN for a layer of zeros.

    Args:
        layer: its name, as "w", "weights.0", or "layers.1.query.w".

    Reference: Le & Jegelka (2022), arXiv:2201.11968, for what it shows of training.
    """

    layer: str = eqx.field(static=True, default="w")

    def __call__(self, network: Any, data: Dataset) -> Float[Array, ""]:
        """Stable rank of the layer."""
        return matrix_rank.stable_rank(layer_matrix(network, self.layer))


class StableRanks(AbstractMeasure):
    """Stable rank of every matrix of `weights`, ‖W‖²_F/‖W‖²_op.

    As `StableRank` of one layer; NaN for a layer of zeros.

    Reference: Le & Jegelka (2022), arXiv:2201.11968, for what it shows of training.
    """

    dims: ClassVar[tuple[str, ...]] = ("layer",)

    def __call__(self, network: Any, data: Dataset) -> Float[Array, " layer"]:
        """From the first layer to the last."""
        return jnp.stack([stable_rank(w) for w in network.weights])


class WeightRank(AbstractMeasure):
    """Effective rank of a layer, exp(−Σ pᵢ ln pᵢ) with pᵢ = σᵢ/Σ σ.

    NaN for a layer of zeros.

    Args:
        layer: its name, as "w", "weights.0", or "layers.1.query.w".
        is_squared: pᵢ = σᵢ²/Σ σ², as in the code of Morwani et al.
        is_log: the entropy −Σ pᵢ ln pᵢ itself, as in Huh et al.

    References: Roy & Vetterli (2007), EUSIPCO; Morwani et al. (2023), arXiv:2302.00457;
    Huh et al. (2023), arXiv:2103.10427.
    """

    layer: str = eqx.field(static=True, default="w")
    is_squared: bool = eqx.field(static=True, default=False)
    is_log: bool = eqx.field(static=True, default=False)

    def __call__(self, network: Any, data: Dataset) -> Float[Array, ""]:
        """Effective rank of the layer, or its logarithm."""
        matrix = layer_matrix(network, self.layer)
        entropy = spectral_entropy(matrix, is_squared=self.is_squared)
        return entropy if self.is_log else jnp.exp(entropy)


class SingularShares(AbstractMeasure):
    """Singular values of every matrix of `weights` over the largest, σ_q/σ_1.

    0 beyond the last singular value of a layer; NaN for a layer of zeros.

    Args:
        most: number of values, q = 1, …, `most`.
    """

    most: int = eqx.field(static=True, default=6)
    dims: ClassVar[tuple[str, ...]] = ("layer", "value")

    def __call__(self, network: Any, data: Dataset) -> Float[Array, "layer value"]:
        """From the first layer to the last; the first value of each is 1."""
        rows = []
        for w in network.weights:
            values = singular_values(w)[: self.most]
            values = jnp.pad(values, (0, self.most - len(values)))
            rows.append(values / values[0])
        return jnp.stack(rows)


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


class FoldedRanks(AbstractMeasure):
    """Entropy of the singular values of every layer of `folded()`.

    It is −Σ pᵢ ln pᵢ with pᵢ = σᵢ/Σ σ.

    For a network whose layers are products: `folded` gives the same function with a
    layer each, a `Convolutional`.  A kernel is a matrix of its outputs × all else.
    NaN for a layer of zeros.

    Reference: Huh et al. (2023), arXiv:2103.10427.
    """

    dims: ClassVar[tuple[str, ...]] = ("layer",)

    def __call__(self, network: Any, data: Dataset) -> Float[Array, " layer"]:
        """From the first layer to the last."""
        whole = network.folded()
        layers = (*whole.kernels, whole.w, whole.a)
        return jnp.stack([spectral_entropy(v.reshape(len(v), -1)) for v in layers])
