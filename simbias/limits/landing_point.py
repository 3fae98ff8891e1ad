"""The network in which a gradient flow ends, without following it there."""

import dataclasses
from typing import Any, NamedTuple

import jax.numpy as jnp
from jaxtyping import Array, Bool, Float

from simbias.core import Dataset, Loss
from simbias.errors import BadInput
from simbias.limits.basin import basin
from simbias.limits.neurons import lacks, read


class Landing(NamedTuple):
    """Where a network goes, and how well that is known.

    Attributes:
        network: θ(∞), within `error`.
        is_known: the way there is proven: no neuron meets a hyperplane, or leaves one.
        loss: L(∞), exactly if it is known; that of `network` differs by a second order.
        distance: how far any neuron still moves at most, in units of its size.
        error: how far any neuron of `network` is from its limit at most, likewise,
            but for rounding.
    """

    network: Any
    is_known: Bool[Array, ""]
    loss: Float[Array, ""]
    distance: Float[Array, ""]
    error: Float[Array, ""]


def landing_point(network: Any, data: Dataset, loss: Loss) -> Landing:
    """Limit t → ∞ of the gradient flow, predicted where it is proven which way it goes.

    (wⱼ, aⱼ)(∞) = exp([[0, c], [cᵀ, 0]]) (wⱼ, aⱼ),   c = ∫ q dt = (H K)⁻¹ q

    with q the force on the neurons of one pattern, H the second derivative of L in the
    sums Σ aⱼwⱼ of all patterns and K their metric (`limits.basin`).  aⱼ² − |wⱼ|² stays
    what it is.  K changes on the way by as much as neurons move: `error` is of the
    order of the square of `distance`, times a condition number.  It is 0 with output
    weights that are not trained, and no better than `distance` if a neuron is loose.

    The end of a network of which nothing is known is no prediction: `is_known` is False
    and the numbers say nothing.  `simbias.evaluate` applies it to all members that a
    result has kept.

    Args:
        network: two layers of ReLU or leaky ReLU, one output.
        data: its sample.
        loss: `half_mse` or `mse`.

    Raises:
        ValueError: for another network or loss.
    """
    if lack := lacks(network, data, loss):
        raise BadInput(f"`landing_point` asks for {lack}.")
    neurons, sample = read(network, data, loss)
    w, a, found = neurons.w, neurons.a, basin(neurons, sample)
    if neurons.is_output_frozen:
        ends = w + a[:, None] * found.drift, a
    else:
        ends = followed(w, a, found.drift)
    d, narrow = network.w.shape[1], lambda new, old: new.astype(old.dtype)
    at = dataclasses.replace(
        network,
        w=narrow(ends[0][:, :d], network.w),
        a=narrow(ends[1][:, None], network.a),
        b=None if network.b is None else narrow(ends[0][:, d], network.b),
    )
    return Landing(
        at, found.is_known, found.least, found.distance, jnp.max(found.error)
    )


def followed(
    w: Float[Array, "m e"], a: Float[Array, " m"], c: Float[Array, "m e"]
) -> tuple[Float[Array, "m e"], Float[Array, " m"]]:
    """Neurons under w' = a c, a' = w·c for a time of 1."""
    length = jnp.linalg.norm(c, axis=1)
    unit = c / jnp.where(length > 0, length, 1)[:, None]
    along = jnp.sum(w * unit, axis=1)
    # Differences from what they are keep their digits where they are small.
    up, down = (a + along) * jnp.expm1(length), (a - along) * jnp.expm1(-length)
    return w + ((up - down) / 2)[:, None] * unit, a + (up + down) / 2
