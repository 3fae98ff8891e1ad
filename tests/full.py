"""Programs as they are shipped: tests leave XLA's optimisations out unless they ask."""

import contextlib
import os
from collections.abc import Iterator

import jax

VARIABLE = "JAX_DISABLE_MOST_OPTIMIZATIONS"


@contextlib.contextmanager
def fully_optimised() -> Iterator[None]:
    """With XLA's optimisations, here and in processes that are started meanwhile.

    For tests that compute more than they compile, and for those that ask whether bits
    are the same: code that is not optimised rounds otherwise, and may do so for another
    number of lanes.
    """
    before = jax.config.values[VARIABLE.lower()], os.environ.get(VARIABLE, "0")
    jax.config.update(VARIABLE.lower(), False)
    os.environ[VARIABLE] = "0"
    try:
        yield
    finally:
        jax.config.update(VARIABLE.lower(), before[0])
        os.environ[VARIABLE] = before[1]
