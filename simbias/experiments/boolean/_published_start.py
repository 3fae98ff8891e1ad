"""The initialisation of the published networks on parities and Cantor sets."""

import jax
import jax.numpy as jnp
from jaxtyping import PRNGKeyArray

from simbias.networks import Mlp
from simbias.validation.values import positive_integer


def published_start(
    key: PRNGKeyArray, widths: tuple[int, ...], bias: float = 0.0
) -> Mlp:
    """A ReLU network with truncated normal weights of variance 1/inputs.

    The law is that of z given |z| < 2, not rescaled: tensorflow's truncated_normal.

    Args:
        key: random key.
        widths: sizes of input, hidden layers and output.
        bias: of every neuron, the output included.

    Raises:
        ValueError: for widths that are not positive integers.
    """
    for size in widths:
        positive_integer("widths", size)
    shapes = [(p, q) for q, p in zip(widths, widths[1:], strict=False)]
    # One draw for all layers: a program compiles as many draws as there are.
    size = sum(p * q for p, q in shapes)
    z = jax.random.truncated_normal(key, -2.0, 2.0, (size,), jnp.float64)
    weights, start = [], 0
    for p, q in shapes:
        weights.append(z[start : start + p * q].reshape(p, q) * q**-0.5)
        start += p * q
    biases = tuple(jnp.full(p, bias, jnp.float64) for p, _ in shapes)
    return Mlp(tuple(weights), biases)
