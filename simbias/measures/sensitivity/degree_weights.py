"""How much of a function on strings is made of parities of k bits."""

from typing import Any, ClassVar

import jax.numpy as jnp
from jaxtyping import Array, Float

from simbias.core import AbstractMeasure, Dataset
from simbias.measures.sensitivity._cube import all_strings, is_one
from simbias.numerics import boolean_sensitivity


class DegreeWeights(AbstractMeasure):
    """Weight of each degree in the Fourier expansion of a Boolean function.

    W_k = Σ_{|S|=k} f̂(S)², k = 0, …, n, of f = ±1, the sign of the output.

    They sum to 1, and Σ_k (k/n) W_k is the sensitivity.  n ≤ 12 bits.

    Reference: O'Donnell (2014), Analysis of Boolean functions, sections 1.4 and 2.3.
    """

    dims: ClassVar[tuple[str, ...]] = ("degree",)

    def __call__(self, network: Any, data: Dataset) -> Float[Array, " degree"]:
        """Weights of all degrees; a network of one output.

        Raises:
            ValueError: for several outputs, or for more than 12 bits.
        """
        seen = is_one(network, all_strings(data))
        values = jnp.where(seen, 1, -1).astype(data.x.dtype)
        return boolean_sensitivity.degree_weights(values)
