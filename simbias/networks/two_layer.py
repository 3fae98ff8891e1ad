"""The two-layer network, the object of most of the theory."""

import equinox as eqx
import jax
import jax.numpy as jnp
from jaxtyping import Array, Float

from simbias.core import AbstractNetwork
from simbias.networks.activations import Activation, negative_slope


class TwoLayer(AbstractNetwork):
    """f(x) = Σⱼ aⱼ φ(wⱼ·x + bⱼ), with aⱼ ∈ ℝᵏ and no factor in front.

    The 1/√m of the theory is part of the initial law (`two_layer_init`), not of the
    function.  `b` is None for a network without hidden bias.  There is no output bias.
    """

    w: Float[Array, "m d"]
    a: Float[Array, "m k"]
    b: Float[Array, " m"] | None = None
    activation: Activation = eqx.field(static=True, default=jax.nn.relu)

    def __check_init__(self):
        if self.a.ndim != 2 or self.a.shape[0] != self.w.shape[0]:
            raise ValueError(
                "`a` must have shape (m, k) with one row per row of `w`, got "
                f"a {self.a.shape} and w {self.w.shape}. Example: a=a[:, None]."
            )

    @property
    def has_kinks(self) -> bool:
        """True for ReLU and leaky ReLU."""
        slope = negative_slope(self.activation)
        return slope is not None and slope < 1

    @property
    def negative_slope(self) -> float | None:
        """Slope of the activation for h < 0 if it is piecewise linear, else None."""
        return negative_slope(self.activation)

    def __call__(self, x: Float[Array, " d"]) -> Float[Array, " k"]:
        """Output for one input."""
        h = self.w @ x
        if self.b is not None:
            h = h + self.b
        if self.has_kinks and self.a.shape[1] == 1:
            return self._gated(h, x)
        return self.activation(h) @ self.a

    def _gated(self, h: Float[Array, " m"], x: Float[Array, " d"]) -> Float[Array, "1"]:
        """The same, as x·Σⱼ Sⱼ aⱼwⱼ with Sⱼ = φ'(hⱼ).

        A sample then needs one array of neurons, S, which has no derivative, instead
        of the activations and their gradient: twice as fast for many samples.
        """
        gate = jnp.where(h > 0, 1, jnp.asarray(self.negative_slope, h.dtype))
        out = (gate @ (self.a * self.w)) @ x
        if self.b is not None:
            out = out + gate @ (self.a[:, 0] * self.b)
        return out[None]
