"""A network that is trained on the worst inputs near its samples."""

from typing import Any, get_args

import equinox as eqx
from jaxtyping import Array, Float, Key, PRNGKeyArray

from simbias.attacks import Norm, projected_ascent
from simbias.core import AbstractNetwork, AbstractWrapper, Loss
from simbias.introspection.training import outputs_in_training, trained_on
from simbias.validation.sample import one_of
from simbias.validation.values import positive, positive_integer
from simbias.wrapper import if_inner_has


class Adversarial(AbstractWrapper):
    """The same function as `inner`, with the gradient of adversarial training.

    `value_and_gradient` is that of the loss at xᵢ + δᵢ, with δᵢ by projected ascent
    from the present weights, held fixed: Danskin's gradient of max_δ ℓ.  Every flow
    takes it in place of autodiff.  Dropout and noise of `inner` are the same in the
    ascent and in the gradient.  A network with batch normalisation is refused: its
    averages would stand still.

    Args:
        inner: the network that is trained.
        radius: largest ‖δᵢ‖.
        norm: "l2" or "linf".
        steps: of the ascent.

    Reference: Madry et al. (2018), arXiv:1706.06083.
    """

    inner: Any
    radius: float = eqx.field(static=True, default=0.1)
    norm: Norm = eqx.field(static=True, default="l2")
    steps: int = eqx.field(static=True, default=10)

    def __check_init__(self):
        one_of("norm", self.norm, get_args(Norm))
        positive("radius", self.radius)
        positive_integer("steps", self.steps)

    on_sample = AbstractNetwork.on_sample
    refuses = ("on_sample",)

    @if_inner_has("in_training")
    def in_training(
        self, x: Float[Array, " d"], key: PRNGKeyArray
    ) -> Float[Array, " k"]:
        """Output of `inner` in training, for an input without perturbation."""
        return self.inner.in_training(x, key)

    def value_and_gradient(
        self,
        loss: Loss,
        x: Float[Array, "n d"],
        y: Float[Array, "n k"],
        weight: Float[Array, " n"],
        keys: Key[Array, " n"] | None = None,
    ) -> tuple[Float[Array, ""], "Adversarial"]:
        """Loss on the perturbed sample and its gradient."""
        outputs = lambda x: outputs_in_training(self.inner, x, weight, keys)[0]
        to = {"radius": self.radius, "norm": self.norm, "steps": self.steps}
        delta = projected_ascent(outputs, loss, x, y, weight, **to)
        worst = x + delta
        value, gradient, _ = trained_on(self.inner, loss, worst, y, weight, keys)
        return value, Adversarial(gradient, self.radius, self.norm, self.steps)
