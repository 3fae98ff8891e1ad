"""Logistic curves in log n through counts of successes, many at once."""

import functools

import numpy as np
import scipy
from jaxtyping import Bool, Float

Counts = Float[np.ndarray, "r n"]
Fits = Float[np.ndarray, " r"]

_ROUNDS = 200


def fit_logistic(
    sizes: Float[np.ndarray, " n"], successes: Counts, trials: Counts
) -> tuple[Fits, Fits]:
    """P(success) = 1/(1 + exp(−slope·(ln n − ln n*))): ln n* and slope of every row.

    Maximum likelihood where it exists.  Where the rows are separated (one size at most
    has both outcomes, and divides the others) the likelihood grows for ever with the
    slope; there it is penalised by √det I (Jeffreys), which keeps the fit finite and
    the crossing near the middle of the gap.

    Raises:
        RuntimeError: if Newton's method does not converge.

    Reference: Firth (1993), Biometrika 80, 27; Heinze & Schemper (2002), Stat. Med.
    21, 2409.
    """
    x = np.log(sizes)
    centre, spread = x.mean(), x.std()
    x = (x - centre) / spread
    penalty = is_separated(successes, trials).astype(np.float64)[:, None]
    level, slope = np.zeros(len(trials)), np.zeros(len(trials))
    for _ in range(_ROUNDS):
        p = scipy.special.expit(level[:, None] + slope[:, None] * x)
        w = trials * p * (1 - p)
        i00, i01, i11 = w.sum(1), (w * x).sum(1), (w * x**2).sum(1)
        det = i00 * i11 - i01**2
        leverage = w * (i11[:, None] - 2 * x * i01[:, None] + x**2 * i00[:, None])
        u = successes - trials * p + penalty * leverage / det[:, None] * (0.5 - p)
        g0, g1 = u.sum(1), (u * x).sum(1)
        move = np.stack([i11 * g0 - i01 * g1, i00 * g1 - i01 * g0]) / det
        # A full step from far away overshoots into p = 0 or 1, where w vanishes.
        move /= np.maximum(1, np.abs(move).max(0))
        level, slope = level + move[0], slope + move[1]
        if np.abs(move).max() < 1e-9:
            break
    else:
        raise RuntimeError("the logistic fit did not converge.")
    with np.errstate(divide="ignore", invalid="ignore"):
        return centre - spread * level / slope, slope / spread


def is_separated(successes: Counts, trials: Counts) -> Bool[np.ndarray, " r"]:
    """True where the sizes are all success, then at most one mixed, then all failure.

    Or the other way round.  The likelihood then has no maximum.
    """
    return _pure_sizes(successes, trials) >= trials.shape[1] - 1


def profile_interval(
    sizes: Float[np.ndarray, " n"],
    successes: Counts,
    trials: Counts,
    *,
    is_rising: bool,
    level: float,
    seeds: int,
    widened: float = 1.0,
) -> tuple[float, float]:
    """Every n* that some slope makes likely enough: 2(ℓ_max − ℓ(n*)) ≤ φF(level).

    F is the quantile of F(1, seeds − 1), χ²₁ for many seeds, φ the design effect.
    Exists for separated counts too, where neither a maximum nor a useful bootstrap
    does.  Read off a grid, rounded outwards by at most 1 % of the widest gap between
    sizes; 0 or inf where it leaves the grid by more than one such gap.

    Args:
        sizes: increasing.
        successes: one row.
        trials: one row.
        is_rising: sign of the slope.
        level: confidence.
        seeds: independent members per size.
        widened: φ.

    Reference: Heinze & Schemper (2002), Stat. Med. 21, 2409, §3.
    """
    centres, won, lost = _log_odds(tuple(sizes.tolist()), is_rising)
    best = (won @ successes[0] + lost @ (trials - successes)[0]).max(axis=0)
    points = len(centres)
    reach = widened * scipy.stats.f.ppf(level, 1, max(seeds - 1, 1))
    likely = np.flatnonzero(2 * (best.max() - best) <= reach)
    first, last = likely[0] - 1, likely[-1] + 1
    low = float(np.exp(centres[first])) if first >= 0 else 0.0
    return low, float(np.exp(centres[last])) if last < points else np.inf


@functools.lru_cache(4)
def _log_odds(sizes: tuple[float, ...], is_rising: bool) -> tuple[np.ndarray, ...]:
    """Values of ln n*, and ln P of success and failure over (slope, ln n*, size)."""
    x = np.log(sizes)
    gap = np.diff(x).max()
    points = int(100 * np.ceil((x[-1] - x[0]) / gap + 2))
    centres = np.linspace(x[0] - gap, x[-1] + gap, points)
    # Eight decades of slope, 10 % apart: to a likelihood flat in its maximum that is 0.
    slopes = np.geomspace(1e-2, 1e6, 200)[:, None, None] / gap
    z = (1 if is_rising else -1) * slopes * (x - centres[:, None])
    return centres, scipy.special.log_expit(z), scipy.special.log_expit(-z)


def design_effect(
    sizes: Float[np.ndarray, " n"],
    values: Float[np.ndarray, "n s"],
    log_size: float,
    slope: float,
) -> float:
    """Variance of ln n* over that of independent members, at least 1.

    From the scores summed over all sizes of a seed: members that share their draw
    succeed together, and tell less than as many that do not.

    Args:
        sizes: increasing.
        values: 1, 0, or NaN for a member without a result.
        log_size: ln n* of the fit, which has a maximum.
        slope: of the fit.

    Reference: Liang & Zeger (1986), Biometrika 73, 13.
    """
    x, seeds = np.log(sizes) - log_size, values.shape[1]
    p = scipy.special.expit(slope * x)
    left = np.nan_to_num(values - p[:, None])
    weight = np.sum(~np.isnan(values), axis=1) * p * (1 - p)
    design = np.stack([np.ones_like(x), x])
    inverse = np.linalg.inv((design * weight) @ design.T)
    scores = design @ left
    robust = inverse @ scores @ scores.T @ inverse * seeds / max(seeds - 1, 1)
    return max(1.0, float(robust[0, 0] / inverse[0, 0]))


def _pure_sizes(successes: Counts, trials: Counts) -> Float[np.ndarray, " r"]:
    """Sizes in the all-success and all-failure ends together, either way round.

    A size without trials joins whichever end it touches.
    """
    won, lost = successes == trials, successes == 0

    def ends(first: np.ndarray, last: np.ndarray) -> np.ndarray:
        lead = np.cumprod(first, axis=1).sum(1)
        return lead + np.cumprod(last[:, ::-1], axis=1).sum(1)

    return np.maximum(ends(won, lost), ends(lost, won)).astype(np.float64)
