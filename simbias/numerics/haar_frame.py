"""Uniform orthonormal columns."""

import jax
import jax.numpy as jnp
from jaxtyping import Array, Float, PRNGKeyArray


def haar_frame(key: PRNGKeyArray, rows: int, columns: int) -> Float[Array, "p q"]:
    """Q of a Gaussian matrix: columns q ≤ p that are orthonormal, by Haar's measure.

    The signs of a Householder factor are not random, so Q·sign(diag R): without the
    signs the first entry of the first column would always be negative.

    Reference: Mezzadri (2007), arXiv:math-ph/0609050, section 5.
    """
    z = jax.random.normal(key, (rows, columns), jnp.float64)
    frame, triangle = jnp.linalg.qr(z)
    return frame * jnp.sign(jnp.diag(triangle))[None, :]
