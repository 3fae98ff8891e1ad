"""Area under the ROC curve once the simple, or the complex, features tell nothing."""

from typing import Any, ClassVar

import equinox as eqx
import jax
import numpy as np
from jaxtyping import Array, Float

from simbias.checks import positive_integer
from simbias.core import AbstractMeasure, Dataset
from simbias.measures._randomised import RANDOMISED, area_under_curve, three_logits
from simbias.measures._sample import second_sample


class RandomisedAuc(AbstractMeasure):
    """AUC of f on the test sample: as it is, S-randomised, Sᶜ-randomised.

    S is the span of the first `simple` features.  S-randomised: the part of every input
    in S is that of another test sample; Sᶜ-randomised: the part outside is.  All of S
    is taken from one sample, so its own law stays.  A network that looks at S alone has
    AUC ½ once S is randomised and loses nothing when the rest is.

    One output; positive labels are y > 0.  Ties count half.  The permutation is fixed.

    Args:
        simple: number of features in S.

    Reference: Shah et al. (2020), arXiv:2006.07710, section 3.
    """

    simple: int = eqx.field(static=True, default=1)
    dims: ClassVar[tuple[str, ...]] = ("randomised",)

    def __check_init__(self):
        positive_integer("simple", self.simple)

    def __call__(self, network: Any, data: Dataset) -> Float[Array, "3"]:
        """With nothing, the simple, the complex features randomised.

        Raises:
            ValueError: without a test sample, for several outputs, or too few features.
        """
        logits = three_logits(network, data, self.simple)
        test = second_sample(data)
        one = lambda score: area_under_curve(score, test.y[:, 0] > 0, test.weight)
        return jax.lax.map(one, logits)

    def coords(self) -> dict[str, np.ndarray]:
        """What is randomised."""
        return {"randomised": RANDOMISED}
