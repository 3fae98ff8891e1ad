"""One perturbation for all inputs: what it breaks, and where it points."""

from typing import Any, ClassVar

import equinox as eqx
import jax
import jax.numpy as jnp
from jaxtyping import Array, Float

from simbias.core import AbstractMeasure, Dataset
from simbias.introspection.outputs import second_sample
from simbias.measures._randomised import logit, simple_basis
from simbias.validation.values import positive, positive_integers


class UniversalPerturbation(AbstractMeasure):
    """Accuracy when one perturbation moves all test inputs, and its share in S.

    All inputs are moved by the same ±radius v.

    v is the first right singular vector of the rows ∇f(xᵢ)/‖∇f(xᵢ)‖ (zero rows stay
    zero), its sign the one that leaves the lower accuracy.  S is the span of the first
    `simple` features.  A single v cannot turn round both classes of a linear
    classifier: at best the accuracy is then ½.  With `is_signed` the two classes move
    in opposite directions, yᵢ · radius v, and it can be 0.

    Args:
        radius: length of the perturbation.
        rows: test samples whose gradients are taken, the first ones.
        simple: number of features in S.
        is_signed: whether an input moves by the sign of its label, as in print.

    Reference: Shah et al. (2020), arXiv:2006.07710, notebook 06, after the SVD-UAP of
    arXiv:2005.08632.
    """

    radius: float = eqx.field(static=True, default=0.5)
    rows: int = eqx.field(static=True, default=1000)
    simple: int = eqx.field(static=True, default=1)
    is_signed: bool = eqx.field(static=True, default=False)
    dims: ClassVar[tuple[str, ...]] = ("attack",)
    entries: ClassVar = {"attack": ("accuracy", "simple_share")}
    test_targets: ClassVar[str] = "signs"

    def __check_init__(self):
        positive("radius", self.radius)
        positive_integers(rows=self.rows, simple=self.simple)

    def __call__(self, network: Any, data: Dataset) -> Float[Array, "2"]:
        """Accuracy and share."""
        test = second_sample(data)
        gradient = jax.vmap(jax.grad(lambda x: jnp.sum(network(x))))(
            test.x[: self.rows]
        )
        length = jnp.linalg.norm(gradient, axis=1, keepdims=True)
        rows = gradient / jnp.where(length > 0, length, 1)
        rows = jnp.where((test.weight[: self.rows] > 0)[:, None], rows, 0)
        v = jnp.linalg.eigh(rows.T @ rows)[1][:, -1]

        is_positive = test.y[:, 0] > 0
        label = jnp.where(is_positive | (not self.is_signed), 1, -1).astype(v.dtype)

        def accuracy(sign: Float[Array, ""]) -> Float[Array, ""]:
            move = (sign * self.radius * label)[:, None] * v[None, :]
            is_right = (logit(network, test.x + move) > 0) == is_positive
            right = jnp.sum(jnp.where(is_right, test.weight, 0))
            return right / jnp.sum(test.weight)

        both = jax.lax.map(accuracy, jnp.asarray([1.0, -1.0], v.dtype))
        basis = simple_basis(data, self.simple)
        return jnp.stack([jnp.min(both), jnp.sum((basis @ v) ** 2)])
