"""Classes of which a line sees a part, and a bend the rest."""

import jax.numpy as jnp
from jaxtyping import PRNGKeyArray

from simbias.core import Dataset
from simbias.datasets.biases._laws import InputLaw, inputs
from simbias.datasets.biases._one_shape import D, rows_of, task, with_one


def line_and_bend(
    key: PRNGKeyArray, *, law: InputLaw = "uniform", n: int = 128, n_test: int = 256
) -> Dataset:
    """Y = sign(u₁ + 1.5 (|u₂| − mean)), of which a line sees a part.

    Seven coordinates are of the law, the last is 1.

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
    u = inputs(key, law, rows, D - 1)
    bent = jnp.abs(u[:, 1])
    score = u[:, 0] + 1.5 * (bent - jnp.mean(bent))
    y = jnp.where(score > 0, 1.0, -1.0).astype(u.dtype)
    return task(n, with_one(u), y)
