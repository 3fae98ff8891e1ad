"""Norm, direction and mass of the neurons of a two-layer network.

A hidden bias bⱼ is one more coordinate of wⱼ: vⱼ = (wⱼ, bⱼ) ∈ ℝᵉ, with e = d + 1, and
vⱼ = wⱼ, e = d without bias.  Rows are scaled before they are squared, so that a neuron
of size 1e-20 has a norm in float32 too.
"""

from typing import Any

import jax.numpy as jnp
from jaxtyping import Array, Bool, Float

from simbias.core import Dataset
from simbias.errors import BadInput


def incoming(network: Any) -> Float[Array, "m e"]:
    """vⱼ = (wⱼ, bⱼ), or wⱼ without bias."""
    if network.b is None:
        return network.w
    return jnp.concatenate([network.w, network.b[:, None]], axis=1)


def norms(v: Float[Array, "m e"]) -> Float[Array, " m"]:
    """‖vⱼ‖ for every row."""
    size, scaled = _scaled(v)
    return size[:, 0] * jnp.linalg.norm(scaled, axis=1)


def directions(v: Float[Array, "m e"]) -> Float[Array, "m e"]:
    """vⱼ/‖vⱼ‖ for every row; NaN where vⱼ = 0."""
    size, scaled = _scaled(v)
    length = jnp.linalg.norm(scaled, axis=1, keepdims=True)
    return jnp.where(size > 0, scaled / jnp.where(size > 0, length, 1), jnp.nan)


def mass_shares(network: Any) -> Float[Array, " m"]:
    """|aⱼ|‖vⱼ‖ / Σᵢ |aᵢ|‖vᵢ‖; NaN for a network of zeros.

    |aⱼ| is the Euclidean norm of row j of `a`.
    """
    mass = _relative(norms(incoming(network))) * _relative(norms(network.a))
    total = jnp.sum(mass)
    return jnp.where(total > 0, mass / jnp.where(total > 0, total, 1), jnp.nan)


def is_active(network: Any, data: Dataset) -> Bool[Array, "n m"]:
    """wⱼ·xᵢ + bⱼ > 0, and False on padding."""
    h = data.x @ network.w.T
    if network.b is not None:
        h = h + network.b[None, :]
    return (h > 0) & (data.weight > 0)[:, None]


def single_output(network: Any) -> Float[Array, " m"]:
    """The aⱼ of a network with one output.

    Raises:
        ValueError: if it has more: the sign of aⱼ then has no meaning.
    """
    if network.a.shape[1] != 1:
        raise BadInput(
            "this measure sorts neurons by the sign of aⱼ and needs one output, got "
            f"`a` of shape {network.a.shape}."
        )
    return network.a[:, 0]


def _scaled(v: Float[Array, "m e"]) -> tuple[Float[Array, "m 1"], Float[Array, "m e"]]:
    size = jnp.max(jnp.abs(v), axis=1, keepdims=True)
    return size, v / jnp.where(size > 0, size, 1)


def _relative(lengths: Float[Array, " m"]) -> Float[Array, " m"]:
    largest = jnp.max(lengths)
    return lengths / jnp.where(largest > 0, largest, 1)
