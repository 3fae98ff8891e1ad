"""Checks of sizes and numbers that name the field.

Traced numbers pass unchecked: the engine traces floats only after every cell of the
grid has been checked with its real values.
"""

import math
from numbers import Real
from typing import Any

import jax.numpy as jnp
from jax.core import Tracer

from simbias.errors import BadInput

# Sizes and counts are 32-bit integers in XLA.
LARGEST = 2**31 - 1


def positive_integer(name: str, value: Any) -> None:
    """Raise ValueError unless `value` is an integer from 1 to 2³¹ − 1."""
    if isinstance(value, bool) or not isinstance(value, int) or value < 1:
        raise BadInput(
            f"`{name}` must be a positive integer, got {value!r}. Example: {name}=100."
        )
    if value > LARGEST:
        raise BadInput(
            f"`{name}` must be at most 2³¹ − 1 = {LARGEST}, got {short(value)}. "
            f"Example: {name}=100."
        )


def positive_integers(**values: Any) -> None:
    """Raise ValueError unless every value is as `positive_integer` has it."""
    for name, value in values.items():
        positive_integer(name, value)


def not_negative(name: str, value: Any) -> None:
    """Raise ValueError unless `value` is finite and at least 0."""
    if isinstance(value, Tracer):
        return
    if not (is_number(value) and is_finite(value) and value >= 0):
        raise BadInput(
            f"`{name}` must be finite and 0 or more, got {short(value)}. "
            f"Example: {name}=0.3."
        )


def positive(name: str, value: Any) -> None:
    """Raise ValueError unless `value` is finite and above 0."""
    if isinstance(value, Tracer):
        return
    if not (is_number(value) and is_finite(value) and value > 0):
        raise BadInput(
            f"`{name}` must be finite and positive, got {short(value)}. "
            f"Example: {name}=1e-3."
        )


def at_most_one(name: str, value: Any) -> None:
    """Raise ValueError unless `value` is from 0 to 1."""
    not_negative(name, value)
    if not isinstance(value, Tracer) and value > 1:
        raise BadInput(f"`{name}` must be at most 1, got {value}. Example: {name}=0.1.")


def below_one(name: str, value: Any) -> None:
    """Raise ValueError unless `value` is from 0 to below 1."""
    not_negative(name, value)
    if not isinstance(value, Tracer) and value >= 1:
        raise BadInput(f"`{name}` must be below 1, got {value}. Example: {name}=0.9.")


def is_number(value: Any) -> bool:
    """True for a real number, or an array that holds one; not for a truth value."""
    if hasattr(value, "dtype"):
        return value.shape == () and jnp.isrealobj(value) and value.dtype != bool
    return isinstance(value, Real) and not isinstance(value, bool)


def is_finite(value: Any) -> bool:
    """True for a number that a float can hold."""
    try:
        return math.isfinite(value)
    except OverflowError:  # an integer beyond 1e308
        return False


def short(value: Any) -> str:
    """A value as an error shows it."""
    if isinstance(value, int) and abs(value) > LARGEST:
        return f"an integer of {value.bit_length()} bits"
    return repr(value)
