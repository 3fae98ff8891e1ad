"""Logistic curves in log n through counts of successes, many at once."""

import numpy as np
from jaxtyping import Bool, Float
from scipy.special import expit, log_expit
from scipy.stats import chi2

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
        p = expit(level[:, None] + slope[:, None] * x)
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
) -> tuple[float, float]:
    """Every n* that some slope makes likely enough: 2(ℓ_max − ℓ(n*)) ≤ χ²₁(level).

    Exists for separated counts too, where neither a maximum nor a useful bootstrap
    does.  Read off a grid, rounded outwards by at most 1 % of the widest gap between
    sizes; 0 or inf where it leaves the grid by more than one such gap.

    Args:
        sizes: increasing.
        successes: one row.
        trials: one row.
        is_rising: sign of the slope.
        level: confidence.

    Reference: Heinze & Schemper (2002), Stat. Med. 21, 2409, §3.
    """
    x = np.log(sizes)
    gap = np.diff(x).max()
    points = int(100 * np.ceil((x[-1] - x[0]) / gap + 2))
    centres = np.linspace(x[0] - gap, x[-1] + gap, points)
    best = np.full(points, -np.inf)
    # Eight decades of slope, 10 % apart: to a likelihood flat in its maximum that is 0.
    for size in np.geomspace(1e-2, 1e6, 200) / gap:
        z = (size if is_rising else -size) * (x[None, :] - centres[:, None])
        terms = successes * log_expit(z) + (trials - successes) * log_expit(-z)
        best = np.maximum(best, terms.sum(1))
    likely = np.flatnonzero(2 * (best.max() - best) <= chi2.ppf(level, 1))
    first, last = likely[0] - 1, likely[-1] + 1
    low = float(np.exp(centres[first])) if first >= 0 else 0.0
    return low, float(np.exp(centres[last])) if last < points else np.inf


def _pure_sizes(successes: Counts, trials: Counts) -> Float[np.ndarray, " r"]:
    """Sizes in the all-success and all-failure ends together, either way round.

    A size without trials joins whichever end it touches.
    """
    won, lost = successes == trials, successes == 0

    def ends(first: np.ndarray, last: np.ndarray) -> np.ndarray:
        lead = np.cumprod(first, axis=1).sum(1)
        return lead + np.cumprod(last[:, ::-1], axis=1).sum(1)

    return np.maximum(ends(won, lost), ends(lost, won)).astype(np.float64)
