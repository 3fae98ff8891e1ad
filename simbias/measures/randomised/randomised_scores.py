"""AUC and accuracy once the simple, or the complex, features tell nothing."""

from typing import Any, ClassVar

import equinox as eqx
import jax
import jax.numpy as jnp
from jaxtyping import Array, Float

from simbias.core import AbstractMeasure, Dataset
from simbias.introspection.outputs import second_sample
from simbias.measures._randomised import RANDOMISED, area_under_curve, three_logits
from simbias.validation.values import positive_integer


class RandomisedScores(AbstractMeasure):
    """AUC and accuracy on the test sample: as it is, S-randomised, Sᶜ-randomised.

    S is the span of the first `simple` features.  S-randomised: the part of every input
    in S is that of another test sample; Sᶜ-randomised: the part outside is.  All of S
    is taken from one sample, so its own law stays.  A network that looks at S alone has
    AUC ½ once S is randomised and loses nothing when the rest is.

    One output, positive for y > 0.  The AUC is that of the sample, ties counting half.
    The permutation is the same in every call.

    Args:
        simple: number of features in S.

    Reference: Shah et al. (2020), arXiv:2006.07710, section 3.
    """

    simple: int = eqx.field(static=True, default=1)
    dims: ClassVar[tuple[str, ...]] = ("randomised", "score")
    entries: ClassVar = {"randomised": RANDOMISED, "score": ("auc", "accuracy")}
    test_targets: ClassVar[str] = "signs"

    def __check_init__(self):
        positive_integer("simple", self.simple)

    def __call__(self, network: Any, data: Dataset) -> Float[Array, "3 2"]:
        """Rows: nothing, the simple, the complex features randomised."""
        test = second_sample(data)
        is_positive = test.y[:, 0] > 0

        def scores(logit: Float[Array, " n"]) -> Float[Array, "2"]:
            auc = area_under_curve(logit, is_positive, test.weight)
            right = jnp.where((logit > 0) == is_positive, test.weight, 0)
            return jnp.stack([auc, jnp.sum(right) / jnp.sum(test.weight)])

        return jax.lax.map(scores, three_logits(network, data, self.simple))
