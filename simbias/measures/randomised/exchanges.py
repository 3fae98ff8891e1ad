"""Outputs and areas under the curve with one part of the inputs exchanged."""

from typing import Any, ClassVar

import equinox as eqx
from jaxtyping import Array, Float

from simbias.core import AbstractMeasure, Dataset
from simbias.measures._randomised import RANDOMISED, dependence, three_logits
from simbias.measures.randomised.randomised_scores import RandomisedScores
from simbias.validation.values import positive_integer


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


class FeatureDependence(AbstractMeasure):
    """Dependence of the network on each feature, by randomising that feature.

    It is 1 − AUC, and E(f(x) − f(xⱼ))² / 2 Var f, xⱼ randomised in feature j alone.

    The part of x along feature j is that of another test sample, as for
    `RandomisedScores`.  The second number is 0 exactly if f does not depend on the
    feature, also where the AUC does not show it.  For independent features it is
    Sobol's total index, 1 if f depends on nothing else.  NaN for a constant f.

    Reference: Shah et al. (2020), arXiv:2006.07710, section 3, for the AUC.
    """

    dims: ClassVar[tuple[str, ...]] = ("feature", "dependence")
    entries: ClassVar = {"dependence": ("auc_loss", "variance_share")}

    def __call__(self, network: Any, data: Dataset) -> Float[Array, "p 2"]:
        """Columns: loss of AUC below 1, share of the variance."""
        return dependence(network, data)
