"""Accuracy once inputs are mixed within, or outside, a layer's main directions."""

from typing import Any, ClassVar

import equinox as eqx
import jax
import jax.numpy as jnp
from jaxtyping import Array, Float

from simbias.core import AbstractMeasure, Dataset
from simbias.errors import BadInput
from simbias.introspection.outputs import second_sample
from simbias.measures._layer import layer_matrix
from simbias.measures._randomised import exchange, logit
from simbias.validation.values import positive_integer


class ProjectedScores(AbstractMeasure):
    """Scores of a network after exchanging its inputs inside or outside a subspace P.

    P projects on the first `rank` right singular vectors of a layer of the inputs.
    With x′ another test sample, the rows are x itself, "inside" P x′ + P⊥x and
    "outside" P x + P⊥x′; the columns the share that is told the label of x, and the
    change of the logits, ‖f(x) − f(mixed)‖/‖f(x)‖ over the sample.

    A network with low-dimensional input dependence has ½ inside, no loss outside.  One
    output, positive for y > 0.  The permutation is the same in every call.

    Args:
        layer: name of a matrix that acts on the inputs.
        rank: dimensions of P.
        part: name of the network, where a member holds several; the member itself if
            empty.

    Reference: Morwani, Batra, Jain & Netrapalli (2023), arXiv:2302.00457, definition 1
    and section 4 (?).
    """

    layer: str = eqx.field(static=True, default="w")
    rank: int = eqx.field(static=True, default=2)
    part: str = eqx.field(static=True, default="")
    dims: ClassVar[tuple[str, ...]] = ("mixed", "score")
    entries: ClassVar = {
        "mixed": ("nothing", "inside", "outside"),
        "score": ("accuracy", "logit_change"),
    }
    test_targets: ClassVar[str] = "signs"

    def __check_init__(self):
        positive_integer("rank", self.rank)

    def __call__(self, network: Any, data: Dataset) -> Float[Array, "3 2"]:
        """Rows: nothing, inside, outside exchanged.

        Raises:
            ValueError: without a test sample, for several outputs, an unknown layer, or
                one that does not act on the inputs or has fewer directions.
        """
        test = second_sample(data)
        network = getattr(network, self.part) if self.part else network
        matrix, d = layer_matrix(network, self.layer), test.x.shape[1]
        if matrix.shape[1] != d or self.rank > min(matrix.shape):
            raise BadInput(
                f"`layer` must act on inputs of {d} numbers and have {self.rank} "
                f"directions at least, got {self.layer!r} of shape {matrix.shape}."
            )
        main = jnp.linalg.svd(matrix, full_matrices=False)[2][: self.rank]
        move = (test.x[exchange(test)] - test.x) @ main.T @ main
        rest = test.x[exchange(test)] - test.x - move
        here = logit(network, test.x)
        is_positive = test.y[:, 0] > 0
        total = jnp.sum(test.weight)
        size = jnp.sum(test.weight * here**2)

        def scores(x: Float[Array, "n d"]) -> Float[Array, "2"]:
            there = logit(network, x)
            right = jnp.where((there > 0) == is_positive, test.weight, 0)
            change = jnp.sum(test.weight * (there - here) ** 2)
            share = jnp.where(size > 0, change / jnp.where(size > 0, size, 1), jnp.nan)
            return jnp.stack([jnp.sum(right) / total, jnp.sqrt(share)])

        return jax.lax.map(scores, jnp.stack([test.x, test.x + move, test.x + rest]))
