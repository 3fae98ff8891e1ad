"""Loss and error on the line between the weights of two networks."""

from typing import Any, ClassVar

import equinox as eqx
import jax
import jax.numpy as jnp
import numpy as np
from jaxtyping import Array, Float

from simbias.core import AbstractMeasure, Dataset
from simbias.introspection.outputs import outputs, second_sample
from simbias.losses import cross_entropy
from simbias.measures.pairs._matching import (
    Orders,
    in_place,
    matched_by_activations,
    matched_by_weights,
    permuted,
)
from simbias.validation.values import positive_integers

POINTS = np.linspace(0.0, 1.0, 25)
"""α on a path."""
MATCHINGS = ("none", "weights", "activations")
"""Ways to order the neurons of the second network."""


class WeightPath(AbstractMeasure):
    """Loss and error on the line between two networks, for every matching π.

    They are cross-entropy and error of (1 − α) θ + α π(θ').

    θ is the first of the `networks` of a member, fully connected, θ' the one of number
    `other`; the labels are those of the first.  π orders the neurons of each hidden
    layer: "none" leaves them, "weights" maximises ⟨θ, π(θ')⟩, and "activations"
    minimises Σ ‖h(x) − h'_π(x)‖² over the training sample.  Orders are found in double
    precision where it is on.

    Args:
        other: number of θ' among the networks.
        matchings: ways to find π, among "none", "weights" and "activations".
        classes: columns of the targets of a network.

    Reference: Ainsworth, Hayase & Srinivasa (2023), arXiv:2209.04836.
    """

    other: int = eqx.field(static=True, default=1)
    matchings: tuple[str, ...] = eqx.field(static=True, default=MATCHINGS)
    classes: int = eqx.field(static=True, default=10)
    dims: ClassVar[tuple[str, ...]] = ("matching", "sample", "quantity", "alpha")

    def __check_init__(self):
        positive_integers(other=self.other, classes=self.classes)

    def __call__(
        self, network: Any, data: Dataset
    ) -> Float[Array, "matching 2 2 alpha"]:
        """Loss in nats and share of errors, from the first network (α = 0) on."""
        one, two = network.networks[0], network.networks[self.other]
        found = _orders(one, two, data, self.matchings)
        ends = [permuted(two, found[name]) for name in self.matchings]
        others = jax.tree.map(lambda *v: jnp.stack(v), *ends)
        samples = (data, second_sample(data))

        def at(alpha: Float[Array, ""]) -> Float[Array, "matching 2 2"]:
            alpha = alpha.astype(one.weights[0].dtype)
            between = jax.tree.map(
                lambda a, b: (1 - alpha) * a[None] + alpha * b, one, others
            )
            rows = [
                jax.lax.map(lambda f, s=s: self._loss(f, s), between) for s in samples
            ]
            return jnp.stack(rows, axis=1)

        return jnp.moveaxis(jax.lax.map(at, jnp.asarray(POINTS)), 0, -1)

    def _loss(self, network: Any, some: Dataset) -> Float[Array, "2"]:
        out, y = outputs(network, some.x), some.y[:, : self.classes]
        is_wrong = jnp.argmax(out, axis=1) != jnp.argmax(y, axis=1)
        wrong = jnp.sum(jnp.where(is_wrong, some.weight, 0)) / jnp.sum(some.weight)
        return jnp.stack([cross_entropy(out, y, some.weight), wrong])

    def coords(self) -> dict[str, np.ndarray]:
        """How permuted, on which sample, what, and α."""
        return {
            "matching": np.array(self.matchings),
            "sample": np.array(["train", "test"]),
            "quantity": np.array(["loss", "error"]),
            "alpha": POINTS,
        }


def _orders(
    one: Any, two: Any, data: Dataset, matchings: tuple[str, ...]
) -> dict[str, Orders]:
    one, two = _double(one), _double(two)
    dtype = one.weights[0].dtype
    found = {}
    for name in matchings:
        if name == "weights":
            found[name] = matched_by_weights(one, two)
        elif name == "activations":
            x, weight = data.x.astype(dtype), data.weight.astype(dtype)
            found[name] = matched_by_activations(one, two, x, weight)
        else:
            found[name] = in_place(two)
    return found


def _double(network: Any) -> Any:
    return jax.tree.map(lambda v: v.astype(jnp.result_type(float)), network)
