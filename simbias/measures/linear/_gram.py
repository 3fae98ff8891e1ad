"""The matrix XXᵀ of a sample whose inputs may be padded with zeros."""

import jax.numpy as jnp
from jaxtyping import Array, Bool, Float, Int

from simbias.core import Dataset


def inputs_of(data: Dataset) -> Int[Array, ""]:
    """Number of inputs, d: those that w* sees.  The others are 0 in every sample."""
    return jnp.sum(data.features[0] != 0)


def gram_modes(
    data: Dataset,
) -> tuple[Float[Array, " n"], Float[Array, "n n"], Bool[Array, " n"]]:
    """Eigenvalues and vectors of XXᵀ, and which are of samples and inputs.

    Those are the largest min(n, d); the others are 0 up to rounding.
    """
    x = jnp.where(data.weight[:, None] > 0, data.x, 0)
    values, vectors = jnp.linalg.eigh(x @ x.T)
    rank = jnp.minimum(jnp.sum(data.weight > 0), inputs_of(data))
    return values, vectors, jnp.arange(len(values)) >= len(values) - rank
