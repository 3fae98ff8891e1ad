"""Classes that meet at right angles or wider."""

import jax
import jax.numpy as jnp
from jaxtyping import PRNGKeyArray

from simbias.core import Dataset
from simbias.validation.values import positive_integers


def orthogonally_separable(key: PRNGKeyArray, *, n: int = 20, d: int = 5) -> Dataset:
    """Points y|z| coordinate by coordinate, z ~ N(0, I), with y = ±1 in turn.

    xᵢ·xₖ > 0 if yᵢ = yₖ and < 0 otherwise: what defines orthogonal separability.

    Args:
        key: random key.
        n: samples, the first of them with y = 1.
        d: input dimension.

    Returns:
        The sample, without noise and without a test sample; `features` is the diagonal
        (1, …, 1)/√d.

    Raises:
        ValueError: for a size out of range.

    Reference: Phuong & Lampert (2021), The inductive bias of ReLU networks on
    orthogonally separable data, definition of the data; this law is ours.
    """
    positive_integers(n=n, d=d)
    z = jax.random.normal(key, (n, d), jnp.float64)
    y = jnp.where(jnp.arange(n) % 2 == 0, 1.0, -1.0).astype(jnp.float64)[:, None]
    features = jnp.full((1, d), d**-0.5, jnp.float64)
    return Dataset(y * jnp.abs(z), y, jnp.ones(n), y, features)
