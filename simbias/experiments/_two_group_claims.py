"""Claims about the two groups of neurons at the end, and about where there are more.

Beyond n* the theorem has neurons on two directions only, each group the least squares
of its side of β*·x = 0.  It asks for n of order d³, so that the claims are about every
size of at least d³.  It holds with high probability over samples, which is a claim
about the median member; that the mean of all follows the law as well is more, and ours.
It also asks for a small λ: a start of `LARGE_START` or more is the control, where the
same numbers must come out otherwise.
"""

import numpy as np
import xarray as xr

from simbias.analysis._interval import Interval
from simbias.analysis.bootstrap_interval import bootstrap_interval
from simbias.analysis.mean_interval import mean_interval
from simbias.core import Claim
from simbias.theory.two_group import ols_law, two_group_law

THEOREM = "Boursier & Flammarion (2024), arXiv:2410.02348, theorem 2"
# At the times used here such a start leaves more than two groups.
LARGE_START = 1e-3
# Share of the mass along one line: of a network of two groups, of one that is not.
ALIGNED, SPREAD = 0.99, 0.9

Row = tuple[str, Interval, float, float, str]


def two_group_claims(ds: xr.Dataset) -> list[Claim]:
    """Of one curve over (n, seed, time): those of the theorem, or of its control."""
    d, variance = int(ds["d"]), float(ds["sigma"]) ** 2
    when = f"t = {float(ds['time'][-1]):g}"
    sizes = [int(n) for n in ds["n"].values if n >= d**3]
    if not sizes or variance == 0:
        text = f"train error of two regressions at n ≥ d³ = {d**3}, {when}"
        return [Claim(text, np.nan, 0.0, 0.0, THEOREM)]
    rows = _control if float(ds["scale"]) >= LARGE_START else _law
    return [
        Claim(
            f"{text}, n = {n}, {when}",
            seen.estimate,
            low,
            high,
            source,
            (seen.low, seen.high),
        )
        for n in sizes
        for text, seen, low, high, source in rows(_ends(ds, n, variance), n, d)
    ]


def _ends(ds: xr.Dataset, n: int, variance: float) -> dict[str, np.ndarray]:
    """What is compared, one value per seed; errors over σ²."""
    last = ds.sel(n=n).isel(time=-1)
    return {
        "gap": last["two_group_gap"].values / variance,
        "excess": last["two_group_excess"].values / variance,
        "width": last["effective_width"].values,
        # A sum of shares: 1 but for rounding.
        "aligned": np.minimum(last["alignment"].values, 1.0),
    }


def _law(seen: dict[str, np.ndarray], n: int, d: int) -> list[Row]:
    half = d / (2 * n)
    one, two = _excess_laws(n, d)
    middle = (1 + one / two) / 2
    # The regressions' own mean is the law, so that what is left is the pairs'.
    excess = mean_interval(1 + seen["excess"] / two)
    pairs = "train error − that of two regressions on the same sample, over σ²"
    band = "band: nearer to two regressions than to one"
    stronger = f"ours, more than theorem 2, which excepts some samples; {band}"
    return [
        (f"median {pairs}", _median(seen["gap"]), -half, half, f"{THEOREM}; {band}"),
        (f"mean {pairs}", mean_interval(seen["gap"]), -half, half, stronger),
        (
            f"mean excess risk over the law's, 2d/(n − 2d − 2) = {two:.3g} σ²",
            excess,
            middle,
            2 - middle,
            stronger,
        ),
        ("median effective width", _median(seen["width"]), 2.0, 2.0, THEOREM),
        (
            "median share of the mass within 8.1° of least squares",
            _median(seen["aligned"]),
            ALIGNED,
            1.0,
            f"{THEOREM} and its histograms; the share is ours",
        ),
    ]


def _control(seen: dict[str, np.ndarray], n: int, d: int) -> list[Row]:
    ours = f"ours: control, λ ≥ {LARGE_START:g} is not the small start of theorem 2"
    return [
        (
            "control: mean train error − that of two regressions, over σ²",
            mean_interval(seen["gap"]),
            -np.inf,
            -d / (2 * n),
            ours,
        ),
        (
            "control: median effective width",
            _median(seen["width"]),
            3.0,
            np.inf,
            ours,
        ),
        (
            "control: median share of the mass within 8.1° of least squares",
            _median(seen["aligned"]),
            0.0,
            SPREAD,
            ours,
        ),
    ]


def _excess_laws(n: int, d: int) -> tuple[float, float]:
    """Excess risk over σ² of one regression and of two."""
    size = np.array([float(n)])
    one, two = (float(law(size, d, 1.0)[1][0]) - 1 for law in (ols_law, two_group_law))
    return one, two


def _median(values: np.ndarray) -> Interval:
    """Median of the members that finished; NaN for fewer than two."""
    seen = values[np.isfinite(values)]
    if seen.size < 2:
        return Interval(np.nan, np.nan, np.nan, 0.95, "fewer than two values")
    return bootstrap_interval(seen, np.median)
