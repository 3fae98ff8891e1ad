"""Laws of values per seed whose mean, median, threshold or exponent is known."""

from collections.abc import Callable

import numpy as np
from scipy.optimize import brentq
from scipy.special import expit
from scipy.stats import norm

Draw = Callable[[np.random.Generator, int], np.ndarray]

SIZES = np.array([5.0, 10.0, 20.0, 35.0, 60.0, 110.0, 200.0, 400.0])


def bimodal(share: float, spread: float = 0.2) -> Draw:
    """N(0, spread²), and N(1, spread²) with the odds of `share`."""
    return lambda rng, k: (rng.random(k) < share) + spread * rng.standard_normal(k)


def _median_of_bimodal(share: float, spread: float = 0.2) -> float:
    below = lambda v: (
        norm.cdf(v / spread) * (1 - share) + share * norm.cdf((v - 1) / spread)
    )
    return float(brentq(lambda v: below(v) - 0.5, -1.0, 2.0))  # pyright: ignore[reportArgumentType]


# Law, its mean, its median.
VALUES: dict[str, tuple[Draw, float, float]] = {
    "normal": (lambda rng, k: rng.standard_normal(k), 0.0, 0.0),
    "lognormal, σ = ½": (
        lambda rng, k: np.exp(rng.standard_normal(k) / 2),
        float(np.exp(1 / 8)),
        1.0,
    ),
    "two modes, as likely": (bimodal(0.5), 0.5, 0.5),
    "two modes, 2 to 3": (bimodal(0.6), 0.6, _median_of_bimodal(0.6)),
}
# Laws whose mean rests on values that few seeds need not show.
UNSEEN: dict[str, tuple[Draw, float, float]] = {
    "lognormal, σ = 1": (
        lambda rng, k: np.exp(rng.standard_normal(k)),
        float(np.exp(1 / 2)),
        1.0,
    ),
    "two modes, 1 to 4": (bimodal(0.2), 0.2, _median_of_bimodal(0.2)),
}


def successes(
    rng: np.random.Generator, n_star: float, slope: float, seeds: int, is_shared: bool
) -> np.ndarray:
    """Success over (size, seed), with odds logistic in ln n, ½ at n*.

    Shared: a seed succeeds at all sizes below one of its own.
    """
    x = np.log(SIZES / n_star)[:, None]
    if is_shared:
        return (x < rng.logistic(size=seeds) / slope).astype(float)
    return (rng.random((len(SIZES), seeds)) < expit(-slope * x)).astype(float)


def rising(
    rng: np.random.Generator, n_star: float, seeds: int, is_shared: bool
) -> np.ndarray:
    """Values over (size, seed) whose median rises through 1 at n*, linear in ln n."""
    shape = (1, seeds) if is_shared else (len(SIZES), seeds)
    noise = np.exp(rng.normal(0, 0.5, shape)) - 1
    return 1 + np.log(SIZES / n_star)[:, None] + noise


def scaled(
    rng: np.random.Generator, exponent: float, seeds: int
) -> tuple[np.ndarray, np.ndarray]:
    """q, and values over (q, size, seed) that rise to 1 at 20 q^exponent."""
    q = np.array([1.0, 2.0, 4.0])
    own = rng.normal(0, 0.3, (1, 1, seeds))
    noise = rng.normal(0, 0.3, (3, len(SIZES), seeds))
    log_n_star = np.log(20) + exponent * np.log(q)[:, None, None] + own
    return q, np.log(SIZES)[None, :, None] - log_n_star + 1 + noise
