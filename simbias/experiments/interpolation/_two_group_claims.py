"""Claims on the two groups of neurons at the end, and on where there are more.

By the theorem, beyond n* neurons have two directions only, and each group is the
least-squares fit on its side of β*·x = 0.  The theorem needs n of order d³, so the
claims are about every size of at least d³. It holds with high probability over
datasets, so the claim is about the median network.  That the mean follows the law as
well is a stronger claim, and ours.  The theorem also needs a small λ: an initialisation
of `LARGE_START` or more is the control, where the same numbers must be different.  The
default initialisations of SGD are not small either, and theorem 2 excludes them.  The
published figure has one of them.  They are compared with the same bands, as a contrast.
"""

import dataclasses

import numpy as np
import xarray as xr

from simbias.claims import mean_of, median_of
from simbias.core import Claim
from simbias.theory.two_group import ols_law, two_group_law

THEOREM = "Boursier & Flammarion (2024), arXiv:2410.02348, theorem 2"
# Laws of a start that SGD begins from.
DEFAULT_STARTS = ("standard", "gaussian")
CONTRAST = "contrast, a start that theorem 2 excludes"
# At the times used here such a start leaves more than two groups.
LARGE_START = 1e-3
# Share of the mass along one line: of a network of two groups, of one that is not.
ALIGNED, SPREAD = 0.99, 0.9


def two_group_claims(ds: xr.Dataset) -> list[Claim]:
    """Claims of the theorem or of its control, for one curve over (n, seed, time)."""
    is_small = float(ds["scale"]) < LARGE_START
    is_default = ds["initial"].item() in DEFAULT_STARTS
    d, variance = int(ds["d"]), float(ds["sigma"]) ** 2
    when = f"t = {float(ds['time'][-1]):g}"
    sizes = [int(n) for n in ds["n"].values if n >= d**3]
    if not sizes or variance == 0:
        text = f"train error of two regressions at n ≥ d³ = {d**3}, {when}"
        need = "a size n ≥ d³, and noise"
        return [median_of(text, [], (0.0, 0.0), THEOREM).given(False, need)]
    claims = _law if is_small or is_default else _control
    found = [
        dataclasses.replace(c, statement=f"{c.statement}, n = {n}, {when}")
        for n in sizes
        for c in claims(_ends(ds, n, variance), n, d)
    ]
    return [_contrasted(c) for c in found] if is_default else found


def _contrasted(claim: Claim) -> Claim:
    """A claim of the theorem for a case that it excludes."""
    source = f"{claim.source}; a contrast, whose start theorem 2 excludes"
    return dataclasses.replace(
        claim, statement=f"{CONTRAST}: {claim.statement}", source=source
    )


def _ends(ds: xr.Dataset, n: int, variance: float) -> dict[str, np.ndarray]:
    """Compared values, one per seed; errors over σ²."""
    last = ds.sel(n=n).isel(time=-1)
    return {
        "gap": last["two_group_gap"].values / variance,
        "excess": last["two_group_excess"].values / variance,
        "width": last["effective_width"].values,
        # A sum of shares: 1 but for rounding.
        "aligned": np.minimum(last["alignment"].values, 1.0),
    }


def _law(seen: dict[str, np.ndarray], n: int, d: int) -> list[Claim]:
    half = d / (2 * n)
    one, two = _excess_laws(n, d)
    middle = (1 + one / two) / 2
    # The regressions' own mean is the law, so that what is left is the pairs'.
    excess = 1 + seen["excess"] / two
    over = f"mean excess risk over the law's, 2d/(n − 2d − 2) = {two:.3g} σ²"
    pairs = "train error − that of two regressions on the same sample, over σ²"
    aligned = "median share of the mass within 8.1° of least squares"
    band = "band: nearer to two regressions than to one"
    stronger = f"ours, more than theorem 2, which excepts some samples; {band}"
    histograms = f"{THEOREM} and its histograms; the share is ours"
    return [
        median_of(f"median {pairs}", seen["gap"], (-half, half), f"{THEOREM}; {band}"),
        mean_of(f"mean {pairs}", seen["gap"], (-half, half), stronger),
        mean_of(over, excess, (middle, 2 - middle), stronger),
        median_of("median effective width", seen["width"], (2.0, 2.0), THEOREM),
        median_of(aligned, seen["aligned"], (ALIGNED, 1.0), histograms),
    ]


def _control(seen: dict[str, np.ndarray], n: int, d: int) -> list[Claim]:
    ours = f"ours: control, λ ≥ {LARGE_START:g} is not the small start of theorem 2"
    gap = "control: mean train error − that of two regressions, over σ²"
    aligned = "control: median share of the mass within 8.1° of least squares"
    width = "control: median effective width"
    return [
        mean_of(gap, seen["gap"], (-np.inf, -d / (2 * n)), ours),
        median_of(width, seen["width"], (3.0, np.inf), ours),
        median_of(aligned, seen["aligned"], (0.0, SPREAD), ours),
    ]


def _excess_laws(n: int, d: int) -> tuple[float, float]:
    """Excess risk over σ² of one regression and of two."""
    size = np.array([float(n)])
    one, two = (float(law(size, d, 1.0)[1][0]) - 1 for law in (ols_law, two_group_law))
    return one, two
