"""A sum of waves on a circle, looked for one by one on an even grid."""

import jax
import jax.numpy as jnp
from jaxtyping import Array, Float, PRNGKeyArray

from simbias.core import Dataset
from simbias.datasets.biases._laws import InputLaw, positions
from simbias.datasets.biases._one_shape import PARTS, D, rows_of, task

FREQUENCIES = (1, 2, 3, 4)


def circle_waves(
    key: PRNGKeyArray, *, law: InputLaw = "uniform", n: int = 128, n_test: int = 256
) -> Dataset:
    """Σ_k sin(2πkp + φ_k), k = 1, …, 4, of a place p on a circle.

    The inputs are 2 (cos 2πp, sin 2πp, 1), the others 0.  `probe` is an even
    grid of n places; `parts` and `probe_parts` are the waves one by one.  The
    law is that of the places on the circle: "heavy" and "clusters" wound around.

    Args:
        key: random key.
        law: of the inputs, of mean 0 and variance 1: "uniform"; "steps", of density
            1 : 2 : 4 on three intervals; "heavy", Student's of three degrees of
            freedom; or "clusters", eight Gaussian ones.
        n: samples.
        n_test: of the test sample.

    Raises:
        ValueError: for a law that is not known or a size that is none.

    Reference: ours.
    """
    rows = rows_of(law, n, n_test)
    key_place, key_phase = jax.random.split(key)
    place = positions(key_place, law, rows)
    phase = jax.random.uniform(key_phase, (len(FREQUENCIES),), jnp.float64)
    parts = _waves(place[:n], phase)
    grid = jnp.arange(n, dtype=jnp.float64) / n
    y = jnp.sum(_waves(place, phase), axis=1)
    probe = _circle(grid), _waves(grid, phase)
    return task(n, _circle(place), y, parts=parts, probe=probe)


def _circle(place: Float[Array, " n"]) -> Float[Array, "n d"]:
    angle = 2 * jnp.pi * place[:, None]
    zero = jnp.zeros((len(place), D - 3), jnp.float64)
    one = jnp.ones_like(angle)
    return 2 * jnp.concatenate([jnp.cos(angle), jnp.sin(angle), one, zero], axis=1)


def _waves(place: Float[Array, " n"], phase: Float[Array, " q"]) -> Float[Array, "n p"]:
    k = jnp.asarray(FREQUENCIES, jnp.float64)
    each = jnp.sin(2 * jnp.pi * (k[None, :] * place[:, None] + phase[None, :]))
    return jnp.pad(each, ((0, 0), (0, PARTS - len(FREQUENCIES))))
