"""Warn of programs that may hang on this CPU, before they run."""

import importlib.metadata
import os
import warnings
from collections.abc import Callable
from typing import Any

import jax

from simbias.numerics.factorisations import at_once

# Whose batched factorisations do not wait for threads of their own pool.
_MENDED = (0, 11, 2)


def check_factorisations(where: str, f: Callable[..., Any], *arguments: Any) -> None:
    """Warn of factorisations of several matrices in one call, where they may hang.

    Args:
        where: what `f` is, in the words of who wrote it.
        f: of arrays.
        arguments: of `f`, with or without values.
    """
    if may_hang():
        check_program(where, jax.make_jaxpr(f)(*arguments))


def check_program(where: str, program: Any) -> None:
    """The same of what was traced."""
    if may_hang() and (found := at_once(program)):
        warnings.warn(
            f"{where} factorises several matrices in one call ({', '.join(found)}). "
            f"With jaxlib {_jaxlib()} such calls may hang on a CPU, because they wait "
            "for each other. Factorise one matrix at a time, with jax.lax.map instead "
            "of jax.vmap, or install jaxlib 0.11.2 or later (Python 3.12 or later).",
            stacklevel=2,
        )


def may_hang() -> bool:
    """Whether this is a CPU of several cores under an older jaxlib."""
    version = tuple(int(part) for part in _jaxlib().split(".")[:3])
    is_cpu = jax.default_backend() == "cpu"
    return is_cpu and version < _MENDED and (os.cpu_count() or 1) > 1


def _jaxlib() -> str:
    return importlib.metadata.version("jaxlib")
