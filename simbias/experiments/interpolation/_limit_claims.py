"""Claims about proven limits, t → ∞: which are spurious, and when networks fit."""

import xarray as xr

from simbias.claims import Claims, estimate_of, median_of
from simbias.core import Claim, Experiment
from simbias.experiments.interpolation._rest import (
    rates_to_fit,
    share_either_way,
    size_of_half,
    spurious,
)
from simbias.theory.two_group import two_group_threshold

PAPER = "Boursier & Flammarion (2024), arXiv:2410.02348, theorem 2; band ours"
OURS = "ours, from two regressions"


def limit_claims(ds: xr.Dataset, experiment: Experiment, is_small: bool) -> list[Claim]:
    """Of one curve over n.

    Args:
        ds: a result with `train_risk` and `norm`, over n and seeds.
        experiment: the one with its `make`.
        is_small: whether the start is small.
    """
    rows = _spurious_rows(ds, experiment, is_small)
    rows += _time_rows(ds) if is_small else []
    return Claims(needs={"noise, σ > 0": float(ds["sigma"]) > 0}).rows(*rows)


def _spurious_rows(
    ds: xr.Dataset, experiment: Experiment, is_small: bool
) -> list[Claim]:
    """Shares of spurious limits at n ≥ d³, and at n ≤ d as a control."""
    rows, d = [], int(ds["d"])
    for n in ds["n"].values[(ds["n"].values <= d) | (ds["n"].values >= d**3)]:
        before, band = ("", (0.5, 1)) if is_small and n > d else ("control, ", (0, 0.5))
        seen = share_either_way(spurious(ds.sel(n=[n]), experiment))
        text = f"{before}n = {n}: share of spurious limits"
        rows.append(estimate_of(text, seen, band, PAPER))
    return rows


def _time_rows(ds: xr.Dataset) -> list[Claim]:
    """The size at which the median time to fit diverges; that it rises before."""
    rates, d, rows = rates_to_fit(ds), int(ds["d"]), []
    fits = (rates > 0).astype(float).where(rates.notnull())
    if fits.dropna("n", how="all").sizes["n"] > 1:
        band = (two_group_threshold(d), d**3)
        text = "n at which the median time to fit diverges, by proven limits"
        rows.append(estimate_of(text, size_of_half(fits), band, PAPER))
    if {d, 2 * d} <= {*ds["n"].values}:
        ratio = rates.sel(n=2 * d) / rates.sel(n=d).median("seed")
        text = f"1/(time to fit), n = {2 * d} over the median of n = {d}"
        rows.append(median_of(text, ratio, (0, 0.5), OURS))
    return rows
