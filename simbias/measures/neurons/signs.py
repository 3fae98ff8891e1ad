"""Neurons by the signs of their output weights."""

from typing import Any, ClassVar

import jax.numpy as jnp
from jaxtyping import Array, Float

from simbias.core import AbstractMeasure, Dataset
from simbias.measures._neurons import incoming, mass_shares, single_output
from simbias.measures._patterns import sides


class GroupSums(AbstractMeasure):
    """Sums of the neurons by the sign of their output weight.

    They are Σ_{aⱼ>0} aⱼwⱼ and Σ_{aⱼ<0} aⱼwⱼ: the two halves of a sign-split network.

    On orthogonal data the limit of small initialisation is
    Σ_{y_k>0} (y_k/‖x_k‖²) x_k and the same over y_k < 0.  A hidden bias is one more
    coordinate of wⱼ.  One output only.

    Reference: Boursier, Pillaud-Vivien & Flammarion (2022), arXiv:2206.00939,
    theorem 1.
    """

    dims: ClassVar[tuple[str, ...]] = ("group", "input")
    entries: ClassVar = {"group": ("positive", "negative")}

    def __call__(self, network: Any, data: Dataset) -> Float[Array, "2 e"]:
        """Rows: positive, negative."""
        a = single_output(network)
        # Two rows of weights: the zero part of each group is exactly zero.
        return jnp.stack([jnp.maximum(a, 0), jnp.minimum(a, 0)]) @ incoming(network)


class NegativeLiveMass(AbstractMeasure):
    """Share of neurons with aⱼ < 0 in the mass |aⱼ|‖wⱼ‖ of the live neurons.

    Live: vⱼ·xᵢ > ε ‖vⱼ‖‖xᵢ‖ on at least one training sample, vⱼ = (wⱼ, bⱼ), ε = 1e-9 or
    100 roundings; a neuron that rests on a hyperplane to rounding is not live.  0 if
    only neurons with aⱼ ≥ 0 are live, 1 if only neurons with aⱼ < 0 are, NaN if none
    is.  One output only.
    """

    def __call__(self, network: Any, data: Dataset) -> Float[Array, ""]:
        """Share in [0, 1]."""
        is_negative = single_output(network) < 0
        least = max(1e-9, 100 * float(jnp.finfo(data.x.dtype).eps))
        is_live = jnp.any(sides(network, data, least) > 0, axis=0)
        mass = jnp.where(is_live, mass_shares(network), 0)
        total = jnp.sum(mass)
        negative = jnp.sum(jnp.where(is_negative, mass, 0))
        return jnp.where(total > 0, negative / jnp.where(total > 0, total, 1), jnp.nan)
