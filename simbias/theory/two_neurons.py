"""Two ReLU neurons that learn e₁ and e₂ from the same place: plateau and escape.

f(x) = (w₁·x)₊ + (w₂·x)₊ against (e₁·x)₊ + (e₂·x)₊ over x ~ N(0, I), loss
½ E (f − f*)².  The start w₁ = (c + δ, c − δ), w₂ = (c − δ, c + δ) is its own mirror
image, (x₁, x₂) and the neurons exchanged, and so is all that follows: two numbers move,
the mean p and the gap q of w₁ = (p + q, p − q).
"""

import math
from typing import NamedTuple

import numpy as np
import scipy
from jaxtyping import Float

from simbias.errors import BadInput
from simbias.validation.values import positive

# Of the integration; what it leaves of a gap of 1e-12 is far below.
_RTOL, _ATOL = 1e-12, 1e-18


class Plateau(NamedTuple):
    """Where both neurons are equal and cannot tell e₁ from e₂: w₁ = w₂ = c (1, 1).

    `size` c, the `loss` there, the `rate` at which a gap grows there, and the loss of
    the `average` ½ (1, 1) of both neurons of a solution.
    """

    size: float
    loss: float
    rate: float
    average: float


def plateau() -> Plateau:
    """The saddle, in closed form.

    c = (1 + 3π/4)/2π,  loss ½ + 1/2π − 2c²,  rate 1/(πc),  average 1 + 1/2π − 2c

    With equal neurons the loss is 2c² − 4cκ + ½ + 1/2π, κ = (1 + 3π/4)/2π, least at
    c = κ.  A gap q adds −2q²/(πc) in second order; the weights then move by 2q in all,
    so that q' = q/(πc).
    """
    c = (1 + 3 * math.pi / 4) / (2 * math.pi)
    teacher = 0.5 + 1 / (2 * math.pi)
    return Plateau(
        size=c,
        loss=teacher - 2 * c**2,
        rate=1 / (math.pi * c),
        average=teacher + 0.5 - 2 * c,
    )


def gap(
    delta: float, times: Float[np.ndarray, " t"], size: float = 0.5
) -> Float[np.ndarray, " t"]:
    """q(t) of the flow from p = `size`, q = δ, by Runge–Kutta of order 8.

    With θ = 2 arctan(q/p), the angle between the neurons, and r = p² + q²,

    −2π p' = (2π − θ + sin θ) p − p²/r − 3π/4,   −2π q' = (θ + sin θ) q − pq/r − θ/2

    Args:
        delta: δ, above 0 and below `size`.
        times: from 0, increasing.
        size: p at the start.

    Raises:
        ValueError: for a start that is not between the two.
    """
    positive("delta", delta)
    if delta >= size:
        raise BadInput(f"`delta` must be below `size`, {size}, got {delta}.")
    times = np.asarray(times, float)
    found = scipy.integrate.solve_ivp(
        _field,
        (0.0, float(times[-1])),
        [size, math.log(delta)],
        method="DOP853",
        t_eval=times,
        rtol=_RTOL,
        atol=_ATOL,
    )
    return np.exp(found.y[1])


def _field(_: float, state: Float[np.ndarray, " 2"]) -> list[float]:
    """(p', (ln q)')."""
    p, q = state[0], math.exp(state[1])
    angle, square = 2 * math.atan2(q, p), p**2 + q**2
    sine = 2 * p * q / square
    mean = (2 * math.pi - angle + sine) * p - p**2 / square - 3 * math.pi / 4
    growth = angle + sine - p / square - angle / (2 * q)
    return [-mean / (2 * math.pi), -growth / (2 * math.pi)]
