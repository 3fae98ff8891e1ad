"""How well Gabor functions and blobs fit the filters of a first convolution."""

from typing import Any, ClassVar

import jax
import jax.numpy as jnp
from jaxtyping import Array, Float

from simbias.core import AbstractMeasure, Dataset
from simbias.measures.filters._first import first_filters
from simbias.measures.filters._gabor import best_fit, blobs, gabor_pairs


class FilterFits(AbstractMeasure):
    """R² of the best Gabor and the best Gaussian of each filter, and its colour.

    v is any vector of channels; R² is of the whole filter, all channels, about 0.  The
    Gabor functions are without a mean, on a grid (4800, any phase), so that R² is a
    lower bound of that of the best there is.  The colour is the share of ‖v‖² that is
    off grey: 0 for equal channels, 1 for channels that sum to 0.
    """

    dims: ClassVar[tuple[str, ...]] = ("filter", "fit")
    entries: ClassVar = {"fit": ("gabor", "gabor_colour", "blob", "blob_colour")}

    def __call__(self, network: Any, data: Dataset) -> Float[Array, "f 4"]:
        """R² and colour of the Gabor, R² and colour of the blob; from 0 to 1.

        Raises:
            ValueError: for a network without convolutions, or filters below 5 × 5.
        """
        return fits_of(first_filters(network))


def fits_of(filters: Float[Array, "f c s s"]) -> Float[Array, "f 4"]:
    """The four numbers of every filter."""
    size = filters.shape[2]
    banks = [jnp.asarray(f(size), filters.dtype) for f in (gabor_pairs, blobs)]
    one = lambda kernel: jnp.concatenate([best_fit(kernel, bank) for bank in banks])
    return jax.lax.map(one, filters)
