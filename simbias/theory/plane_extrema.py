"""Extremal vectors in the plane, counted for many samples at once."""

from typing import NamedTuple

import jax.numpy as jnp
from jaxtyping import Array, Float, Int

from simbias.core import Real


class PlaneExtrema(NamedTuple):
    """Extrema of G on the unit circle, for aⱼ > 0 and for aⱼ < 0, in this order.

    Attributes:
        inside: maxima of ±G > 0 inside an arc, where w ∝ ±D.
        on_kinks: maxima of ±G > 0 on a hyperplane w·x_k = 0.
        between: minima of ±G > 0, all on hyperplanes: no neuron stays.
        spread: largest angle between two of the maxima (rad); 0 if there is one, NaN if
            there is none.
    """

    inside: Int[Array, " 2"]
    on_kinks: Int[Array, " 2"]
    between: Int[Array, " 2"]
    spread: Float[Array, " 2"]


def plane_extrema(
    x: Float[Array, "n 2"], pull: Float[Array, " n"], slope: Real = 0.0
) -> PlaneExtrema:
    """Number of extrema of G(w) = Σ g_k φ(w·x_k), φ(z) = max(z, αz), by kind.

    The 2n angles of the kinks are sorted, D = ∂G is a cumulative sum, and the slopes at
    both ends of every arc decide: O(n log n), to be traced and mapped over samples.
    For samples in general position; `extremal_vectors` lists the directions themselves
    and knows what to do where kinks coincide.

    Args:
        x: inputs; a row that pulls at nothing is not seen.
        pull: g_k, such as y_k/n.
        slope: α ≤ 1, of the activation for negative inputs; 0 for ReLU.

    Reference: Boursier & Flammarion (2024), arXiv:2401.10791, extremal vectors.
    """
    normal = jnp.arctan2(x[:, 1], x[:, 0])
    part = (1 - slope) * pull[:, None] * x
    angle = jnp.concatenate([normal - jnp.pi / 2, normal + jnp.pi / 2]) % (2 * jnp.pi)
    order = jnp.argsort(angle)
    angle = angle[order]
    jump = jnp.concatenate([part, -part])[order]
    end = jnp.append(angle[1:], angle[0] + 2 * jnp.pi)
    is_active = x @ _unit((angle[:1] + end[:1]) / 2)[0] > 0
    first = jnp.where(is_active, 1.0, slope) * pull @ x
    drive = first[None] + jnp.cumsum(jump, axis=0) - jump[:1]
    # Where nothing is active the sum is rounding, and would seem to pull.
    size = jnp.sum(jnp.abs(pull) * jnp.linalg.norm(x, axis=1))
    tiny = (64 + 2 * x.shape[0]) * jnp.finfo(x.dtype).eps * size
    is_none = jnp.linalg.norm(drive, axis=1, keepdims=True) <= tiny
    drive = jnp.where(is_none, 0.0, drive)
    slope_after = jnp.sum(drive * _tangent(angle), axis=1)
    slope_at_end = jnp.sum(drive * _tangent(end), axis=1)
    slope_before = jnp.roll(slope_at_end, 1)
    value = jnp.sum(drive * _unit(angle), axis=1)
    top = jnp.arctan2(drive[:, 1], drive[:, 0])

    def of(sign: int) -> tuple[Array, ...]:
        before, after, last = (
            sign * v for v in (slope_before, slope_after, slope_at_end)
        )
        grows = sign * value > 0
        inside = (after > 0) & (last < 0)
        on_kink = (before > 0) & (after < 0) & grows
        between = (before < 0) & (after > 0) & grows
        place = jnp.concatenate([top + (jnp.pi if sign < 0 else 0.0), angle])
        spread = _spread(place, jnp.concatenate([inside, on_kink]))
        return inside.sum(), on_kink.sum(), between.sum(), spread

    return PlaneExtrema(*map(jnp.stack, zip(of(1), of(-1), strict=True)))


def _spread(angle: Float[Array, " c"], is_there: Array) -> Float[Array, ""]:
    """Largest angle between those that are there, if all lie in half a circle."""
    one = angle[jnp.argmax(is_there)]
    off = (angle - one + jnp.pi) % (2 * jnp.pi) - jnp.pi
    high = jnp.max(off, where=is_there, initial=-jnp.inf)
    low = jnp.min(off, where=is_there, initial=jnp.inf)
    return jnp.where(is_there.any(), high - low, jnp.nan)


def _unit(angle: Float[Array, " c"]) -> Float[Array, "c 2"]:
    return jnp.stack([jnp.cos(angle), jnp.sin(angle)], axis=1)


def _tangent(angle: Float[Array, " c"]) -> Float[Array, "c 2"]:
    return jnp.stack([-jnp.sin(angle), jnp.cos(angle)], axis=1)
