"""A two-layer network that is trained on infinitely many Gaussian inputs."""

import dataclasses
from typing import ClassVar

import equinox as eqx
import jax
from jaxtyping import Array, Float

from simbias.core import AbstractNetwork, Loss
from simbias.errors import BadInput
from simbias.losses import half_mse
from simbias.networks.activations import Activation, erf, negative_slope, quadratic
from simbias.networks.two_layer import TwoLayer
from simbias.theory.population import Neurons, Phi, population_loss


class PopulationStudent(AbstractNetwork):
    """f(x) = Σⱼ aⱼ φ(wⱼ·x), trained on the limit n → ∞ of its sample.

    `value_and_gradient` is that of ½ E |f(x) − y|² over x ~ N(0, I) and
    y = f*(x) + σ η, in closed form (`theory.population_loss`), whatever the sample is.
    The teacher f* is a network of the same form and is not trained.  Use it with
    `GradientFlow`: the mean over inputs is smooth where no wⱼ is 0, also for ReLU.

    Args:
        w: wⱼ.
        a: aⱼ.
        teacher: f*.
        sigma: σ, standard deviation of the noise.  It moves the loss alone.
        activation: φ, and that of the teacher: ReLU, leaky ReLU, `identity`, `erf` or
            `quadratic`.
        frozen: what is not trained; add "a" to train the first layer alone.
    """

    w: Float[Array, "m d"]
    a: Float[Array, "m k"]
    teacher: TwoLayer
    sigma: Float[Array, ""]
    activation: Activation = eqx.field(static=True, default=jax.nn.relu)
    frozen: tuple[str, ...] = eqx.field(static=True, default=("teacher", "sigma"))

    has_kinks: ClassVar[bool] = False  # the mean over Gaussian inputs has none
    has_own_law: ClassVar[bool] = True  # its gradient does not depend on the sample

    def __check_init__(self):
        for activation in (self.activation, self.teacher.activation):
            _phi(activation)
        if self.a.shape[1] != self.teacher.a.shape[1]:
            raise BadInput(
                "`teacher` must have as many outputs as `a`, got shapes "
                f"{self.teacher.a.shape} and {self.a.shape}."
            )
        if self.teacher.b is not None:
            raise BadInput("`teacher` must have no bias: b=None.")

    @property
    def negative_slope(self) -> float | None:
        """Slope of φ for h < 0 if it is piecewise linear, else None."""
        return negative_slope(self.activation)

    def __call__(self, x: Float[Array, " d"]) -> Float[Array, " k"]:
        """Output for one input."""
        return self.features(x) @ self.a

    def features(self, x: Float[Array, " d"]) -> Float[Array, " m"]:
        """φ(wⱼ·x)."""
        return self.activation(self.w @ x)

    def value_and_gradient(
        self,
        loss: Loss,
        x: Float[Array, "n d"],
        y: Float[Array, "n k"],
        weight: Float[Array, " n"],
    ) -> tuple[Float[Array, ""], "PopulationStudent"]:
        """Loss over all inputs and its gradient.

        Raises:
            ValueError: for a loss that is not half the squared error.
        """
        del x, y, weight
        if loss is not half_mse:
            raise BadInput(
                "`loss` must be half_mse: the mean over Gaussian inputs has a closed "
                f"form for half the squared error, got {loss!r}."
            )
        f = self.teacher
        teacher: Neurons = (f.w, f.a, _phi(f.activation))
        phi = _phi(self.activation)
        of = lambda wa: population_loss((*wa, phi), teacher, self.sigma)
        value, (dw, da) = jax.value_and_grad(of)((self.w, self.a))
        return value, dataclasses.replace(self, w=dw, a=da)


def _phi(activation: Activation) -> Phi:
    slope = negative_slope(activation)
    if slope is not None:
        return slope
    if activation is erf:
        return "erf"
    if activation is quadratic:
        return "quadratic"
    raise BadInput(
        "`activation` must be relu, leaky ReLU, identity, erf or quadratic: for these "
        f"the mean over Gaussian inputs has a closed form, got {activation!r}."
    )
