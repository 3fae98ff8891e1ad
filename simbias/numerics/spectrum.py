"""Amplitudes of the frequencies of a function that is known on a grid."""

from collections.abc import Iterable

import jax.numpy as jnp
import numpy as np
from jaxtyping import Array, Bool, Float, Int

from simbias.errors import BadInput


def amplitudes(
    values: Float[Array, "n ..."], frequencies: tuple[int, ...] | None
) -> Float[Array, "q ..."]:
    """2|f̂(k)|/N, f̂(k) = Σ f(xₙ) e^{−2πikn/N}: A for a wave A sin(2πkn/N + φ).

    At k = 0 and k = N/2, where a frequency is its own mirror image, |f̂(k)|/N.

    Args:
        values: f at N points of equal distance, over the first axis; the period is N
            of these distances.
        frequencies: k, in periods per N points; None is all of them, 0, …, N/2.

    Raises:
        ValueError: for a frequency that is no whole number from 0 to N/2 (Nyquist's).
    """
    n = values.shape[0]
    if frequencies is None:
        factor = np.where(_is_mirrored(range(n // 2 + 1), n), 1, 2) / n
        size = jnp.abs(jnp.fft.rfft(values, axis=0))
        shape = (-1, *[1] * (values.ndim - 1))
        return size * jnp.asarray(factor.reshape(shape), values.dtype)
    check_frequencies(frequencies, n)
    # n k modulo N is exact, so that the angle is, for large k too.
    turns = np.outer(frequencies, np.arange(n)) % n
    factor = np.where(_is_mirrored(frequencies, n), 1, 2) / n
    wave = lambda f: jnp.asarray(f(2 * np.pi * turns / n) * factor[:, None])
    cosine, sine = (
        jnp.tensordot(wave(f).astype(values.dtype), values, axes=1, precision="highest")
        for f in (np.cos, np.sin)
    )
    return jnp.hypot(cosine, sine)


def _is_mirrored(frequencies: Iterable[int], n: int) -> Bool[np.ndarray, " q"]:
    """Whether a frequency is its own mirror image."""
    return np.asarray([k == 0 or 2 * k == n for k in frequencies])


def check_frequencies(frequencies: tuple[int, ...], points: int) -> None:
    """Refuse what a grid of so many points cannot tell apart.

    Raises:
        ValueError: for a frequency that is no whole number from 0 to points/2.
    """
    is_whole = lambda k: isinstance(k, int) and not isinstance(k, bool)
    wrong = [k for k in frequencies if not (is_whole(k) and 0 <= 2 * k <= points)]
    if wrong or not frequencies:
        raise BadInput(
            f"`frequencies` must be whole numbers from 0 to {points // 2}, half of the "
            f"{points} points (Nyquist's frequency), got {wrong[:3] or frequencies}."
        )


def path_powers(
    values: Float[Array, "n p k"], has_mean: bool = False
) -> Float[Array, " q"]:
    """A_q = (1/K) Σ_c E |f̃_c(q)|² for q = 1, …, N/2, over K outputs and p paths.

    f̃(q) = Σₙ f(xₙ) e^{−2πiqn/N} along a path of N points.  With `has_mean` also q = 0.
    """
    spectrum = jnp.fft.rfft(values, axis=0)[0 if has_mean else 1 :]
    power = jnp.square(jnp.real(spectrum)) + jnp.square(jnp.imag(spectrum))
    return jnp.mean(power, axis=(1, 2))


def power_shares(
    powers: Float[Array, " q"], count: Int[np.ndarray, " q"] | int = 1
) -> Float[Array, " q"]:
    """R_q = ln(A_q/Σ A); NaN if there is no power at all, −∞ where there is none.

    Args:
        powers: A.
        count: how often each is in Σ A.
    """
    total = jnp.sum(jnp.asarray(count, powers.dtype) * powers)
    shares = jnp.where(total > 0, powers / jnp.where(total > 0, total, 1), jnp.nan)
    return jnp.log(shares)


def times_counted(frequencies: Int[np.ndarray, " q"], n: int) -> Int[np.ndarray, " q"]:
    """How often each of q = 0, …, N/2 is among all N frequencies of a real function.

    q and N − q have equal power, so that Σ A over all N is Σ_q count(q) A_q.

    Args:
        frequencies: q.
        n: points, N.
    """
    return np.where(_is_mirrored(frequencies.tolist(), n), 1, 2)


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
