"""A network that is trained on the worst inputs near its samples."""

from typing import Any, get_args

import equinox as eqx
import jax
from jaxtyping import Array, Float

from simbias.attacks import Norm, projected_ascent
from simbias.checks.sample import one_of
from simbias.checks.values import positive, positive_integer
from simbias.core import AbstractNetwork, Loss


class Adversarial(AbstractNetwork):
    """The same function as `inner`, with the gradient of adversarial training.

    `value_and_gradient` is that of the loss at xᵢ + δᵢ, with δᵢ by projected ascent
    from the present weights, held fixed: Danskin's gradient of max_δ ℓ.  Every flow
    takes it in place of autodiff.

    Args:
        inner: the network that is trained.
        radius: largest ‖δᵢ‖.
        norm: "l2" or "linf".
        steps: of the ascent.

    Reference: Madry et al. (2018), arXiv:1706.06083.
    """

    inner: AbstractNetwork
    radius: float = eqx.field(static=True, default=0.1)
    norm: Norm = eqx.field(static=True, default="l2")
    steps: int = eqx.field(static=True, default=10)

    def __check_init__(self):
        one_of("norm", self.norm, get_args(Norm))
        positive("radius", self.radius)
        positive_integer("steps", self.steps)

    @property
    def has_kinks(self) -> bool | None:
        """As the network that is trained says, None if it does not."""
        return getattr(self.inner, "has_kinks", None)

    @property
    def features(self) -> Any:
        """Those of the network that is trained, None if it has none."""
        return getattr(self.inner, "features", None)

    def __call__(self, x: Float[Array, " d"]) -> Float[Array, " k"]:
        """Output for one input."""
        return self.inner(x)

    def value_and_gradient(
        self,
        loss: Loss,
        x: Float[Array, "n d"],
        y: Float[Array, "n k"],
        weight: Float[Array, " n"],
    ) -> tuple[Float[Array, ""], "Adversarial"]:
        """Loss on the perturbed sample and its gradient."""
        delta = projected_ascent(
            self.inner,
            loss,
            x,
            y,
            weight,
            radius=self.radius,
            norm=self.norm,
            steps=self.steps,
        )

        def total(inner: Any) -> Float[Array, ""]:
            return loss(jax.vmap(inner)(x + delta), y, weight)

        value, gradient = eqx.filter_value_and_grad(total)(self.inner)
        return value, Adversarial(gradient, self.radius, self.norm, self.steps)
