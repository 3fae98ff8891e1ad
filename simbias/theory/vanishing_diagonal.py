"""The limit α → 0 of diagonal linear networks, a finite recursion."""

from typing import NamedTuple

import numpy as np
import scipy
from jaxtyping import Float, Int

from simbias.errors import BadInput

# Of the largest correlation: below it a feature is at rest, or a label fitted.
_ROUNDING = 1e-10


class DiagonalJumps(NamedTuple):
    """Which features enter, when, and what the network is afterwards.

    Attributes:
        time: s = t / ln(1/α) of every jump, increasing.
        feature: that enters.
        weight: β after the jump, until the next.
        loss: then.
    """

    time: Float[np.ndarray, " j"]
    feature: Int[np.ndarray, " j"]
    weight: Float[np.ndarray, "j d"]
    loss: Float[np.ndarray, " j"]


def vanishing_diagonal(
    x: Float[np.ndarray, "n d"], y: Float[np.ndarray, "..."]
) -> DiagonalJumps:
    """Jumps of f(x) = (u∘u − v∘v)·x under `half_mse` from u = v = α, as α → 0.

    uᵢ = α^{1−Sᵢ} and vᵢ = α^{1+Sᵢ},   dSᵢ/ds = (2/n) Σₖ xₖᵢ (yₖ − β·xₖ)

    A feature enters when |Sᵢ| = 1, with the sign of Sᵢ.  Then β is the least-squares
    solution over the features with |Sᵢ| = 1 whose entries have these signs, or are 0.
    A feature whose entry falls back to 0 has |Sᵢ| < 1 from then on.  The sequence ends
    when no feature is correlated with the residual.

    Raises:
        ValueError: for other shapes, or if two features enter at one time.

    Reference: Kunin et al. (2025), arXiv:2506.06489, section on diagonal linear
    networks; Pesme & Flammarion (2023), arXiv:2304.00488.
    """
    if x.ndim != 2 or y.shape != x.shape[:1]:
        raise BadInput(
            "`x` and `y` must have shapes (n, d) and (n,), got "
            f"{x.shape} and {y.shape}. Example: y=y[:, 0]."
        )
    n, d = x.shape
    exponent, beta, now = np.zeros(d), np.zeros(d), 0.0
    tiny = _ROUNDING * 2 * np.max(np.abs(x.T @ y), initial=0) / n
    found: list[tuple[float, int, np.ndarray, float]] = []
    while True:
        rate = 2 * x.T @ (y - x @ beta) / n
        rate[np.abs(rate) <= tiny] = 0
        # Features that are in have no rate, or one that takes them out.
        room = np.where(rate > 0, 1 - exponent, 1 + exponent)
        wait = np.full(d, np.inf)
        np.divide(room, np.abs(rate), out=wait, where=(rate != 0) & (room > _ROUNDING))
        i = int(np.argmin(wait))
        if not np.isfinite(wait[i]):
            return _stacked(found, d)
        if np.sum(wait <= wait[i] * (1 + _ROUNDING)) > 1:
            raise BadInput(
                f"`x` and `y` let several features enter at s = {now + wait[i]:.6g}: "
                "what follows depends on more than the limit. Example: other labels."
            )
        now += float(wait[i])
        exponent = np.clip(exponent + rate * wait[i], -1, 1)
        exponent[i] = np.sign(rate[i])
        beta = _fitted(x, y, exponent)
        loss = float(np.sum((y - x @ beta) ** 2)) / (2 * n)
        found.append((now, i, beta, loss))


def _fitted(x: np.ndarray, y: np.ndarray, exponent: np.ndarray) -> np.ndarray:
    """Least squares over the features that are in, with their signs."""
    beta, sign = np.zeros(len(exponent)), np.sign(exponent)
    is_in = np.abs(exponent) >= 1 - _ROUNDING
    beta[is_in] = scipy.optimize.nnls(x[:, is_in] * sign[is_in], y)[0]
    return beta * sign


def _stacked(found: list[tuple[float, int, np.ndarray, float]], d: int):
    times, features, weights, losses = zip(*found, strict=True) if found else [()] * 4
    return DiagonalJumps(
        np.array(times, float),
        np.array(features, int),
        np.array(weights, float).reshape(-1, d),
        np.array(losses, float),
    )
