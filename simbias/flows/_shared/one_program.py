"""A function as one program, also where it is called outside `jit`."""

from collections.abc import Callable
from typing import Any, TypeVar

import equinox as eqx

F = TypeVar("F", bound=Callable[..., Any])
_filter_jit: Any = eqx.filter_jit


def one_program(function: F) -> F:
    """Compiled as one program, in place of hundreds of operations each by itself.

    Inside a function that is traced it changes nothing (`inline` of `jax.jit`).
    """
    return _filter_jit(function, inline=True)
