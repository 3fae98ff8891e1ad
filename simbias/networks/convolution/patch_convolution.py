"""A two-layer convolution: kernels on patches, and a readout of every place."""

import equinox as eqx
import jax
import jax.numpy as jnp
from jaxtyping import Array, Float, PRNGKeyArray

from simbias.core import AbstractNetwork, Real
from simbias.errors import BadInput
from simbias.network import Pattern, present_if
from simbias.networks.activations import (
    ACTIVATIONS,
    Activation,
    has_kink,
    negative_slope,
)
from simbias.validation.sample import one_of
from simbias.validation.values import positive, positive_integers


class PatchConvolution(AbstractNetwork):
    """f(x) = Σⱼ Σ_p a_jp φ(wⱼ·x_p), with x_p the patches of x.

    Patches do not overlap: x is cut into as many pieces as `a` has columns.
    """

    w: Float[Array, "m q"]
    a: Float[Array, "m p"]
    activation: Activation = eqx.field(static=True, default=jax.nn.relu)

    def __check_init__(self):
        if len(self.a) != len(self.w):
            raise BadInput(
                "`w` and `a` must have one row per kernel, got shapes "
                f"{self.w.shape} and {self.a.shape}."
            )

    @property
    def has_kinks(self) -> bool | None:
        """True for ReLU and leaky ReLU, None if the activation is unknown."""
        return has_kink(self.activation)

    @property
    def kink_slopes(self) -> tuple[float, ...] | None:
        """Slope for z < 0, of ReLU and leaky ReLU."""
        if self.has_kinks is None:
            return None
        slope = negative_slope(self.activation)
        return () if slope is None or slope == 1 else (slope,)

    def __call__(self, x: Float[Array, " d"]) -> Float[Array, " 1"]:
        """Output for one input."""
        return jnp.sum(self.a * self.activation(self._of_patches(x)))[None]

    @present_if(lambda network: bool(network.kink_slopes))
    def gated(
        self, x: Float[Array, " d"], pattern: Pattern
    ) -> tuple[Float[Array, " 1"], tuple[Float[Array, "m p"], ...]]:
        """Output with these gates in place of the activation, and all wⱼ·x_p."""
        ((scale, shift),) = zip(*pattern, strict=True)
        z = self._of_patches(x)
        return jnp.sum(self.a * (scale * z + shift))[None], (z,)

    def _of_patches(self, x: Float[Array, " d"]) -> Float[Array, "m p"]:
        return self.w @ x.reshape(self.a.shape[1], -1).T


def patch_convolution(
    key: PRNGKeyArray,
    *,
    m: int,
    q: int,
    p: int,
    scale: Real = 1.0,
    activation: str = "relu",
) -> PatchConvolution:
    """All weights N(0, λ²/m).

    Args:
        key: random key.
        m: kernels.
        q: entries of a kernel, and of a patch.
        p: patches of an input, of p·q entries.
        scale: factor λ of every weight.
        activation: by name.

    Raises:
        ValueError: for a size, scale or name out of range.
    """
    positive_integers(m=m, q=q, p=p)
    positive("scale", scale)
    one_of("activation", activation, tuple(ACTIVATIONS))
    draws = jax.random.normal(key, (m, q + p), jnp.float64)
    draws = jnp.asarray(scale, jnp.float64) / m**0.5 * draws
    return PatchConvolution(draws[:, :q], draws[:, q:], ACTIVATIONS[activation])
