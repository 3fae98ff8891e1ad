"""How fast the tangent kernel learns functions that are given."""

from collections.abc import Callable
from typing import Any, ClassVar

import equinox as eqx
import jax
import jax.numpy as jnp
from jaxtyping import Array, Float

from simbias.core import AbstractMeasure, Dataset
from simbias.errors import BadInput
from simbias.introspection import tangents
from simbias.introspection.outputs import outputs


class KernelRates(AbstractMeasure):
    """Rate at which the tangent kernel learns each of given functions.

    For a function g_q it is vᵀKv/(n vᵀv) with v = (g_q(xᵢ))ᵢ; for one output.

    The eigenvalue of K/n if v is an eigenvector: the rate at which the residual along
    v falls under `losses.half_mse`.  A gradient for every function, and no kernel.

    Args:
        functions: x "d" -> values "q", a named function: all g_q of one input.
    """

    functions: Callable[[Array], Array] = eqx.field(static=True)
    dims: ClassVar[tuple[str, ...]] = ("function",)

    def __call__(self, network: Any, data: Dataset) -> Float[Array, " q"]:
        """Rates; NaN for a function that is 0 on the sample."""
        out = jax.eval_shape(network, data.x[0])
        if out.shape != (1,):
            raise BadInput(f"KernelRates needs one output, got {out.shape[0]}.")
        is_real = (data.weight > 0)[:, None]
        v = jnp.where(is_real, outputs(self.functions, data.x), 0)
        share = data.x.shape[0] / jnp.sum(is_real.astype(data.x.dtype))
        return share * tangents.tangent_rates(network, data.x, v)
