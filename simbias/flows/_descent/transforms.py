"""The transformation of optax that an optimiser of `Descent` is, and a step of it."""

from collections.abc import Mapping
from typing import Any

import jax
import jax.numpy as jnp
import optax
from jaxtyping import PyTree

from simbias.core import Real
from simbias.flows._descent.family import Coefficients, family, is_named
from simbias.flows._descent.optimisers import (
    CONSTANTS,
    Optimiser,
    from_rate,
    named,
    updated,
)


def transform_of(
    optimiser: Optimiser,
    rate: Real,
    constants: Mapping[str, Real | None],
    coefficients: Coefficients | None,
    dtype: Any,
) -> optax.GradientTransformation:
    """The transformation at a rate, with its constants in the precision of the weights.

    Args:
        optimiser: as for `Descent`.
        rate: of this step.
        constants: those of an optimiser with a name; None for its own value.
        coefficients: of an optimiser that shares its program, else None.
        dtype: of the weights.
    """
    cast = lambda v: jnp.asarray(v, dtype)
    if coefficients is not None:
        return family(cast(rate), coefficients)
    if not isinstance(optimiser, str):
        return from_rate(optimiser, cast(rate))
    own = {
        name: cast(default if constants[name] is None else constants[name])
        for name, default in CONSTANTS[optimiser].items()
    }
    return named(optimiser, cast(rate), own)


def optimiser_step(
    optimiser: Optimiser,
    transform: optax.GradientTransformation,
    gradient: PyTree,
    memory: PyTree,
    params: PyTree,
    **loss: Any,
) -> tuple[PyTree, PyTree]:
    """Updates and memory after a step; `loss` as in `updated`, for those of optax."""
    # optax divides by 1 − β^count, a float to an integer.
    with jax.numpy_dtype_promotion("standard"):
        if is_named(optimiser):
            return transform.update(gradient, memory, params)
        return updated(transform, gradient, memory, params, **loss)
