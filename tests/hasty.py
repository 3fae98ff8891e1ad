"""Programs that are made for a single use."""

import contextlib
from collections.abc import Iterator

import jax


@contextlib.contextmanager
def compiling_hastily() -> Iterator[None]:
    """XLA leaves its optimisations out: exact flows then compile in half the time.

    Not for tests that compare bits: code that is not optimised may round otherwise for
    another number of lanes.
    """
    jax.config.update("jax_disable_most_optimizations", True)
    try:
        yield
    finally:
        jax.config.update("jax_disable_most_optimizations", False)
