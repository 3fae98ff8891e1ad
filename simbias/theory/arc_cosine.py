"""Means over Gaussian inputs of products of ReLU or leaky ReLU neurons."""

from collections.abc import Callable

import jax
import jax.numpy as jnp
from jaxtyping import Array, Float

from simbias.core import Real

Pair = tuple[Float[Array, "*c d"], Float[Array, "*c d"]]


def arc_cosine(
    u: Float[Array, "*c d"], v: Float[Array, "*c d"], slope: Real = 0.0
) -> Float[Array, "*c"]:
    """E φ(u·x) φ(v·x) over x ~ N(0, I), φ(h) = h for h > 0 and slope·h else.

    (1 − s)² |u||v| (sin θ + (π − θ) cos θ)/2π + s u·v,  θ the angle between u and v

    For ReLU, s = 0, this is half the arc-cosine kernel of order 1; for s = 1, the
    identity, it is u·v.  θ is known to its last digits also where it is small, which
    arccos does not give.

    Args:
        u: vectors, none of them 0.
        v: as many.
        slope: s.

    Reference: Cho & Saul (2009), Kernel methods for deep learning, NeurIPS 22, eq. 6,
    whose kernel has a factor 2.
    """
    linear = jnp.sum(u * v, axis=-1)
    return (1 - slope) ** 2 * _of_relu(u, v) + slope * linear


@jax.custom_jvp
def _of_relu(u: Float[Array, "*c d"], v: Float[Array, "*c d"]) -> Float[Array, "*c"]:
    size = jnp.linalg.norm(u, axis=-1) * jnp.linalg.norm(v, axis=-1)
    angle = _angle(u, v)
    kernel = jnp.sin(angle) + (jnp.pi - angle) * jnp.cos(angle)
    return size * kernel / (2 * jnp.pi)


@_of_relu.defjvp
def _of_relu_jvp(at: Pair, along: Pair) -> tuple[Array, Array]:
    """By the gradient in closed form: that of the angle is NaN at u = v."""
    (u, v), (du, dv) = at, along
    change = arc_cosine_gradient(u, v) * du + arc_cosine_gradient(v, u) * dv
    return _of_relu(u, v), jnp.sum(change, axis=-1)


def arc_cosine_gradient(
    u: Float[Array, "*c d"], v: Float[Array, "*c d"], slope: Real = 0.0
) -> Float[Array, "*c d"]:
    """∂/∂u of `arc_cosine(u, v)`, v held fixed.

    (1 − s)² (|v| sin θ u/|u| + (π − θ) v)/2π + s v

    Continuous except at u = 0, and differentiable except at θ = 0 and π.  The gradient
    of `arc_cosine(u, u)` is twice this at v = u.

    Reference: Brutzkus & Globerson (2017), arXiv:1702.07966, the gradient of their g.
    """
    length = lambda w: jnp.linalg.norm(w, axis=-1, keepdims=True)
    angle = _angle(u, v)[..., None]
    turning = length(v) * jnp.sin(angle) * u / length(u) + (jnp.pi - angle) * v
    return (1 - slope) ** 2 * turning / (2 * jnp.pi) + slope * v


def over_pairs(
    kernel: Callable[..., Array],
    u: Float[Array, "m d"],
    v: Float[Array, "q d"],
    slope: Real = 0.0,
) -> Float[Array, "m q *c"]:
    """`arc_cosine` or its gradient of every row of u with every row of v."""
    shape = (u.shape[0], *v.shape)
    rows = jnp.broadcast_to(u[:, None, :], shape)
    columns = jnp.broadcast_to(v[None, :, :], shape)
    return kernel(rows, columns, slope)


def _angle(u: Float[Array, "*c d"], v: Float[Array, "*c d"]) -> Float[Array, "*c"]:
    """Between u and v, by Kahan's formula: 2 atan2(|û − v̂|, |û + v̂|)."""
    length = lambda w: jnp.linalg.norm(w, axis=-1, keepdims=True)
    u, v = u / length(u), v / length(v)
    apart, together = length(u - v)[..., 0], length(u + v)[..., 0]
    return 2 * jnp.arctan2(apart, together)
