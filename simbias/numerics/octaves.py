"""Octaves of frequencies: the waves of a target first, then twice as many each."""

import jax.numpy as jnp
import numpy as np
from jaxtyping import Array, Float

from simbias.errors import BadInput


def check_octaves(name: str, n: int, waves: int) -> None:
    """Refuse a number of points with fewer than three octaves, or without Nyquist's.

    Args:
        name: of the number of points, for the message.
        n: points.
        waves: frequencies of the target, k = 1, …, waves.

    Raises:
        ValueError: for a number that is no integer, odd or too small.
    """
    least = 4 * (waves + 1)
    if not isinstance(n, int) or n % 2 or n <= least:
        raise BadInput(
            f"`{name}` must be even and above {least}, for three octaves, got {n}."
        )


def octaves(n: int, waves: int) -> tuple[tuple[int, int], ...]:
    """First and last frequency of each band; of 3 waves 0–3, 4–7, 8–15, ….

    The last band ends with n/2, Nyquist's.
    """
    starts = [0]
    while (following := max(waves + 1, 2 * starts[-1])) < n // 2:
        starts.append(following)
    return tuple(zip(starts, [s - 1 for s in starts[1:]] + [n // 2], strict=True))


def coefficients(values: Float[Array, " n"]) -> Array:
    """Coefficients whose squares add to the mean square of a real function; n even."""
    n = len(values)
    k = np.arange(n // 2 + 1)
    factor = np.sqrt(np.where((k == 0) | (2 * k == n), 1, 2)) / n
    found = jnp.fft.rfft(values)
    return found * jnp.asarray(factor, found.dtype)
