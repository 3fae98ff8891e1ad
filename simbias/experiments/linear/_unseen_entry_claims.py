"""Claims on the unobserved entry, by the sign of the determinant."""

import numpy as np
import xarray as xr

from simbias.analysis.at import at
from simbias.claims import farthest_of, largest_of, smallest_of
from simbias.core import Claim

PAPER = "Razin & Cohen (2020), arXiv:2005.06398 (?)"
OURS = "ours"


def bound(loss: xr.DataArray) -> xr.DataArray:
    """(1 − e)²/e, e = √(2·loss) < 1: lower bound of |w₁₁| if det > 0.

    det > 0 is w₁₁w₂₂ > w₁₂w₂₁ ≥ (1 − e)², and |w₂₂| ≤ e.
    """
    e = (2 * loss) ** 0.5
    return ((1 - e) ** 2 / e).where(e < 1)


def grows(part: xr.Dataset, name: str) -> list[Claim]:
    """From det > 0 the entry grows like the root of the loss, and the rank falls."""
    name = f"{name}, det > 0"
    late = part.isel(time=part["time"].values >= 0.1 * part["time"].values[-1])
    slopes = xr.apply_ufunc(
        _slope,
        xr.ufuncs.log(late["loss"]),
        xr.ufuncs.log(abs(late["entry"])),
        input_core_dims=[["time"], ["time"]],
        vectorize=True,
    )
    rank = part["effective_rank"].isel(time=-1)
    text = f"{name}: exponent of |w₁₁| in the loss, last tenth, farthest from −½"
    source = f"{PAPER}; the band is ours"
    return [
        farthest_of(text, slopes, -0.5, (-0.55, -0.45), source),
        largest_of(
            f"{name}: effective rank at the end, largest", rank, (1, 1.05), PAPER
        ),
    ]


def rests(part: xr.Dataset, name: str) -> list[Claim]:
    """From det < 0 the entry converges, and the matrix keeps its rank."""
    size, name = abs(part["entry"]), f"{name}, det < 0 (control)"
    time = part["time"].values
    late = part["entry"].isel(time=time >= min(1e3, time[-1]))
    moved = late.max("time") - late.min("time")
    rank = part["effective_rank"].isel(time=-1)
    return [
        largest_of(f"{name}: |w₁₁| at any time, largest", size, (0, 2), OURS),
        largest_of(f"{name}: how far w₁₁ moves after t = 1000", moved, (0, 1e-6), OURS),
        smallest_of(
            f"{name}: effective rank at the end, smallest", rank, (1.5, 2), OURS
        ),
    ]


def lost(part: xr.Dataset, name: str) -> list[Claim]:
    """Two factors lose the sign, and then the law of det > 0 fails."""
    end = part.isel(time=-1)
    exact, factors = (at(end, "form", k) for k in ("singular values", "factors"))
    sign, law = factors["orientation"], exact["orientation"]
    ratio = abs(factors["entry"] / exact["entry"])
    # For a network that failed the sign is NaN, which differs as well.
    changed = ratio.isel(seed=(sign != law).values)
    text = (
        f"{name}: |w₁₁| of factors, whose det has changed sign, over that of the flow"
    )
    return [
        largest_of(
            f"{name}: sign of det of factors at the end, largest", sign, (-1, -1), OURS
        ),
        largest_of(f"{text}, at the end, largest", changed, (0, 0.5), OURS),
    ]


def _slope(x: np.ndarray, y: np.ndarray) -> float:
    """Of a line by least squares; NaN if a point is not finite."""
    is_known = np.isfinite(x).all() and np.isfinite(y).all()
    return float(np.polyfit(x, y, 1)[0]) if is_known else np.nan
