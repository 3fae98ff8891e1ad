"""What neurons see on the two sides of the hyperplanes that they slide on."""

import jax.numpy as jnp
from jaxtyping import Array, Bool, Float

from simbias.limits.classes import Classes
from simbias.numerics.precision import matmul


def sides_of(
    of: Classes, slope: float, x: Float[Array, "n e"]
) -> Float[Array, "2 r p n"]:
    """What moves a class across each of its planes, from below and from above.

    Per unit of a, and of −r: along the dual of the normals, by the samples that are
    active there.
    """
    is_back = of.planes.is_reversed[None, :]
    below = of.factor + jnp.where(of.on, jnp.where(is_back, 1, slope), 0)
    above = of.factor + jnp.where(of.on, jnp.where(is_back, slope, 1), 0)
    along = jnp.einsum("ne,gpe->gpn", x, of.sliding.dual, precision="highest")
    return jnp.stack([below, above])[:, :, None, :] * along[None]


def held(
    of: Classes,
    sides: Float[Array, "2 r p n"],
    sign: Float[Array, " r"],
    r: Float[Array, " n"],
    changes: Float[Array, "2 r p"],
    is_open: Bool[Array, "2 r p"],
) -> Bool[Array, " r"]:
    """Whether classes are pushed back to all planes from all sides but open ones.

    Args:
        of: the classes.
        sides: `sides_of` them.
        sign: of a.
        r: ∂L/∂f.
        changes: of what pushes a class, that must not matter.
        is_open: sides on which nothing has to push: below, above.
    """
    speed = -sign[None, :, None] * matmul(sides, r[:, None])[:, :, :, 0]
    is_up = (speed[0] > changes[0]) | is_open[0]
    is_down = (speed[1] < -changes[1]) | is_open[1]
    return jnp.all((is_up & is_down) | (of.sliding.row < 0), axis=1)
