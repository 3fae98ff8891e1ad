"""Risk of ridge regression on the inputs of a sample."""

from typing import Any, ClassVar

import equinox as eqx
import jax.numpy as jnp
import numpy as np
from jaxtyping import Array, Float

from simbias.core import AbstractMeasure, Dataset
from simbias.measures.linear._gram import gram_modes, inputs_of


class RidgeRisk(AbstractMeasure):
    """Risk of ridge regression given the inputs, averaged over the noise.

    ŵ = (XᵀX + k)⁻¹Xᵀy with k = s·d; in eigenvectors vᵢ of XᵀX, Λᵢ its eigenvalues,

        bias = Σᵢ (k/(Λᵢ + k))² (vᵢ·w*)² + ‖P⊥w*‖²
        variance = Σᵢ Λᵢ/(Λᵢ + k)²

    E‖ŵ − w*‖² = bias + σ² · variance, the excess risk on inputs x ~ N(0, I).  s = 0 is
    least squares of least norm.  For w* of norm 1 the best s is σ², for any X, on
    average over the directions of w*.  The teacher w* is the first of `data.features`;
    d counts the inputs at which it is not 0.

    Args:
        penalties: values of s.

    Reference: Hastie, Montanari, Rosset & Tibshirani (2022), arXiv:1903.08560, §2–5.
    """

    penalties: tuple[float, ...] = eqx.field(static=True)
    dims: ClassVar[tuple[str, ...]] = ("penalty", "term")

    def coords(self) -> dict[str, np.ndarray]:
        """Penalties s, and which of the two terms."""
        return {
            "penalty": np.asarray(self.penalties),
            "term": np.asarray(["bias", "variance"]),
        }

    def __call__(self, network: Any, data: Dataset) -> Float[Array, "q 2"]:
        """Bias and variance at each s."""
        teacher = data.features[0]
        values, vectors, is_there = gram_modes(data)
        safe = jnp.where(is_there, values, 1)
        # (vᵢ·w*)², by vᵢ = Xᵀuᵢ/√Λᵢ for the eigenvectors uᵢ of XXᵀ.
        along = (vectors.T @ (data.x @ teacher)) ** 2 / safe
        along = jnp.where(is_there, along, 0)
        outside = jnp.maximum(jnp.sum(teacher**2) - jnp.sum(along), 0)
        d = inputs_of(data).astype(values.dtype)
        k = d * jnp.asarray(self.penalties, values.dtype)[:, None]
        total = (safe[None] + k) ** 2
        bias = jnp.sum(k**2 / total * along[None], axis=1) + outside
        variance = jnp.sum(jnp.where(is_there, safe, 0)[None] / total, axis=1)
        return jnp.stack([bias, variance], axis=1)
