"""AUC once the simple, or the complex, features tell nothing."""

from typing import Any, ClassVar

import equinox as eqx
from jaxtyping import Array, Float

from simbias.core import AbstractMeasure, Dataset
from simbias.measures._randomised import RANDOMISED
from simbias.measures.randomised.randomised_scores import RandomisedScores


class RandomisedAuc(AbstractMeasure):
    """The AUC of `RandomisedScores` alone.

    Args:
        simple: number of features in S.

    Reference: Shah et al. (2020), arXiv:2006.07710, section 3.
    """

    simple: int = eqx.field(static=True, default=1)
    dims: ClassVar[tuple[str, ...]] = ("randomised",)
    entries: ClassVar = {"randomised": RANDOMISED}
    test_targets: ClassVar[str] = "signs"

    def __call__(self, network: Any, data: Dataset) -> Float[Array, "3"]:
        """Nothing, the simple, the complex features randomised."""
        return RandomisedScores(simple=self.simple)(network, data)[:, 0]
