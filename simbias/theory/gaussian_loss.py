"""Loss of sums of ReLU or leaky ReLU neurons over Gaussian inputs."""

import jax.numpy as jnp
from jaxtyping import Array, Float

from simbias.core import Real
from simbias.theory.arc_cosine import arc_cosine, over_pairs


def gaussian_loss(
    w: Float[Array, "m d"], teacher: Float[Array, "q d"], slope: Real = 0.0
) -> Float[Array, ""]:
    """½ E (Σⱼ φ(wⱼ·x) − Σᵢ φ(vᵢ·x))² over x ~ N(0, I), φ(h) = max(h, s·h).

    ½ (Σᵢⱼ k(wᵢ, wⱼ) − 2 Σᵢⱼ k(wᵢ, vⱼ) + Σᵢⱼ k(vᵢ, vⱼ)),  k the `arc_cosine`

    Args:
        w: neurons, none of them 0.
        teacher: the vᵢ.
        slope: s.

    Reference: Brutzkus & Globerson (2017), arXiv:1702.07966.
    """
    total = lambda u, v: jnp.sum(over_pairs(arc_cosine, u, v, slope))
    whole = total(w, w) - 2 * total(w, teacher) + total(teacher, teacher)
    # What cancels leaves rounding, which may be below 0.
    return jnp.maximum(whole / 2, 0)
