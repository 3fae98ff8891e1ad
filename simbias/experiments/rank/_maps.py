"""Chains of square matrices, whose length is a number, and the maps that they are."""

from typing import Any, ClassVar

import jax.numpy as jnp
import numpy as np
from jaxtyping import Array, Float, PRNGKeyArray

from simbias.checks.values import positive, positive_integer
from simbias.core import AbstractMeasure, Dataset, Index, Real
from simbias.errors import BadInput
from simbias.experiments.rank._stack import Stack
from simbias.introspection.outputs import outputs, second_sample
from simbias.networks.activations import identity
from simbias.networks.dense.layer_weights import layer_weights
from simbias.numerics.matrix_rank import spectral_entropy


def chain(
    key: PRNGKeyArray, *, depth: Index, most: int, m: int, scale: Real = 1.0
) -> Stack:
    """The map W_N ⋯ W_1 of N = `depth` matrices m × m, N(0, scale²/m), of `most`.

    The first ones and the last are the same whatever the depth.

    Raises:
        ValueError: for a size or number out of range.
    """
    for name, size in (("most", most), ("m", m)):
        positive_integer(name, size)
    positive("scale", scale)
    if isinstance(depth, int) and not 1 <= depth <= most:
        raise BadInput(
            f"`depth` must be from 1 to {most}, the matrices that are drawn (`most`), "
            f"got {depth}. Example: depth={most}."
        )
    factor = jnp.asarray(scale, jnp.float64)
    head, *others = (factor * w for w in layer_weights(key, (m,) * (most + 1), "lecun"))
    # One layer at least, which a chain of one matrix does not use.
    hidden = jnp.stack(others or [jnp.zeros((m, m), jnp.float64)])
    return Stack(hidden, head, jnp.asarray(depth, jnp.int32) - 1, identity)


class MapRank(AbstractMeasure):
    """−Σ p ln p, p = σ/Σσ, of the matrix that a linear network is."""

    dims: ClassVar[tuple[str, ...]] = ()

    def __call__(self, network: Any, data: Dataset) -> Float[Array, ""]:
        """From 0, rank 1, to the logarithm of the size."""
        return spectral_entropy(matrix_of(network, data))


class MapErrors(AbstractMeasure):
    """Of Ŵ, what a linear network is, and W, the map, all over ‖W‖²_F.

    P projects on the span of the samples.

        test      ‖Ŵ − W‖²_F
        on span   ‖(Ŵ − W)P‖²_F
        off span  ‖Ŵ − ŴP‖²_F, which no sample asks for
        unseen    ‖W − WP‖²_F, test error of WP, the solution of least norm

    W is read off the test sample of `too_few_samples`.
    """

    dims: ClassVar[tuple[str, ...]] = ("part",)

    def coords(self) -> dict[str, np.ndarray]:
        """Names of the parts."""
        return {"part": np.array(["test", "on span", "off span", "unseen"])}

    def __call__(self, network: Any, data: Dataset) -> Float[Array, " part"]:
        """The four parts, in this order."""
        truth = second_sample(data).y.T / data.x.shape[1] ** 0.5
        found = matrix_of(network, data)
        is_there = data.weight > 0
        x = jnp.where(is_there[:, None], data.x, 0)
        # Rows of padding are 0 in X, and 1 on the diagonal of XXᵀ.
        gram = x @ x.T + jnp.diag((~is_there).astype(x.dtype))
        span = x.T @ jnp.linalg.solve(gram, x)
        gap = found - truth
        parts = (gap, gap @ span, found - found @ span, truth - truth @ span)
        return jnp.stack([jnp.sum(v**2) for v in parts]) / jnp.sum(truth**2)


def matrix_of(network: Any, data: Dataset) -> Float[Array, "k m"]:
    """The matrix that a linear network is."""
    return outputs(network, jnp.eye(data.x.shape[1], dtype=data.x.dtype)).T
