"""What counts as 0, in roundings of the weights' type."""

import jax.numpy as jnp
from jaxtyping import Array, Bool, Float

from simbias.flows._deep.gated_sample import GatedSample


def unit_sizes(sample: GatedSample, z: Float[Array, "n u"]) -> Float[Array, " u"]:
    """Largest |z| of every unit; at least 8 ε^¼ times that in its layer, ε a rounding.

    From a small initialisation some units of a layer may be 10⁹ times smaller than
    others.  `of_surface` times this is 8 ε of the layer or more: a unit may be large
    and yet near 0 on all samples.
    """
    own = jnp.max(jnp.where(sample.is_real[:, None], jnp.abs(z), 0), axis=0)
    is_same = sample.layer[:, None] == sample.layer[None, :]
    of_layer = jnp.max(jnp.where(is_same, own[None, :], 0), axis=1)
    least = min(8 * float(jnp.finfo(z.dtype).eps) ** 0.25, 1.0)
    return jnp.maximum(own, least * of_layer)


def of_surface(dtype: jnp.dtype) -> float:
    """|z| below this share of the unit's size is 0: 1.8e-12 in float64."""
    return float(jnp.finfo(dtype).eps) ** 0.75


def on_wrong_side(
    sample: GatedSample, is_above: Bool[Array, "n u"], z: Float[Array, "n u"]
) -> Bool[Array, "n u"]:
    """Entries whose z is beyond 0 by more than what counts as 0."""
    limit = (of_surface(z.dtype) * unit_sizes(sample, z))[None]
    return jnp.where(is_above, z < -limit, z > limit)


def of_multiplier(dtype: jnp.dtype) -> float:
    """Multipliers outside by this share are outside: 1e-10 in float64."""
    return float(jnp.finfo(dtype).eps) ** 0.64


def of_speed(dtype: jnp.dtype) -> float:
    """Speeds below this share of |∇z| |θ'| are 0: 1e-11 in float64."""
    return float(jnp.finfo(dtype).eps) ** 0.7


def of_parallel(dtype: jnp.dtype) -> float:
    """Normals are parallel if 1 − |cos| is below this."""
    return 200 * float(jnp.finfo(dtype).eps)
