"""Procedural textures whose class no linear classifier sees."""

import jax
import jax.numpy as jnp
from jaxtyping import Array, Float, Int, PRNGKeyArray

from simbias.core import Real

SIDE = 8
_ANGLES, _WAVELENGTHS = 5, (2.7, 4.5)


def textures(
    key: PRNGKeyArray, label: Int[Array, " n"], noise: Real
) -> Float[Array, "n 1 y x"]:
    """(√2 sin(k·(i, j) + φ) + σz)/√(1 + σ²), with φ uniform and z ~ N(0, 1).

    The wave vector k is that of the class: five angles, at a wavelength of 2.7 pixels
    for the classes 0 to 4 and of 4.5 for 5 to 9.  Whatever the class, a pixel has mean
    0 and variance 1: classes differ in the correlations of pixels only.
    """
    key_phase, key_noise = jax.random.split(key)
    phase = jax.random.uniform(key_phase, label.shape, jnp.float64) * 2 * jnp.pi
    z = jax.random.normal(key_noise, (*label.shape, SIDE, SIDE), jnp.float64)
    angle = jnp.pi * (label % _ANGLES).astype(jnp.float64) / _ANGLES
    rate = 2 * jnp.pi / jnp.asarray(_WAVELENGTHS, jnp.float64)[label // _ANGLES]
    i = jnp.arange(SIDE, dtype=jnp.float64)
    along = (rate * jnp.cos(angle))[:, None, None] * i[None, :, None]
    across = (rate * jnp.sin(angle))[:, None, None] * i[None, None, :]
    wave = jnp.sqrt(2.0) * jnp.sin(along + across + phase[:, None, None])
    sigma = jnp.asarray(noise, jnp.float64)
    return ((wave + sigma * z) / jnp.sqrt(1 + sigma**2))[:, None]
