"""The figure of the threshold: errors with both laws, pairs, and cosines."""

from typing import Any

import numpy as np
import xarray as xr
from matplotlib.figure import Figure
from matplotlib.ticker import LogLocator, NullLocator

from simbias.analysis.interval import ENOUGH_SEEDS
from simbias.analysis.parts import parts
from simbias.analysis.threshold import Threshold, threshold
from simbias.experiments.interpolation._rest import interpolates
from simbias.figures import LAW, law_level, law_line, legend_below
from simbias.figures.band import band
from simbias.figures.cosine_histograms import cosine_histograms
from simbias.figures.error_curves import error_curves
from simbias.figures.laws import are_laws_drawn
from simbias.figures.style import COLOURS, blank, style
from simbias.results import is_finished
from simbias.theory.two_group import ols_law, two_group_law


def threshold_figure(ds: xr.Dataset) -> Figure:
    """Errors against n with both laws, by pairs too; cosines with OLS per n."""
    with style():
        each = list(parts(ds, ("n",)))
        sizes = each[0][1]["n"].values
        heights = [4.6, 1.7 if len(each) == 1 else 2.2]
        whole = blank(max(12.0, 1.35 * len(sizes)), sum(heights))
        top, row = list(whole.subfigures(2, 1, height_ratios=heights))  # pyright: ignore
        has_teacher = are_laws_drawn()
        # The third panel needs a teacher, and so does n*, in units of its noise.
        train, test, *pairs = top.subplots(1, 3 if has_teacher else 2)
        for i, (label, part) in enumerate(each):
            n_star = n_star_of(part) if has_teacher else None
            text = label or "median, 10–90 % of seeds"
            if n_star is not None and n_star.is_bracketed:
                colour = COLOURS[i % len(COLOURS)]
                train.axvline(n_star.value, color=colour, linewidth=0.8)
                text += f"; n* = {n_star.value:.3g} (line"
                if part.sizes["seed"] >= ENOUGH_SEEDS:
                    # An open end is that of the grid.
                    ends = np.clip([n_star.low, n_star.high], sizes.min(), sizes.max())
                    train.axvspan(*ends, color=colour, alpha=0.1, lw=0)
                    text += ", 95 % interval)"
                else:
                    text += f", few seeds: {part.sizes['seed']})"
            _errors(train, part, "train_risk", text, i, "train error (MSE)")
            _errors(test, part, "test_risk", text, i, "test error (MSE)")
            for axes in pairs:
                _pairs(axes, part, i)
        test.set_yscale("log")
        test.yaxis.set_major_locator(LogLocator(subs=(1, 1.2, 1.5, 2, 3, 5, 7)))
        test.yaxis.set_major_formatter("{x:g}")
        test.yaxis.set_minor_locator(NullLocator())
        legend_below(top, train, columns=2)
        panels = row.subplots(1, len(sizes), sharey=True, squeeze=False)[0]
        cosine_histograms(list(panels), *(part["cosine_histogram"] for _, part in each))
        top.suptitle(_caption(ds, has_teacher), fontsize="medium")
    return whole


def n_star_of(ds: xr.Dataset) -> Threshold | None:
    """n*, if at least two sizes have members that finished."""
    seen = interpolates(ds).dropna("n", how="all")
    return threshold(seen) if seen.sizes["n"] > 1 else None


def _errors(
    axes: Any, part: xr.Dataset, name: str, label: str, i: int, title: str
) -> None:
    d, variance = int(part["d"]), float(part["sigma"]) ** 2
    which = 0 if name == "train_risk" else 1
    n = part["n"].values.astype(float)
    laws = {
        "least squares per sign, 1 ∓ 2d/n": two_group_law(n, d, variance)[which],
        "least squares, 1 ∓ d/n": ols_law(n, d, variance)[which],
    }
    if i > 0:  # of several curves the first names the laws
        laws = {f"_{name}": law for name, law in laws.items()}
    error_curves(
        axes,
        part[name].isel(time=-1),
        noise_variance=variance,
        laws={k: xr.DataArray(v, {"n": n}, ("n",)) for k, v in laws.items()},
        title=title,
        label=label or "median, 10–90 % of seeds",
        colour=COLOURS[i % len(COLOURS)],
    )


def _pairs(axes: Any, part: xr.Dataset, i: int) -> None:
    """Train error minus that of two regressions on the same sample, over σ²."""
    d, variance = int(part["d"]), float(part["sigma"]) ** 2
    n, colour = part["n"].values, COLOURS[i % len(COLOURS)]
    gap = part["two_group_gap"].isel(time=-1) / variance
    band(axes, n, gap, "o-", colour=colour, ms=4)
    if i == 0:
        law_level(axes, 0, color=LAW, ls="--")
        law_line(axes, n[n > d], (d / n)[n > d], line="-.")
        axes.set_xscale("log")
        axes.set_xticks(n, [f"{v:g}" for v in n])
        axes.minorticks_off()
        axes.set_xlabel("samples n")
        axes.set_title("train error − two regressions, over σ²")


def _caption(ds: xr.Dataset, has_teacher: bool) -> str:
    seeds, missing = ds.sizes["seed"], int((~is_finished(ds)).sum())
    teacher = " on a noisy linear teacher" if has_teacher else ""
    text = (
        f"two-layer networks{teacher}, "
        f"t = {ds['time'].values[-1]:g}, {seeds} seeds per size, "
        f"{missing} of {ds['status'].size} networks failed or missing"
    )
    if not has_teacher:
        return text
    return text + (
        "\n"
        "laws: means over samples. Trained below both is no better fit: the right "
        "panel tells luck of the samples (0) from noise that was learned (below 0)"
    )
