"""Random labels on a quarter of the strings of eight bits."""

from typing import get_args

import jax
import jax.numpy as jnp
from jaxtyping import PRNGKeyArray

from simbias.core import Dataset
from simbias.datasets.biases._laws import InputLaw
from simbias.datasets.biases._one_shape import D, task
from simbias.numerics.walsh_hadamard import cube
from simbias.validation.sample import one_of


def string_quarter(key: PRNGKeyArray, *, law: InputLaw = "uniform") -> Dataset:
    """Random labels on a quarter of the strings of eight bits; the test is all of them.

    Args:
        key: random key.
        law: which quarter, every string of it twice: "uniform", any; "steps", 1 : 2 : 4
            on thirds of the strings in their order; "heavy", a few far more often, as
            ranks of a random order to the power −2; "clusters", those nearest to eight.

    Raises:
        ValueError: for a law that is not known.

    Reference: ours.
    """
    one_of("law", law, get_args(InputLaw))
    key_quarter, key_y, key_centre = jax.random.split(key, 3)
    points = jnp.asarray(cube(D), jnp.float64)
    every = len(points)
    gumbel = jax.random.gumbel(key_quarter, (every,), jnp.float64)
    place = jnp.arange(every, dtype=jnp.float64)
    if law == "uniform":
        weight = jnp.zeros(every, jnp.float64)
    elif law == "steps":
        weight = jnp.log(2.0) * jnp.floor(3 * place / every)
    elif law == "heavy":
        order = jax.random.permutation(key_centre, every)
        weight = -2 * jnp.log1p(order.astype(jnp.float64))
    else:
        centres = jax.random.permutation(key_centre, points)[:8]
        weight = 10 * jnp.max(points @ centres.T, axis=1)
    quarter = jnp.tile(jnp.argsort(-(weight + gumbel))[: every // 4], 2)
    y = jax.random.rademacher(key_y, (every,), jnp.float64)
    rows = jnp.concatenate([quarter, jnp.arange(every)])
    return task(len(quarter), points[rows], y[rows])
