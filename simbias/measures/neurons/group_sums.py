"""What the positive and the negative neurons add up to."""

from typing import Any, ClassVar

import jax.numpy as jnp
from jaxtyping import Array, Float

from simbias.core import AbstractMeasure, Dataset
from simbias.measures._neurons import incoming, single_output


class GroupSums(AbstractMeasure):
    """Sums of the neurons by the sign of their output weight.

    They are Σ_{aⱼ>0} aⱼwⱼ and Σ_{aⱼ<0} aⱼwⱼ: the two halves of a sign-split network.

    On orthogonal data the limit of small initialisation is
    Σ_{y_k>0} (y_k/‖x_k‖²) x_k and the same over y_k < 0.  A hidden bias is one more
    coordinate of wⱼ.  One output only.

    Reference: Boursier, Pillaud-Vivien & Flammarion (2022), arXiv:2206.00939,
    theorem 1.
    """

    dims: ClassVar[tuple[str, ...]] = ("group", "input")
    entries: ClassVar = {"group": ("positive", "negative")}

    def __call__(self, network: Any, data: Dataset) -> Float[Array, "2 e"]:
        """Rows: positive, negative."""
        a = single_output(network)
        # Two rows of weights: the zero part of each group is exactly zero.
        return jnp.stack([jnp.maximum(a, 0), jnp.minimum(a, 0)]) @ incoming(network)
