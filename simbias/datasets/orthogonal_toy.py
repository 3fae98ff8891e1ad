"""Two orthogonal points, the smallest example of incremental learning."""

import jax.numpy as jnp
from jaxtyping import PRNGKeyArray

from simbias.core import Dataset
from simbias.datasets._fixed import fixed_sample


def orthogonal_toy(key: PRNGKeyArray) -> Dataset:
    """x = (−½, 1) with y = −1 and x = (2, 1) with y = 1; the points are orthogonal.

    The loss rests on a plateau, fits one sign, rests again, and reaches zero at the
    interpolator of least norm: Σ₊ aⱼwⱼ = (0.4, 0.2), Σ₋ aⱼwⱼ = (0.4, −0.8),
    ½‖θ‖² = 1.341641.

    Args:
        key: not used, the sample is fixed; taken so that every dataset is called alike.

    Reference: Boursier, Pillaud-Vivien & Flammarion (2022), arXiv:2206.00939.
    """
    del key
    return fixed_sample(jnp.asarray([-0.5, 2.0], jnp.float64), (-1.0, 1.0))
