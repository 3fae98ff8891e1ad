"""A network on a sample, as a function of its weights and of the gates of its units."""

import math
from collections.abc import Callable
from typing import Any, NamedTuple

import equinox as eqx
import jax
import jax.numpy as jnp
from jax.flatten_util import ravel_pytree
from jaxtyping import Array, Bool, Float, Int, PyTree

from simbias.core import Dataset, Loss, Real
from simbias.errors import BadInput
from simbias.flows._shared.weight_decay import traced_decay
from simbias.introspection.array_network import original_network
from simbias.introspection.trained_arrays import split_trained
from simbias.network import Pattern
from simbias.numerics.cut import cut


class GatedSample(NamedTuple):
    """f(x; θ, gates) for every sample, with one flat axis for the gated units.

    θ are the trained weights as one vector.  A *unit* u is a pre-activation of a gated
    layer; `layer` holds the layer of every unit, `slope` its slope for z < 0.
    `is_real` is False for padding.  `weight_decay` is μ of the flow of L + (μ/2)‖θ‖²;
    None is 0.
    """

    x: Float[Array, "n d"]
    y: Float[Array, "n k"]
    weight: Float[Array, " n"]
    is_real: Bool[Array, " n"]
    layer: Int[Array, " u"]
    slope: Float[Array, " u"]
    rest: PyTree
    unravel: Callable[[Float[Array, " p"]], PyTree]
    loss: Loss
    shapes: tuple[tuple[int, ...], ...]
    weight_decay: Float[Array, ""] | None = None

    def outputs(
        self, theta: Float[Array, " p"], scale: Float[Array, "n u"]
    ) -> tuple[Float[Array, "n k"], Float[Array, "n u"]]:
        """Outputs and pre-activations of all samples."""
        network = eqx.combine(self.unravel(theta), self.rest)
        run = lambda x, s: self._run(network, x, s, jnp.zeros_like(s))
        return jax.vmap(run)(self.x, scale)

    def one(
        self,
        theta: Float[Array, " p"],
        x: Float[Array, " d"],
        scale: Float[Array, " u"],
        shift: Float[Array, " u"],
    ) -> tuple[Float[Array, " k"], Float[Array, " u"]]:
        """Output and pre-activations of one sample."""
        return self._run(eqx.combine(self.unravel(theta), self.rest), x, scale, shift)

    def _run(
        self,
        network: Any,
        x: Float[Array, " d"],
        scale: Float[Array, " u"],
        shift: Float[Array, " u"],
    ) -> tuple[Float[Array, " k"], Float[Array, " u"]]:
        parts = lambda v: tuple(cut(v, self.shapes))
        pattern = Pattern(parts(scale), parts(shift))
        out, z = network.gated(x, pattern)
        return out, jnp.concatenate([v.reshape(-1) for v in z])


def gated_sample(
    network: Any, data: Dataset, loss: Loss, weight_decay: Real | None = None
) -> tuple[GatedSample, Float[Array, " p"]]:
    """The sample of a network, and its trained weights as one vector.

    Raises:
        ValueError: if `gated` and `kink_slopes` disagree, or nothing is trained.
    """
    params, rest = split_trained(network)
    theta, unravel = ravel_pytree(params)
    slopes, name = network.kink_slopes, type(original_network(network)).__name__
    shapes = () if slopes is None else _shapes(network, data, len(slopes))
    if slopes is None or len(slopes) != len(shapes):
        raise BadInput(
            f"`kink_slopes` of a {name} must have one slope for each layer whose "
            f"pre-activations `gated` returns, got {slopes}"
            f"{'' if slopes is None else f' for {len(shapes)} layers'}. Example: "
            "(0.0, 0.0) for two layers of relu."
        )
    if theta.size == 0:
        raise BadInput(f"`frozen` of a {name} leaves no weights to train.")
    sizes = [math.prod(shape) for shape in shapes]
    spread = lambda values, dtype: jnp.concatenate(
        [jnp.full(m, v, dtype) for m, v in zip(sizes, values, strict=True)]
    )
    sample = GatedSample(
        data.x,
        data.y,
        data.weight,
        data.weight > 0,
        spread(range(len(sizes)), jnp.int32),
        spread(slopes, theta.dtype),
        rest,
        unravel,
        loss,
        shapes,
        traced_decay(weight_decay, theta.dtype),
    )
    return sample, theta


def with_theta(network: Any, theta: Float[Array, " p"]) -> Any:
    """The network with its trained weights replaced."""
    params, rest = split_trained(network)
    return eqx.combine(ravel_pytree(params)[1](theta), rest)


def _shapes(network: Any, data: Dataset, layers: int) -> tuple[tuple[int, ...], ...]:
    """Shapes of the gated layers: a gate of one number serves a whole layer."""
    one, zero = jnp.ones((), data.x.dtype), jnp.zeros((), data.x.dtype)
    pattern = Pattern((one,) * layers, (zero,) * layers)
    _, z = jax.eval_shape(network.gated, data.x[0], pattern)
    return tuple(v.shape for v in z)
