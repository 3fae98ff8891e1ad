"""Pre-activations of the hidden units of a network on a grid of inputs."""

from typing import Any

import jax
import jax.numpy as jnp
import numpy as np
from jaxtyping import Array, Float

from simbias.films.training import Training
from simbias.network import Pattern, hook

# More units make no picture.
_MOST_UNITS = 24


def activation_boundaries(
    training: Training, inputs: Float[np.ndarray, "g d"]
) -> dict[tuple[int, int], Float[np.ndarray, "t g"]]:
    """Pre-activation z of every unit, by layer and number; its boundary is z = 0.

    Empty for networks without the method `gated`, and for more than 24 units.
    """
    if hook(training.networks, "gated") is None:
        return {}
    at = jnp.asarray(inputs)
    of_one = training.along(lambda net: _pre_activations(net, at[0]))
    if sum(layer.shape[1] for layer in of_one) > _MOST_UNITS:
        return {}
    of_all = training.along(
        lambda net: jax.vmap(lambda x: _pre_activations(net, x))(at)
    )
    return {
        (i, j): layer[:, :, j]
        for i, layer in enumerate(of_all)
        for j in range(layer.shape[2])
    }


def _pre_activations(
    network: Any, x: Float[Array, " d"]
) -> tuple[Float[Array, " u"], ...]:
    """Those of one input, layer by layer."""
    slopes = network.kink_slopes
    one, zero = jnp.ones((), x.dtype), jnp.zeros((), x.dtype)
    gates, shifts = (one,) * len(slopes), (zero,) * len(slopes)
    z: tuple[Array, ...] = ()
    # The sides of a layer are known once those of the layers before it are.
    for _ in slopes:
        _, z = network.gated(x, Pattern(gates, shifts))
        gates = tuple(
            jnp.where(v > 0, 1.0, slope).astype(x.dtype)
            for v, slope in zip(z, slopes, strict=True)
        )
    return tuple(v.reshape(-1) for v in z)
