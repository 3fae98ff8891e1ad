"""Adversarial perturbations: the worst inputs near the given ones, or nearly so."""

from collections.abc import Callable
from typing import Literal

import jax
import jax.numpy as jnp
from jaxtyping import Array, Float

from simbias.core import Loss, Real

Norm = Literal["l2", "linf"]


def projected_ascent(
    outputs: Callable[[Float[Array, "n d"]], Float[Array, "n k"]],
    loss: Loss,
    x: Float[Array, "n d"],
    y: Float[Array, "n k"],
    weight: Float[Array, " n"],
    *,
    radius: Real,
    norm: Norm = "l2",
    steps: int = 10,
) -> Float[Array, "n d"]:
    """Perturbations δᵢ, ‖δᵢ‖ ≤ radius, that raise the loss: PGD from δ = 0.

        δᵢ ← P(δᵢ + (2.5 radius/steps) u(gᵢ)),   gᵢ = ∂ℓ(f(xᵢ + δᵢ), yᵢ)/∂xᵢ

    with u(g) = g/‖g‖ for "l2" and sign g for "linf", and P the nearest point of the
    ball.  A sample without gradient, as padding, is left where it is.  No random
    start: the result is a function of its arguments.

    Args:
        outputs: those of the network on a whole sample, such as `jax.vmap(network)`.
        loss: ℓ, a mean over the sample.
        x: inputs.
        y: targets.
        weight: 0 for padding.
        radius: largest ‖δᵢ‖.
        norm: "l2" or "linf".
        steps: of the ascent.

    Reference: Madry et al. (2018), arXiv:1706.06083.
    """
    unit, project = _GEOMETRY[norm]
    size = jnp.asarray(radius, x.dtype)

    def total(delta: Float[Array, "n d"]) -> Float[Array, ""]:
        return loss(outputs(x + delta), y, weight)

    def step(delta: Float[Array, "n d"], _: None) -> tuple[Array, None]:
        move = (2.5 / steps) * size * unit(jax.grad(total)(delta))
        return project(delta + move, size), None

    return jax.lax.scan(step, jnp.zeros_like(x), None, length=steps)[0]


def _unit_l2(g: Float[Array, "n d"]) -> Float[Array, "n d"]:
    # The gradient of a mean is small; scaled first, its square does not underflow.
    largest = jnp.max(jnp.abs(g), axis=1, keepdims=True)
    scaled = g / jnp.where(largest > 0, largest, 1)
    length = jnp.linalg.norm(scaled, axis=1, keepdims=True)
    return scaled / jnp.where(length > 0, length, 1)


def _ball_l2(delta: Float[Array, "n d"], size: Float[Array, ""]) -> Float[Array, "n d"]:
    length = jnp.linalg.norm(delta, axis=1, keepdims=True)
    return delta * jnp.where(length > size, size / jnp.maximum(length, size), 1)


def _ball_linf(
    delta: Float[Array, "n d"], size: Float[Array, ""]
) -> Float[Array, "n d"]:
    return jnp.clip(delta, -size, size)


_Row = Callable[[Float[Array, "n d"]], Float[Array, "n d"]]
_Ball = Callable[[Float[Array, "n d"], Float[Array, ""]], Float[Array, "n d"]]
_GEOMETRY: dict[str, tuple[_Row, _Ball]] = {
    "l2": (_unit_l2, _ball_l2),
    "linf": (jnp.sign, _ball_linf),
}
