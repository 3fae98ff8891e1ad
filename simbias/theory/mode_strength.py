"""The strength of one mode of a deep linear network, exactly."""

import numpy as np
import scipy
from jaxtyping import Float

from simbias.errors import BadInput
from simbias.validation.values import positive, positive_integer

# One number, or an array of them.
_Values = float | Float[np.ndarray, "..."]
# Newton's method doubles the digits once it is near; before, it moves ln u by about
# N/(N − 2), and there are a few dozen of these to go.
_ITERATIONS = 100
# ln u/(s − u) beyond which u is s to the last digits.
_END = 34.0


def mode_strength(time: _Values, start: _Values, s: float, depth: int) -> _Values:
    """u(t) of u′ = N u^{2−2/N} (s − u), u(0) = u₀; τ = 1, as under `half_mse`.

    N = 1: s − (s − u₀)e^{−t}.  N = 2: s/(1 + (s/u₀ − 1)e^{−2st}).  Deeper, `mode_time`
    is inverted by Newton's method.  For N layers that begin balanced and aligned with
    the singular vectors of the target, on white inputs.  NaN where `time` or `start`
    is, as of a member that failed.

    Args:
        time: t from 0; any shape that goes with that of `start`.
        start: u₀, between 0 and s.
        s: singular value of the target.
        depth: N, number of matrices.

    Raises:
        ValueError: for a number out of range.

    Reference: Saxe, McClelland & Ganguli (2014), arXiv:1312.6120.
    """
    _check(start, s, depth)
    t, u0 = np.broadcast_arrays(
        np.asarray(time, np.float64), np.asarray(start, np.float64)
    )
    if depth == 1:
        return s - (s - u0) * np.exp(-t)
    if depth == 2:
        return s / (1 + (s / u0 - 1) * np.exp(-2 * s * t))
    # In z = ln u/(s − u) time is concave, so that from below no step goes too far.
    z = np.log(u0 / (s - u0))
    due = t + _antiderivative(u0, s, depth)
    for _ in range(_ITERATIONS):
        u = s / (1 + np.exp(-z))
        step = (due - _antiderivative(u, s, depth)) * depth * s * u ** (1 - 2 / depth)
        before, z = z, np.minimum(z + step, _END)
        if not np.any(np.abs(z - before) >= 1e-13 * (1 + np.abs(z))):
            break
    return s / (1 + np.exp(-z))


def mode_time(level: _Values, start: _Values, s: float, depth: int) -> _Values:
    """Time from u₀ to a level between it and s: t = ∫ du/(N u^{2−2/N} (s − u)).

    Args:
        level: u, above `start` and below s.
        start: u₀.
        s: singular value of the target.
        depth: N.

    Raises:
        ValueError: for a number out of range.
    """
    _check(start, s, depth)
    u, u0 = np.asarray(level, np.float64), np.asarray(start, np.float64)
    if np.any((u < u0) | (u >= s)):
        raise BadInput(
            f"`level` must lie from the start, {np.nanmin(u0):g} to "
            f"{np.nanmax(u0):g}, to below s = {s:g}, got {np.nanmin(u):g} to "
            f"{np.nanmax(u):g}. Example: level={s / 2:g}."
        )
    return _antiderivative(u, s, depth) - _antiderivative(u0, s, depth)


def _antiderivative(u: _Values, s: float, depth: int) -> _Values:
    if depth == 1:
        return -np.log1p(-u / s)
    if depth == 2:
        return np.log(u / (s - u)) / (2 * s)
    q = 1 - 2 / depth
    return -(u**-q) / (depth * q * s) * scipy.special.hyp2f1(1.0, -q, 1 - q, u / s)


def _check(start: _Values, s: float, depth: int) -> None:
    positive("s", s)
    positive_integer("depth", depth)
    u0 = np.asarray(start, np.float64)
    if np.any((u0 <= 0) | (u0 >= s)):
        raise BadInput(
            f"`start` must lie between 0 and s = {s:g}, got {np.nanmin(u0):g} to "
            f"{np.nanmax(u0):g}: a mode that begins at 0 stays there. "
            f"Example: start={s / 1000:g}."
        )
