"""What `solve` is given, refused by name."""

import math
import warnings
from typing import Any

import equinox as eqx
import jax
import jax.numpy as jnp

from simbias.core import AbstractFlow, AbstractStop, Dataset
from simbias.errors import BadInput
from simbias.validation.arrays import check_arrays
from simbias.validation.experiment import check_measures
from simbias.validation.values import is_finite, is_number


def check_arguments(
    network: Any, data: Any, flow: Any, loss: Any, measures: Any, stop: Any, key: Any
) -> None:
    """Refuse what is not of the kind that its name says.

    Raises:
        ValueError: naming the argument.
    """
    for name, value in (("network", network), ("loss", loss)):
        if not callable(value):
            raise BadInput(f"`{name}` must be a function, got {value!r}.")
    if not isinstance(data, Dataset):
        raise BadInput(
            f"`data` must be a Dataset, got {data!r}. "
            "Example: gaussian_teacher(key, n=50)."
        )
    if not isinstance(flow, AbstractFlow):
        raise BadInput(
            f"`flow` must be a flow, got {flow!r}. Example: ReluFlow(rtol=1e-6)."
        )
    check_measures("measures", measures)
    if not isinstance(stop, AbstractStop | None):
        raise BadInput(
            f"`stop` must be a stop or None, got {stop!r}. Example: "
            "TrainAccuracyAbove(0.99)."
        )
    if key is not None and not _is_key(key):
        raise BadInput(
            f"`key` must be a random key of JAX, got {key!r}. "
            "Example: jax.random.key(3)."
        )


def checked_dtype(network: Any, data: Dataset) -> str:
    """The type of all numbers; a warning if JAX can make no other.

    Raises:
        ValueError: if there are several, or one that flows do not take.
    """
    check_arrays("network", network)
    check_arrays("data", data)
    dtypes = {
        str(v.dtype)
        for v in jax.tree.leaves((network, data))
        if eqx.is_inexact_array(v)
    }
    if len(dtypes) != 1:
        raise BadInput(
            f"`network` and `data` must have the same dtype, got {sorted(dtypes)}. "
            "Create both inside `with simbias.exact_numerics():`."
        )
    (dtype,) = dtypes
    if dtype not in ("float32", "float64"):
        raise BadInput(
            f"`network` and `data` must be float32 or float64, got {dtype}, in which "
            "the steps of a flow are below the rounding error. Example: jax.tree.map("
            "lambda v: v.astype(float), network)."
        )
    # Asked outside `exact_numerics`: what the caller's own arrays are made of.
    if dtype == "float32" and jnp.result_type(float) == jnp.float32:
        warnings.warn(
            "`network` and `data` are float32, the default of JAX, so everything is "
            "computed in float32. For float64, create both inside `with "
            "simbias.exact_numerics():`. If you want float32, call `solve` inside it.",
            stacklevel=3,
        )
    return dtype


def checked_times(times: Any) -> tuple[float, ...]:
    """Times to record, as floats.

    Raises:
        ValueError: unless they are numbers, finite, and increase from 0 or later.
    """
    example = "Example: (0.0, 1.0)."
    try:
        found = () if isinstance(times, str) else tuple(times)
    except TypeError:
        found = ()
    if not found or not all(map(is_number, found)):
        raise BadInput(f"`times` must be a tuple of numbers, got {times!r}. {example}")
    found = tuple(float(t) if is_finite(t) else math.inf for t in found)
    increases = all(b > a for a, b in zip((-1e-300, *found), found, strict=False))
    if not increases or not math.isfinite(found[-1]):
        raise BadInput(
            "`times` must be finite, 0 or more, and increasing, got "
            f"{found[:5]}. {example}"
        )
    return found


def _is_key(key: Any) -> bool:
    if not eqx.is_array(key):
        return False
    if jnp.issubdtype(key.dtype, jax.dtypes.prng_key):
        return key.shape == ()
    return key.dtype == jnp.uint32 and key.shape == (2,)
