"""How many directions the units of a network take up: neurons, kernels or heads."""

from typing import Any, ClassVar

import equinox as eqx
import jax
import jax.numpy as jnp
from jaxtyping import Array, Float

from simbias.core import AbstractMeasure, Dataset
from simbias.errors import BadInput
from simbias.numerics.matrix_rank import singular_values


class UnitSingularValues(AbstractMeasure):
    """Singular values s₁ ≥ s₂ ≥ … of the matrix whose rows are the units of a network.

    A unit is a neuron of the hidden layer, a kernel or a head, with its incoming and
    outgoing weights.  k of them are above 0 where the network has k units, or where
    its units lie in k directions.  They are 0 beyond the last one.

    The network has one hidden layer with `weights` and `biases`, as `Mlp`; or each of
    its arrays has one row for each unit, as in `TwoLayer`, `PatchConvolution` and
    `LinearAttention`.

    Args:
        most: number of values.

    Reference: Zhang, Saxe & Latham (2025), arXiv:2512.20607, for units that are learned
    one after another; the matrix is ours.
    """

    most: int = eqx.field(static=True, default=5)
    dims: ClassVar[tuple[str, ...]] = ("unit",)

    def __call__(self, network: Any, data: Dataset) -> Float[Array, " unit"]:
        """The first `most` values.

        Raises:
            ValueError: for a network without such units.
        """
        del data
        values = singular_values(jnp.concatenate(_rows(network), axis=1))[: self.most]
        return jnp.pad(values, (0, self.most - len(values)))


def _rows(network: Any) -> list[Float[Array, "m e"]]:
    """Weights of every unit, from each array of the network."""
    if hasattr(network, "weights"):
        arrays = list(network.weights)
        if len(arrays) == 2:
            bias = network.biases[0]
            arrays = [arrays[0], arrays[1].T, *([] if bias is None else [bias])]
            return [v.reshape(len(v), -1) for v in arrays]
    else:
        arrays = jax.tree.leaves(eqx.filter(network, eqx.is_inexact_array))
        if arrays and len({v.shape[:1] for v in arrays}) == 1 and arrays[0].ndim:
            return [v.reshape(len(v), -1) for v in arrays]
    raise BadInput(
        "UnitSingularValues needs a network of one hidden layer, or one whose arrays "
        f"all have a row for each unit; this {type(network).__name__} has arrays of "
        f"shapes {[v.shape for v in arrays]}."
    )
