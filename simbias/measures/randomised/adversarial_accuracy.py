"""Accuracy under attack, and how much of the attack goes into the simple features."""

from typing import Any, ClassVar, get_args

import equinox as eqx
import jax
import jax.numpy as jnp
from jaxtyping import Array, Float

from simbias.attacks import Norm, projected_ascent
from simbias.core import AbstractMeasure, Dataset
from simbias.introspection.outputs import second_sample
from simbias.losses import logistic
from simbias.measures._randomised import logit, simple_basis
from simbias.validation.sample import one_of
from simbias.validation.values import positive, positive_integer


class AdversarialAccuracy(AbstractMeasure):
    """Accuracy under adversarial perturbations, and their share in the features S.

    The perturbations δᵢ are by projected ascent on the test sample.

    Of the logistic loss, labels the signs of y.  The share is Σᵢ‖P_S δᵢ‖²/Σᵢ‖δᵢ‖²
    with S the span of the first `simple` features; NaN if no sample has a gradient.

    Args:
        radius: largest ‖δᵢ‖.
        norm: "l2" or "linf".
        steps: of the ascent.
        rows: test samples that are attacked, the first ones.
        simple: number of features in S.

    Reference: Shah et al. (2020), arXiv:2006.07710, notebook 06.
    """

    radius: float = eqx.field(static=True, default=0.1)
    norm: Norm = eqx.field(static=True, default="l2")
    steps: int = eqx.field(static=True, default=20)
    rows: int = eqx.field(static=True, default=1000)
    simple: int = eqx.field(static=True, default=1)
    dims: ClassVar[tuple[str, ...]] = ("attack",)
    entries: ClassVar = {"attack": ("accuracy", "simple_share")}
    test_targets: ClassVar[str] = "signs"

    def __check_init__(self):
        one_of("norm", self.norm, get_args(Norm))
        positive("radius", self.radius)
        for name in ("steps", "rows", "simple"):
            positive_integer(name, getattr(self, name))

    def __call__(self, network: Any, data: Dataset) -> Float[Array, "2"]:
        """Accuracy and share."""
        test = second_sample(data)
        x, weight = test.x[: self.rows], test.weight[: self.rows]
        y = jnp.where(test.y[: self.rows] > 0, 1, -1).astype(x.dtype)
        delta = projected_ascent(
            jax.vmap(network),
            logistic,
            x,
            y,
            weight,
            radius=self.radius,
            norm=self.norm,
            steps=self.steps,
        )
        is_right = (logit(network, x + delta) > 0) == (y[:, 0] > 0)
        accuracy = jnp.sum(jnp.where(is_right, weight, 0)) / jnp.sum(weight)
        basis = simple_basis(data, self.simple)
        inside = jnp.sum((delta @ basis.T) ** 2)
        total = jnp.sum(delta**2)
        share = jnp.where(total > 0, inside / jnp.where(total > 0, total, 1), jnp.nan)
        return jnp.stack([accuracy, share])
