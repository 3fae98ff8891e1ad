"""Programs that are made for a single use."""

import contextlib
from collections.abc import Iterator

import jax


@contextlib.contextmanager
def compiling_hastily(hastily: bool = True) -> Iterator[None]:
    """XLA leaves its optimisations out: exact flows then compile in half the time.

    Not for tests that compare bits, of two processes least of all: code that is not
    optimised rounds otherwise, and may do so for another number of lanes.
    """
    before = jax.config.values["jax_disable_most_optimizations"]
    jax.config.update("jax_disable_most_optimizations", hastily)
    try:
        yield
    finally:
        jax.config.update("jax_disable_most_optimizations", before)
