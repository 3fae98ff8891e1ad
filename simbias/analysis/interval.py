"""What every estimate with an interval has in common."""

import numpy as np
from jaxtyping import Float
from numpy.typing import ArrayLike

from simbias.core import Estimate
from simbias.errors import BadInput

# With four, means and exponents cover less than 0.93, and a median has no interval.
LEAST_SEEDS = 6
# Below this an approximate interval says so: at 6 and 8 seeds no law that was tried is
# held less than 0.93 of the times, but no theorem says that of another.
ENOUGH_SEEDS = 16


def check_level(level: float) -> None:
    """Refuse a confidence that is none.

    Raises:
        ValueError: naming the field.
    """
    if not 0 < level < 1:
        raise BadInput(f"`level` must lie in (0, 1), got {level}. Example: level=0.95.")


def present(values: ArrayLike) -> Float[np.ndarray, " s"]:
    """Those of the members that have one: it may be infinite, and is not NaN."""
    flat = np.ravel(np.asarray(values, dtype=np.float64))
    return flat[~np.isnan(flat)]


def unknown(value: float, level: float, why: str) -> Estimate:
    """What was seen, when nothing can be said about the truth."""
    return Estimate(value, -np.inf, np.inf, why, level)


def mean_without_interval(
    seen: Float[np.ndarray, " s"], level: float
) -> Estimate | None:
    """The mean of too few values, or of infinite ones; None if an interval is known."""
    with np.errstate(invalid="ignore"):
        mean = float(seen.mean()) if seen.size else np.nan
    if seen.size < LEAST_SEEDS:
        return few(mean, level, seen.size)
    return None if np.isfinite(mean) else unknown(mean, level, "a value is infinite")


def approximate(method: str, seeds: int) -> str:
    """How an interval was found that holds the truth at its level for many seeds."""
    if seeds >= ENOUGH_SEEDS:
        return method
    return f"{method}; {seeds} seeds are few, its level is approximate below 16"


def few(value: float, level: float, seen: int, least: int = LEAST_SEEDS) -> Estimate:
    """Fewer seeds than an interval needs."""
    return unknown(value, level, f"of {seen} seeds, an interval needs {least}")
