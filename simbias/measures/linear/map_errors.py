"""Errors of a linear network on, and off, the span of its sample."""

from typing import Any, ClassVar

import jax.numpy as jnp
from jaxtyping import Array, Float

from simbias.core import AbstractMeasure, Dataset
from simbias.introspection.outputs import second_sample


class MapErrors(AbstractMeasure):
    """Errors of the linear map of a network, over ‖W‖²_F, W the target.

    They are of Ŵ, the `product` of a linear network.

    P projects on the span of the samples, of which there are fewer than inputs.

        test      ‖Ŵ − W‖²_F
        on span   ‖(Ŵ − W)P‖²_F
        off span  ‖Ŵ − ŴP‖²_F, which no sample asks for
        unseen    ‖W − WP‖²_F, test error of WP, the solution of least norm

    W is read off the test sample, whose d inputs are √d eᵢ.
    """

    dims: ClassVar[tuple[str, ...]] = ("part",)
    entries: ClassVar = {"part": ("test", "on span", "off span", "unseen")}

    def __call__(self, network: Any, data: Dataset) -> Float[Array, " part"]:
        """The four parts, in this order."""
        truth = second_sample(data).y.T / data.x.shape[1] ** 0.5
        found = network.product
        is_there = data.weight > 0
        x = jnp.where(is_there[:, None], data.x, 0)
        # Rows of padding are 0 in X, and 1 on the diagonal of XXᵀ.
        gram = x @ x.T + jnp.diag((~is_there).astype(x.dtype))
        span = x.T @ jnp.linalg.solve(gram, x)
        gap = found - truth
        parts = (gap, gap @ span, found - found @ span, truth - truth @ span)
        return jnp.stack([jnp.sum(v**2) for v in parts]) / jnp.sum(truth**2)
