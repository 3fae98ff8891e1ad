"""How much the output depends on each feature alone."""

from typing import Any, ClassVar

from jaxtyping import Array, Float

from simbias.core import AbstractMeasure, Dataset
from simbias.measures._randomised import dependence


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
