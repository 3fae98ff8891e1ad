"""The four laws of inputs, of mean 0 and variance 1."""

from typing import Literal

import jax
import jax.numpy as jnp
from jaxtyping import Array, Float, PRNGKeyArray

InputLaw = Literal["uniform", "steps", "heavy", "clusters"]
# Of the law that is 1 : 2 : 4 on the thirds of [0, 1].
_ENDS, _BELOW = (0, 1 / 3, 2 / 3, 1), (0, 1 / 7, 3 / 7, 1)
_MEAN = 9 / 14
_DEVIATION = ((1 / 36 + 2 / 4 + 4 * 25 / 36) / 7 + 1 / 108 - _MEAN**2) ** 0.5
CLUSTERS, _SPREAD = 8, 0.2


def inputs(
    key: PRNGKeyArray, law: InputLaw, rows: int, d: int
) -> Float[Array, "rows d"]:
    """Rows of d coordinates.

    "uniform" U(±√3); "steps" density 1 : 2 : 4 on three intervals of one length;
    "heavy" Student's law of three degrees of freedom, whose fourth moment is infinite;
    "clusters" eight Gaussian ones of deviation 0.2, row i in cluster i mod 8, centres
    Gaussian and the same for all rows.  But for "clusters" coordinates are independent.
    """
    if law in ("uniform", "steps"):
        u = jax.random.uniform(key, (rows, d), jnp.float64)
        if law == "uniform":
            return 3**0.5 * (2 * u - 1)
        return (_third(u) - _MEAN) / _DEVIATION
    if law == "heavy":
        z = jax.random.normal(key, (4, rows, d), jnp.float64)
        return z[0] / jnp.sqrt(jnp.sum(z[1:] ** 2, axis=0))
    z = jax.random.normal(key, (CLUSTERS + rows, d), jnp.float64)
    centres = (1 - _SPREAD**2) ** 0.5 * z[:CLUSTERS]
    which = jnp.arange(rows) % CLUSTERS
    return centres[which] + _SPREAD * z[CLUSTERS:]


def positions(key: PRNGKeyArray, law: InputLaw, rows: int) -> Float[Array, " rows"]:
    """Places on a circle of length 1.

    "uniform"; "steps" 1 : 2 : 4 on three arcs; "heavy" ½ + 0.15 z wound around, z of
    Student's law; "clusters" around i/8, of deviation 0.02.
    """
    if law == "clusters":
        z = jax.random.normal(key, (rows,), jnp.float64)
        return (jnp.arange(rows) % CLUSTERS / CLUSTERS + 0.02 * z) % 1
    z = inputs(key, law, rows, 1)[:, 0]
    centre, size = {
        "uniform": (0.5, 12**-0.5),
        "steps": (_MEAN, _DEVIATION),
        "heavy": (0.5, 0.15),
    }[law]
    return (centre + size * z) % 1


def _third(u: Float[Array, "..."]) -> Float[Array, "..."]:
    return jnp.interp(u, jnp.asarray(_BELOW, u.dtype), jnp.asarray(_ENDS, u.dtype))
