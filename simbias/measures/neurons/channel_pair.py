"""The two neurons that are nearest to a channel to infinity."""

from collections.abc import Callable, Mapping
from typing import Any, ClassVar

import jax.numpy as jnp
from jaxtyping import Array, Bool, Float

from simbias.core import AbstractMeasure, Dataset
from simbias.measures._neurons import incoming, single_output


class ChannelPair(AbstractMeasure):
    """Distance, output weight and slope of the closest neurons with aᵢaⱼ < 0.

    In a channel aᵢ, aⱼ → ±∞ and wᵢ → wⱼ such that a (wᵢ − wⱼ) has a limit v and

        aᵢ φ(wᵢ·x) + aⱼ φ(wⱼ·x) → c φ(w·x) + (v·x) φ'(w·x).

    The numbers are |wᵢ − wⱼ|/(|wᵢ| + |wⱼ|), a = |aᵢ − aⱼ|/2, and a |wᵢ − wⱼ|, whose
    limit is |v|, for the pair of the least first number.  A bias is an entry of w.  For
    odd or even φ a neuron may be replaced by its mirror image −w.  NaN without a pair
    of unlike signs, or if w = 0 for both.

    Reference: Martinelli et al. (2025), arXiv:2506.14951.
    """

    dims: ClassVar[tuple[str, ...]] = ("number",)
    entries: ClassVar[Mapping[str, tuple[str, ...]]] = {
        "number": ("distance", "weight", "slope")
    }

    def __call__(self, network: Any, data: Dataset) -> Float[Array, " number"]:
        """Of a two-layer network with one output."""
        w, a = incoming(network), single_output(network)
        mirror = _parity(network.activation, a.dtype)
        plain = _pair(w[:, None] - w[None, :], w, a[:, None] - a[None, :])
        plain = _best(plain, _is_above(a) & (a[:, None] * a[None, :] < 0))
        turned = _pair(w[:, None] + w[None, :], w, a[:, None] - mirror * a[None, :])
        unlike = mirror * a[:, None] * a[None, :] < 0
        turned = _best(turned, _is_above(a) & unlike)
        is_plain = jnp.isnan(turned[0]) | (plain[0] <= turned[0])
        return jnp.where(is_plain, plain, turned)


def _parity(activation: Callable[[Array], Array], dtype: jnp.dtype) -> Float[Array, ""]:
    """1 if φ(−z) = φ(z), −1 if φ(−z) = −φ(z), else 0; at two places."""
    z = jnp.array([0.3, 1.7], dtype)
    up, down = activation(z), activation(-z)
    is_odd = jnp.allclose(up, -down)
    return jnp.where(jnp.allclose(up, down), 1, jnp.where(is_odd, -1, 0)).astype(dtype)


def _is_above(a: Float[Array, " m"]) -> Bool[Array, "m m"]:
    """Every pair once."""
    return jnp.triu(jnp.ones((len(a), len(a)), bool), 1)


def _pair(
    gap: Float[Array, "m m e"], w: Float[Array, "m e"], rise: Float[Array, "m m"]
) -> Float[Array, "3 m m"]:
    size = jnp.linalg.norm(w, axis=1)
    both = size[:, None] + size[None, :]
    length = jnp.linalg.norm(gap, axis=2)
    weight = jnp.abs(rise) / 2
    far = jnp.where(both > 0, length / jnp.where(both > 0, both, 1), jnp.nan)
    return jnp.stack([far, weight, weight * length])


def _best(
    numbers: Float[Array, "3 m m"], allowed: Bool[Array, "m m"]
) -> Float[Array, "3"]:
    distance = jnp.where(allowed & jnp.isfinite(numbers[0]), numbers[0], jnp.inf)
    place = jnp.argmin(distance)
    found = numbers.reshape(3, -1)[:, place]
    return jnp.where(jnp.isfinite(distance.ravel()[place]), found, jnp.nan)
