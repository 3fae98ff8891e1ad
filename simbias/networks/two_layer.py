"""The two-layer network, the object of most of the theory."""

import dataclasses

import equinox as eqx
import jax
import jax.numpy as jnp
from jaxtyping import Array, Float

from simbias.core import AbstractNetwork, Loss
from simbias.errors import BadInput
from simbias.networks._chosen_gradient import chosen_gradient
from simbias.networks._two_layer_gradient import Problem, two_layer_gradient
from simbias.networks.activations import Activation, has_kink, negative_slope


class TwoLayer(AbstractNetwork):
    """f(x) = Σⱼ aⱼ φ(wⱼ·x + bⱼ), with aⱼ ∈ ℝᵏ and no factor in front.

    The 1/√m of the theory is part of the initial law (`two_layer_init`), not of the
    function.  `b` is None for a network without hidden bias.  There is no output bias.
    `may_fuse` lets `value_and_gradient` use the kernels of `_fused_gradient` on a GPU;
    `dataclasses.replace(network, may_fuse=False)` switches them off.  `frozen` names
    what is not trained, ("a",) the output weights.
    """

    w: Float[Array, "m d"]
    a: Float[Array, "m k"]
    b: Float[Array, " m"] | None = None
    activation: Activation = eqx.field(static=True, default=jax.nn.relu)
    may_fuse: bool = eqx.field(static=True, default=True)
    frozen: tuple[str, ...] = eqx.field(static=True, default=())

    def __check_init__(self):
        if self.a.ndim != 2 or self.a.shape[0] != self.w.shape[0]:
            raise BadInput(
                "`a` must have shape (m, k) with one row per row of `w`, got "
                f"a {self.a.shape} and w {self.w.shape}. Example: a=a[:, None]."
            )

    @property
    def has_kinks(self) -> bool | None:
        """True for ReLU and leaky ReLU, None if the activation is unknown."""
        return has_kink(self.activation)

    @property
    def negative_slope(self) -> float | None:
        """Slope of the activation for h < 0 if it is piecewise linear, else None."""
        return negative_slope(self.activation)

    def __call__(self, x: Float[Array, " d"]) -> Float[Array, " k"]:
        """Output for one input."""
        return self.features(x) @ self.a

    def features(self, x: Float[Array, " d"]) -> Float[Array, " m"]:
        """φ(wⱼ·x + bⱼ), what the output is linear in."""
        h = self.w @ x
        if self.b is not None:
            h = h + self.b
        return self.activation(h)

    def value_and_gradient(
        self,
        loss: Loss,
        x: Float[Array, "n d"],
        y: Float[Array, "n k"],
        weight: Float[Array, " n"],
    ) -> tuple[Float[Array, ""], "TwoLayer"]:
        """Loss on a sample and its gradient, several times as fast as autodiff."""
        w = self.w
        if self.b is not None:
            w = jnp.concatenate([w, self.b[:, None]], axis=1)
            x = jnp.concatenate([x, jnp.ones_like(x[:, :1])], axis=1)
        is_homogeneous = self.negative_slope is not None
        gradient = chosen_gradient if self.may_fuse else two_layer_gradient
        value, dw, da = gradient(
            Problem(w, self.a, x, y, weight, self.activation, is_homogeneous, loss)
        )
        d = self.w.shape[1]
        db = None if self.b is None else dw[:, d]
        return value, dataclasses.replace(self, w=dw[:, :d], a=da, b=db)
