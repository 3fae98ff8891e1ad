"""Coloured dead leaves: images of shapes that cover each other."""

import jax
import jax.numpy as jnp
from jaxtyping import Array, Bool, Float, Int, PRNGKeyArray

SIDE = 16
SHAPES = ("disc", "square", "triangle")
_LEAVES = 40
# Radii in pixels: density ∝ r⁻³ between these, which is invariant under scaling.
_SMALLEST, _LARGEST = 1.5, 12.0


def dead_leaves(
    key: PRNGKeyArray, label: Int[Array, " n"]
) -> Float[Array, "n 3 16 16"]:
    """Images of `_LEAVES` leaves of one shape each, and a ground; values in [0, 1].

    A leaf has the shape of the image's class (0 disc, 1 square, 2 triangle), a uniform
    place, angle and colour, and a radius of density ∝ r⁻³, that of the disc of equal
    area; it covers those drawn before.  So angle and hue say nothing of the class.

    Reference: Lee, Mumford & Huang (2001), Int. J. Comput. Vis. 41, 35; Baradad et al.
    (2021), Learning to see by looking at noise, arXiv:2106.05963.
    """
    n = label.shape[0]
    draw = jax.random.uniform(key, (4 + 3, n, _LEAVES + 1), jnp.float64)
    # u → r with P(r > s) ∝ s⁻² − _LARGEST⁻².
    wide, narrow = _LARGEST**-2, _SMALLEST**-2
    radius = (wide + draw[0] * (narrow - wide)) ** -0.5
    margin = _LARGEST / 2
    place = -margin + draw[1:3] * (SIDE - 1 + 2 * margin)
    angle = 2 * jnp.pi * draw[3]

    def one(leaves):
        radius, place, angle, colour, shape = leaves
        is_inside = _inside(radius, place, angle, shape)
        # The ground, the last, is everywhere.
        is_inside = is_inside.at[-1].set(True)
        return colour[:, jnp.argmax(is_inside, axis=0)]

    by_image = lambda v: jnp.moveaxis(v, 0, 1)
    leaves = (radius, by_image(place), angle, by_image(draw[4:]), label)
    return jax.lax.map(one, leaves, batch_size=64).reshape(n, 3, SIDE, SIDE)


def _inside(
    radius: Float[Array, " leaf"],
    place: Float[Array, "2 leaf"],
    angle: Float[Array, " leaf"],
    shape: Int[Array, ""],
) -> Bool[Array, "leaf pixel"]:
    i = jnp.arange(SIDE, dtype=jnp.float64)
    dy = jnp.repeat(i, SIDE)[None, :] - place[0][:, None]
    dx = jnp.tile(i, SIDE)[None, :] - place[1][:, None]
    cos, sin = jnp.cos(angle)[:, None], jnp.sin(angle)[:, None]
    along, across = cos * dx + sin * dy, cos * dy - sin * dx
    r = radius[:, None]
    disc = along**2 + across**2 <= r**2
    square = jnp.maximum(jnp.abs(along), jnp.abs(across)) <= jnp.sqrt(jnp.pi) / 2 * r
    # Equilateral, of inradius ρ: area 3√3 ρ².
    inner = jnp.sqrt(jnp.pi / (3 * jnp.sqrt(3.0))) * r
    slant = jnp.sqrt(3.0) / 2 * jnp.abs(across)
    triangle = jnp.maximum(-along, along / 2 + slant) <= inner
    return jnp.stack([disc, square, triangle])[shape]
