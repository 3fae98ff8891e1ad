"""The figure of the threshold: errors with both laws, pairs, and cosines."""

from typing import Any

import numpy as np
import xarray as xr
from matplotlib.axes import Axes
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
from simbias.theory.two_group import ols_law, two_group_law

# Inches of a panel, to the right and up, and of a line of the legend.
_WIDTH, _HEIGHTS, _LINE = 4.4, (3.6, 2.6), 0.3


def threshold_figure(ds: xr.Dataset) -> Figure:
    """Errors against n with both laws, also in pairs; cosines with OLS for three n."""
    with style():
        each = list(parts(ds, ("n",)))
        # The third panel needs a teacher, and so does n*, in units of its noise.
        has_teacher = are_laws_drawn()
        across = 3 if has_teacher else 2
        heights = [_HEIGHTS[0] + _LINE * (1 + len(each)), _HEIGHTS[1]]
        whole = blank(_WIDTH * across, sum(heights))
        top, row = list(whole.subfigures(2, 1, height_ratios=heights))  # pyright: ignore
        train, test, *pairs = top.subplots(1, across)
        for i, (label, part) in enumerate(each):
            text = label or "median, 10–90 % of seeds"
            _errors(train, part, "train_risk", text, i, "train error")
            _errors(test, part, "test_risk", text, i, "test error")
            if has_teacher:
                _n_star(train, part, label, COLOURS[i % len(COLOURS)])
            for axes in pairs:
                _pairs(axes, part, i)
        train.set_ylabel("mean squared error")
        test.set_yscale("log")
        test.yaxis.set_major_locator(LogLocator(subs=(1, 2, 5)))
        test.yaxis.set_major_formatter("{x:g}")
        test.yaxis.set_minor_locator(NullLocator())
        legend_below(top, train, columns=2)
        shown = _three_of(np.atleast_1d(ds["n"].values))
        panels = row.subplots(1, max(across, len(shown)), sharey=True)
        for axes in panels[len(shown) :]:
            axes.remove()
        shares = [part["cosine_histogram"].sel(n=shown) for _, part in each]
        cosine_histograms(list(panels[: len(shown)]), *shares)
    return whole


def n_star_of(ds: xr.Dataset) -> Threshold | None:
    """n*, if at least two sizes have networks that finished."""
    seen = interpolates(ds).dropna("n", how="all")
    return threshold(seen) if seen.sizes["n"] > 1 else None


def _three_of(sizes: np.ndarray) -> np.ndarray:
    """The smallest size, one near n* in the published range, and the largest."""
    return np.unique(sizes[[0, len(sizes) // 3, -1]])


def _n_star(axes: Axes, part: xr.Dataset, label: str | None, colour: str) -> None:
    """A line at n*, and its interval as a stripe."""
    n_star = n_star_of(part)
    if n_star is None or not n_star.is_bracketed:
        return
    text = f"n* = {n_star.value:.3g}" + (f", {label}" if label else "")
    if part.sizes["seed"] >= ENOUGH_SEEDS:
        # An open end is that of the grid.
        sizes = part["n"].values
        ends = np.clip([n_star.low, n_star.high], sizes.min(), sizes.max())
        axes.axvspan(*ends, color=colour, alpha=0.1, lw=0)
        text += " and its 95 % interval"
    else:
        text += f" (few seeds: {part.sizes['seed']})"
    axes.axvline(n_star.value, color=colour, linewidth=0.8, label=text)


def _errors(
    axes: Any, part: xr.Dataset, name: str, label: str, i: int, title: str
) -> None:
    d, variance = int(part["d"]), float(part["sigma"]) ** 2
    which = 0 if name == "train_risk" else 1
    n = part["n"].values.astype(float)
    laws = {
        "two regressions, σ²(1 ∓ 2d/n)": two_group_law(n, d, variance)[which],
        "one regression, σ²(1 ∓ d/n)": ols_law(n, d, variance)[which],
    }
    if i > 0:  # of several curves the first names the laws
        laws = {f"_{name}": law for name, law in laws.items()}
    error_curves(
        axes,
        part[name].isel(time=-1),
        noise_variance=variance,
        laws={k: xr.DataArray(v, {"n": n}, ("n",)) for k, v in laws.items()},
        title=title,
        label=label,
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
        axes.set_title("train error − two regressions")
        axes.set_ylabel("difference over σ²")
