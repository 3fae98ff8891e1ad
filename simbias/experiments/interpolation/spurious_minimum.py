"""Global, then spurious: a small start against the best found, as n passes m·d.

A small start ends near one regression per sign, whatever the width.  Is that the global
minimum?  The same network is trained on the same sample from many large starts, and the
least train error found is an upper bound of the global minimum: the gap to it is a
lower bound of what the small start misses.  With few samples both interpolate.  At
n = m·d a large start still fits nearly all of the noise and the small one does not: its
error where it is at t = 1000 is no lack of expressivity.  For n → ∞ at fixed m and d
the best parameters are those of the population, the regression line again.  If a
hidden weight takes σ²/n of the train error, as in a regression, two groups leave
(m − 2)d of them, and the gap to the best found closes like (m − 2)d/n: never at a
finite n, and whether there are better networks than those found it does not say.

Reference: Boursier & Flammarion (2024), arXiv:2410.02348; the three regimes are those
of the discussion of that paper on OpenReview (ICLR 2025, reviewer of the expressivity).
"""

import numpy as np
import xarray as xr
from matplotlib.figure import Figure

from simbias.analysis.parts import with_axes
from simbias.claims import median_of
from simbias.core import Claim, Experiment
from simbias.experiments._shared_sample import shared_sample
from simbias.experiments._times import log_times
from simbias.figures import law_level, law_line, law_moment, legend_below
from simbias.figures.band import band
from simbias.figures.style import COLOURS, blank, style
from simbias.flows import Descent, ReluFlow
from simbias.losses import half_mse
from simbias.measures import ExcessRisk, TrainRisk
from simbias.presets import presets
from simbias.results import is_finished
from simbias.stops import TrainRiskBelow

PAPER = "Boursier & Flammarion (2024), arXiv:2410.02348"
# What the claims are about: the final time of the smallest preset at least.
LEAST_TIME = 300.0
REVIEW = "discussion of the paper on OpenReview (ICLR 2025): global, spurious, global"
DERIVED = "derived: a free weight takes σ²/n, as in a regression; " + REVIEW

experiment = presets(
    Experiment(
        name="spurious_minimum",
        make=shared_sample,
        cell={
            "n": (10, 30, 100, 300, 1000),
            "m": 20,
            "d": 5,
            "scale": (1e-3, 1.0, 3.0),
            "start": (0, 1, 2),
            "draw": tuple(range(6)),
        },
        seeds=1,
        flow=ReluFlow(rtol=1e-4),
        loss=half_mse,
        times=log_times(1.0, 1000.0, 10),
        measures={"train_risk": TrainRisk(), "excess_risk": ExcessRisk()},
        stop=TrainRiskBelow(1e-8),
    ),
    smoke={
        "cell": {
            "n": (4, 40),
            "scale": (1e-3, 1.0),
            "start": (0, 1),
            "draw": (0, 1),
            "n_test": 200,
        },
        "least_rows": 40,
        "times": log_times(1.0, 300.0, 8),
        # Compiles in a fraction of the time.
        "flow": Descent(rate=0.1),
    },
    paper={
        "cell": {
            # m·d of every pair is one of them.
            "n": (10, 25, 50, *(100 * 2**i for i in range(11))),
            "m": (20, 80, 320),
            "d": (5, 10),
            "start": tuple(range(20)),
            "draw": tuple(range(20)),
        },
        "times": log_times(1.0, 10_000.0, 20),
    },
)


def ends(ds: xr.Dataset) -> xr.Dataset:
    """Train error over σ² at the end, over (m, d, n, draw).

    `small`: of the smallest λ, median over starts; `best`: the least of all members on
    the sample; `gap` = small − best, a lower bound of the distance from the global
    minimum; `large`: median over the members of larger λ.
    """
    ds = with_axes(ds, AXES)
    final = ds["train_risk"].where(is_finished(ds)) / ds["sigma"] ** 2
    final = final.isel(time=-1, seed=0, drop=True).transpose(*AXES)
    small, large = final.isel(scale=0, drop=True), final.isel(scale=slice(1, None))
    best = final.min(["scale", "start"])
    return xr.Dataset(
        {
            "small": small.median("start"),
            "large": large.median(["scale", "start"]),
            "best": best,
            "gap": small.median("start") - best,
        }
    )


# What the figure and the claims read.
AXES = ("m", "d", "n", "scale", "start", "draw")


def figure(ds: xr.Dataset) -> Figure:
    """Train error of the small start and the best found, and their difference."""
    found = ends(ds)
    with style():
        whole = blank(9.6, 3.8)
        both, gap = whole.subplots(1, 2)
        for i, (m, d) in enumerate(_cells(found)):
            part = found.sel(m=m, d=d).rename(draw="seed")
            n, colour = part["n"].values, COLOURS[i % len(COLOURS)]
            label = f"m = {m}, d = {d}"
            gap_label = f"difference, median, 10–90 % of draws, {label}"
            names = {"small": "small start", "best": "best of all starts"}
            for (name, text), mark in zip(names.items(), ("o-", "s--"), strict=True):
                middle = part[name].median("seed")
                both.plot(n, middle, mark, ms=4, color=colour, label=f"{text}, {label}")
            band(gap, n, part["gap"], "o-", colour=colour, label=gap_label, ms=4)
            law_moment(gap, m * d, color=colour)
            law = _free(m, d) / n
            law_line(gap, n, np.where(law < 0.5, law, np.nan), colour=colour)
        both.set_title("train error over σ², median of draws")
        gap.set_title("small start − best found; dotted: n = m·d, dashed: (m − 2)d/n")
        law_level(both, 1)
        for axes in (both, gap):
            axes.set_xscale("log")
            axes.set_xlabel("samples n")
        legend_below(whole, columns=3)
        time = float(ds["time"][-1])
        whole.suptitle(
            f"at t = {time:g}, {ds.sizes.get('start', 1)} starts per sample and scale",
            fontsize="medium",
        )
    return whole


def _cells(found: xr.Dataset) -> list[tuple[int, int]]:
    return [(int(m), int(d)) for m in found["m"].values for d in found["d"].values]


def claims(ds: xr.Dataset) -> list[Claim]:
    """Both interpolate; what the small start misses at n = m·d; how the gap closes."""
    found, when = ends(ds), f"t = {float(ds['time'][-1]):g}"
    return [
        claim
        for m, d in _cells(found)
        for claim in _regimes(found.sel(m=m, d=d), m, d, f"m = {m}, d = {d}, {when}")
    ]


def _regimes(part: xr.Dataset, m: int, d: int, where: str) -> list[Claim]:
    sizes = part["n"].values
    first, last, middle = int(sizes[0]), int(sizes[-1]), m * d
    few, many = part.sel(n=first), part.sel(n=last)
    is_there = middle in sizes
    at = part.sel(n=middle) if is_there else few.where(False)
    spurious, fitted = "gap to the best found", "best train error"
    return [
        # No network is below 0, so that this bounds what is missed from above.
        median_of(
            f"train error of the small start over σ², n = {first}, {where}",
            few["small"],
            (0, 0.01),
            PAPER,
        ).given(first < middle, "n < m·d"),
        median_of(
            f"{spurious} over σ², n = m·d, {where}",
            at["gap"],
            (0.25, np.inf),
            PAPER,
        ).given(is_there, "n = m·d"),
        median_of(
            f"{fitted} over σ², n = m·d, {where}",
            at["best"],
            (0, 0.25),
            PAPER,
        ).given(is_there, "n = m·d"),
        median_of(
            f"{spurious} over (m − 2)d/n σ², n = {last}, {where}",
            many["gap"] * last / _free(m, d),
            (0.5, 1.5),
            DERIVED,
        ).given(last >= 10 * middle, "n ≥ 10·m·d"),
    ]


def _free(m: int, d: int) -> int:
    """Hidden weights beside those of two groups."""
    return (m - 2) * d
