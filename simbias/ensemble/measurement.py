"""What a measure or a stop gives for a network: its shape, its axes, or why nothing."""

from collections.abc import Callable
from typing import Any

import equinox as eqx
import jax
import jax.numpy as jnp
import numpy as np

from simbias.core import (
    AbstractFlow,
    AbstractStop,
    Loss,
    Measure,
)
from simbias.ensemble.lane import of_original
from simbias.errors import BadInput
from simbias.flow import innermost
from simbias.introspection.array_network import original_network
from simbias.validation.experiment import RESERVED

_NEEDS_VALUES = (
    jax.errors.ConcretizationTypeError,
    jax.errors.NonConcreteBooleanIndexError,
    jax.errors.TracerArrayConversionError,
    jax.errors.TracerIntegerConversionError,
)
_COMPILED = (
    " It is compiled, for all networks at once, so that numbers are not known while it "
    "is read: use jnp.where instead of `if`, and jax.numpy instead of numpy."
)


def measured(
    name: str, measure: Measure, network: Any, data: Any
) -> tuple[jax.ShapeDtypeStruct, Any]:
    """What a measure returns for a network, with or without values, and its program.

    Raises:
        ValueError: naming the measure, if it cannot be taken of this network, or
            returns or names its axes wrongly.
    """
    value, program = tried(f"measure `{name}`", of_original(measure), network, data)
    check_value(name, measure, value)
    return value, program


def check_stop(
    stop: AbstractStop | None, flow: AbstractFlow, network: Any, data: Any, loss: Loss
) -> list[Any]:
    """Refuse a stop that says nothing of this network, or is wrong under this flow.

    Returns:
        Its program, or nothing without a stop.

    Raises:
        ValueError: if it cannot be asked, or is not one truth value, or one status.
    """
    if stop is None:
        return []
    flow = innermost(flow, network)
    stop.check_flow(flow)
    stop = stop.of_flow(flow)
    if type(stop).status is AbstractStop.status:
        said, kind = of_original(stop), "boolean"
        is_right = lambda dtype: dtype == jnp.bool_
    else:
        said = lambda network, data: stop.status(original_network(network), data, loss)
        kind = "integer, a status"
        is_right = lambda dtype: jnp.issubdtype(dtype, jnp.integer)
    value, program = tried("`stop`", said, network, data)
    if getattr(value, "shape", None) != () or not is_right(value.dtype):
        raise BadInput(
            f"`stop` must return one {kind}, got {value}. Example: risk < 1e-6."
        )
    return [program]


def dims_of(name: str, measure: Measure, rank: int) -> tuple[str, ...]:
    """The axes of a measure: its `dims`, or NAME_0, NAME_1, … of a function."""
    dims = getattr(measure, "dims", None)
    return tuple(f"{name}_{i}" for i in range(rank)) if dims is None else tuple(dims)


def coords_of(measure: Measure) -> dict[str, np.ndarray]:
    """Coordinates of the axes of a measure; a function has none."""
    coords = getattr(measure, "coords", dict)()
    return {dim: np.asarray(values) for dim, values in coords.items()}


def check_value(name: str, measure: Measure, value: Any) -> None:
    """Refuse what a measure returns.

    Raises:
        ValueError: unless it is a real array with one axis for each of its names.
    """
    if not isinstance(value, jax.ShapeDtypeStruct):
        raise BadInput(
            f"measure `{name}` must return an array, got a {type(value).__name__}. "
            "Example: return jnp.asarray(value)."
        )
    if jnp.issubdtype(value.dtype, jax.dtypes.extended):
        raise BadInput(
            f"measure `{name}` must return numbers, got a random key ({value.dtype}). "
            "Example: return jax.random.normal(key)."
        )
    if jnp.issubdtype(value.dtype, jnp.complexfloating):
        raise BadInput(
            f"measure `{name}` must return real numbers, got {value.dtype}. "
            "Example: return jnp.abs(value)."
        )
    dims = dims_of(name, measure, len(value.shape))
    if len(value.shape) != len(dims):
        raise BadInput(
            f"measure `{name}` has the axes {dims} (`dims`) but returns "
            f"an array of shape {value.shape}. Give one name for each axis."
        )
    if len(set(dims)) < len(dims) or set(dims) & set(RESERVED):
        raise BadInput(
            f"measure `{name}` has the axes {dims} (`dims`). They must differ from "
            f"each other and from {', '.join(RESERVED)}."
        )
    coords = {dim: values.shape for dim, values in coords_of(measure).items()}
    if strangers := set(coords) - set(dims):
        raise BadInput(
            f"measure `{name}` has coordinates of `{strangers.pop()}`, which is not "
            f"one of its axes {dims}."
        )
    for dim, size in zip(dims, value.shape, strict=True):
        if coords.get(dim, (size,)) != (size,):
            raise BadInput(
                f"measure `{name}` has {size} values along `{dim}`, but its "
                f"coordinates have the shape {coords[dim]}."
            )


def tried(what: str, measure: Any, network: Any, *others: Any) -> tuple[Any, Any]:
    """What a function of a network returns, without values, and its program.

    Raises:
        ValueError: naming `what`, if it cannot be computed.
    """
    try:
        return _traced(measure, network, *others)
    except BadInput:
        raise
    except Exception as error:  # of any kind: it was written for other networks
        why = (str(error).strip() or repr(error)).splitlines()[0]
        raise BadInput(
            f"{what} cannot be computed for this network, a "
            f"{type(original_network(network)).__name__}: {type(error).__name__}: "
            f"{why}{_COMPILED if isinstance(error, _NEEDS_VALUES) else ''}"
        ) from error


def _traced(f: Callable[..., Any], *arguments: Any) -> tuple[Any, Any]:
    """What a function returns, without values, and its program."""
    is_array = lambda v: eqx.is_array(v) or isinstance(v, jax.ShapeDtypeStruct)
    arrays, rest = eqx.partition(arguments, is_array)
    others: list[Any] = []

    def arrays_of(*arrays):
        found, other = eqx.partition(f(*eqx.combine(arrays, rest)), eqx.is_array)
        others.append(other)
        return found

    program, found = jax.make_jaxpr(arrays_of, return_shape=True)(*arrays)
    return eqx.combine(found, others[-1]), program
