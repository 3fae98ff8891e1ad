"""The interpolator of least norm on orthogonal inputs."""

from typing import NamedTuple

import jax.numpy as jnp
from jaxtyping import Array, Float

from simbias.core import Dataset
from simbias.theory._one_output import check_one_output


class MinimumNorm(NamedTuple):
    """Group sums of a two-layer ReLU network, and half its squared norm."""

    positive: Float[Array, " d"]
    negative: Float[Array, " d"]
    half_squared_norm: Float[Array, ""]


def minimum_norm(data: Dataset) -> MinimumNorm:
    """Two-layer ReLU interpolator of least ½‖θ‖² when the inputs are orthogonal.

    v± = Σ_{aⱼ≷0} aⱼwⱼ = Σ_{y_k≷0} (y_k/‖x_k‖²) x_k
    ½‖θ‖² = Σⱼ |aⱼ|‖wⱼ‖ = ‖v₊‖ + ‖v₋‖ = √(Σ₊ y²/‖x‖²) + √(Σ₋ y²/‖x‖²)

    The limit of small initialisation.  One neuron per sign is enough, (wⱼ, aⱼ) with
    |aⱼ| = ‖wⱼ‖ and aⱼwⱼ = v±: it is active on its own group and silent on the other.
    The formula means nothing if xᵢ·xₖ ≠ 0 for some i ≠ k; that is not checked here.

    Raises:
        ValueError: if there are several outputs.

    Reference: Boursier, Pillaud-Vivien & Flammarion (2022), arXiv:2206.00939,
    theorem 1.
    """
    check_one_output(data)
    squared = jnp.sum(data.x**2, axis=1)
    is_sample = (data.weight > 0) & (squared > 0)
    ratio = jnp.where(is_sample, data.y[:, 0] / jnp.where(is_sample, squared, 1), 0)
    positive = jnp.maximum(ratio, 0) @ data.x
    negative = jnp.minimum(ratio, 0) @ data.x
    norm = jnp.linalg.norm(positive) + jnp.linalg.norm(negative)
    return MinimumNorm(positive, negative, norm)
