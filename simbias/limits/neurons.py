"""The weights of a two-layer ReLU network, and the sample that acts on them."""

from typing import Any, NamedTuple

import jax
import jax.numpy as jnp
from jaxtyping import Array, Float

from simbias.core import Dataset, Loss
from simbias.introspection.partials import whole
from simbias.losses import half_mse, mse
from simbias.numerics.precision import matmul


class Neurons(NamedTuple):
    """Weights, a hidden bias as the last of w, and what is known of them."""

    w: Float[Array, "m e"]
    a: Float[Array, " m"]
    slope: float
    is_output_frozen: bool
    eps: float


class Sample(NamedTuple):
    """Inputs with the 1 of a bias as their last entry, 0 on padding; what they obey."""

    x: Float[Array, "n e"]
    y: Float[Array, "n 1"]
    weight: Float[Array, " n"]
    loss: Loss


def lacks(network: Any, data: Dataset, loss: Loss) -> str:
    """What these laws ask for and is not there, or ""."""
    slope = getattr(network, "negative_slope", None)
    if slope is None or slope >= 1:
        return "two layers of ReLU or leaky ReLU"
    if data.y.shape[1] != 1:
        return "one output"
    if not has_known_frozen(network):
        return "no weights that are frozen but those of the output"
    return "" if whole(loss) in (half_mse, mse) else "`half_mse` or `mse`"


def has_known_frozen(network: Any) -> bool:
    """Whether all weights are trained, or all but those of the output."""
    return getattr(network, "frozen", ()) in ((), ("a",))


def read(network: Any, data: Dataset, loss: Loss) -> tuple[Neurons, Sample]:
    """Both of a network that lacks nothing, in float64."""
    wide = lambda v: v.astype(jnp.result_type(float))
    w, x = network.w, data.x
    if network.b is not None:
        w = jnp.concatenate([w, network.b[:, None]], axis=1)
        x = jnp.concatenate([x, jnp.ones_like(x[:, :1])], axis=1)
    x = jnp.where(data.weight[:, None] > 0, x, 0)
    eps, is_frozen = float(jnp.finfo(w.dtype).eps), network.frozen == ("a",)
    slope = network.negative_slope
    neurons = Neurons(wide(w), wide(network.a[:, 0]), slope, is_frozen, eps)
    return neurons, Sample(wide(x), wide(data.y), wide(data.weight), loss)


def output(neurons: Neurons, x: Float[Array, "n e"]) -> Float[Array, " n"]:
    """Value of f on the sample."""
    h = matmul(x, neurons.w.T)
    above = jnp.where(h > 0, h, neurons.slope * h)
    return matmul(above, neurons.a[:, None])[:, 0]


def residual(
    sample: Sample, f: Float[Array, " n"]
) -> tuple[Float[Array, " n"], Float[Array, " n"]]:
    """∂L/∂f and ∂²L/∂f², of a loss that is a sum over the sample."""
    slope = lambda f: jax.grad(sample.loss)(f, sample.y, sample.weight)
    r, curvature = jax.jvp(slope, (f[:, None],), (jnp.ones_like(f[:, None]),))
    return r[:, 0], curvature[:, 0]
