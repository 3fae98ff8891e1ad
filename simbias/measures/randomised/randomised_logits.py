"""Logits of the test sample with features randomised, for histograms and ensembles."""

from typing import Any, ClassVar

import equinox as eqx
from jaxtyping import Array, Float

from simbias.core import AbstractMeasure, Dataset
from simbias.measures._randomised import RANDOMISED, three_logits
from simbias.validation.values import positive_integer


class RandomisedLogits(AbstractMeasure):
    """Outputs on every test input: as it is, S-randomised, Sᶜ-randomised.

    See `RandomisedScores` for S.  The permutation is fixed, so that logits of several
    networks on one dataset belong to the same inputs and may be averaged.  Large:
    record it at the end.
    """

    simple: int = eqx.field(static=True, default=1)
    dims: ClassVar[tuple[str, ...]] = ("randomised", "sample")
    entries: ClassVar = {"randomised": RANDOMISED}

    def __check_init__(self):
        positive_integer("simple", self.simple)

    def __call__(self, network: Any, data: Dataset) -> Float[Array, "3 n"]:
        """Rows: nothing, the simple, the complex features randomised."""
        return three_logits(network, data, self.simple)
