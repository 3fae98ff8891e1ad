"""Correlations of the labels with parities, and of a majority with its bits."""

from typing import Any, ClassVar

import jax.numpy as jnp
import numpy as np
from jaxtyping import Array, Float

from simbias.core import AbstractMeasure, Dataset
from simbias.numerics.walsh_hadamard import cube, walsh_coefficients


class ParityCorrelations(AbstractMeasure):
    """Correlation of the labels with χ_I, and the largest with a parity of fewer bits.

    I are the bits at which `features[0]` is 1; the sample must be all of `cube(d)`.
    `majority` is the least correlation of the majority of the bits of I (for even |I|,
    of all but the last) with one of these bits: C(k−1, (k−1)/2)/2^{k−1}.
    """

    dims: ClassVar[tuple[str, ...]] = ("correlation",)
    entries: ClassVar = {"correlation": ("own", "fewer_bits", "majority")}

    def __call__(self, network: Any, data: Dataset) -> Float[Array, " 3"]:
        """By name; the network is not looked at."""
        subset = data.features[0]
        d, size = subset.shape[0], jnp.sum(subset)
        bits = jnp.asarray(cube(d) < 0, subset.dtype)
        place = jnp.sum(subset * 2.0 ** jnp.arange(d, dtype=subset.dtype)).astype(
            jnp.int32
        )
        labels = walsh_coefficients(data.y[:, 0])
        has_fewer = jnp.sum(bits, axis=1) < size
        fewer = jnp.max(jnp.where(has_fewer, jnp.abs(labels), 0))
        count = jnp.cumsum(subset) * subset
        odd = jnp.where((count > 0) & (count <= size - 1 + size % 2), 1.0, 0.0)
        votes = walsh_coefficients(jnp.sign(data.x @ odd))[2 ** np.arange(d)]
        least = jnp.min(jnp.where(odd > 0, votes, jnp.inf))
        return jnp.stack([labels[place], fewer, least])
