"""What the numbers of a run are made of, whatever the process has chosen."""

import contextlib
from collections.abc import Iterator

import jax


@contextlib.contextmanager
def exact_numerics() -> Iterator[None]:
    """64-bit types, full-precision products and one generator of random numbers.

    For the calling thread only, whatever the process has chosen.
    """
    with (
        jax.enable_x64(True),
        jax.default_matmul_precision("highest"),
        jax.default_prng_impl("threefry2x32"),
        jax.threefry_partitionable(True),
        # What is not reached is NaN, and a member that diverges says so itself.
        jax.debug_nans(False),
        jax.debug_infs(False),
    ):
        yield
