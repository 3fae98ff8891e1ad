"""Activation functions by name: static, hashable, so that one compile serves a name."""

from collections.abc import Callable
from typing import Literal

import equinox as eqx
import jax
import jax.numpy as jnp
from jaxtyping import Array, Float

from simbias.errors import BadInput

Activation = Callable[[Array], Array]
ActivationName = Literal[
    "relu", "leaky_relu", "gelu", "tanh", "erf", "identity", "quadratic"
]


class LeakyRelu(eqx.Module):
    """φ(h) = h for h > 0, slope·h otherwise; φ'(0) is read as `slope`."""

    slope: float = eqx.field(static=True, default=0.01)

    def __check_init__(self):
        if not 0 <= self.slope < 1:
            raise BadInput(
                f"`slope` must lie in [0, 1), got {self.slope}. Example: slope=0.1."
            )

    def __call__(self, h: Float[Array, "..."]) -> Float[Array, "..."]:
        """Elementwise value."""
        return jnp.where(h > 0, h, self.slope * h)


def gelu(h: Float[Array, "..."]) -> Float[Array, "..."]:
    """h·Φ(h) with the exact Gaussian distribution function (torch's default)."""
    return jax.nn.gelu(h, approximate=False)


def erf(h: Float[Array, "..."]) -> Float[Array, "..."]:
    """The error function of h/√2, the sigmoid of Saad & Solla."""
    return jax.scipy.special.erf(h / 2**0.5)


def identity(h: Float[Array, "..."]) -> Float[Array, "..."]:
    """φ(h) = h: a linear network."""
    return h


def quadratic(h: Float[Array, "..."]) -> Float[Array, "..."]:
    """φ(h) = h²."""
    return h**2


ACTIVATIONS: dict[str, Activation] = {
    "relu": jax.nn.relu,
    "leaky_relu": LeakyRelu(),
    "gelu": gelu,
    "tanh": jnp.tanh,
    "erf": erf,
    "identity": identity,
    "quadratic": quadratic,
}


def negative_slope(activation: Activation) -> float | None:
    """Slope for h < 0 if the activation is piecewise linear with slope 1 for h > 0.

    Returns:
        0 for `relu`, `slope` for `LeakyRelu`, 1 for `identity`, None for any other.
    """
    if activation is jax.nn.relu:
        return 0.0
    if activation is identity:
        return 1.0
    if isinstance(activation, LeakyRelu):
        return activation.slope
    return None


def has_kink(activation: Activation) -> bool | None:
    """True if φ' jumps at 0: ReLU and leaky ReLU.  None if it is none of this file."""
    slope = negative_slope(activation)
    if slope is not None:
        return slope < 1
    is_smooth = any(activation is known for known in (gelu, jnp.tanh, erf, quadratic))
    return False if is_smooth else None
