"""Shares of the filters of a first convolution that are Gabor, colour, neither."""

from typing import Any, ClassVar

import jax.numpy as jnp
from jaxtyping import Array, Bool, Float

from simbias.core import AbstractMeasure, Dataset
from simbias.measures.filters._first import first_filters
from simbias.measures.filters.filter_fits import fits_of

# R² from which a fit counts, and the share of v's square off grey that is a colour.
FITS = COLOURED = 0.5
KINDS = ("gabor", "colour", "neither")


class FilterKinds(AbstractMeasure):
    """Shares of the filters that are Gabor functions, colours, or neither.

    *Gabor*: the best v ⊗ Gabor has R² ≥ ½, and at least half of ‖v‖² is grey.
    *Colour*: the best v ⊗ Gabor or v ⊗ Gaussian has R² ≥ ½ and a v of which more than
    half is off grey, as where one colour is set against another.  See `FilterFits`.

    Reference: Olah et al. (2020), An overview of early vision in InceptionV1, Distill,
    for the names; there they are given by eye.  The rule is ours.
    """

    dims: ClassVar[tuple[str, ...]] = ("kind",)
    entries: ClassVar = {"kind": KINDS}

    def __call__(self, network: Any, data: Dataset) -> Float[Array, "3"]:
        """Shares that sum to 1.

        Raises:
            ValueError: for a network without convolutions, or filters below 5 × 5.
        """
        is_of = kinds(fits_of(first_filters(network)))
        return jnp.mean(is_of.astype(network.kernels[0].dtype), axis=1)


def kinds(fits: Float[Array, "f 4"]) -> Bool[Array, "3 f"]:
    """Of every filter which of the three it is."""
    gabor, gabor_colour, blob, blob_colour = fits.T
    is_wave, is_blob = gabor >= FITS, blob >= FITS
    is_gabor = is_wave & (gabor_colour <= COLOURED)
    is_coloured = is_wave & (gabor_colour > COLOURED)
    is_coloured |= is_blob & (blob_colour > COLOURED)
    is_coloured &= ~is_gabor
    return jnp.stack([is_gabor, is_coloured, ~(is_gabor | is_coloured)])
