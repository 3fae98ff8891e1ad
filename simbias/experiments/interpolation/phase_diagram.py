"""Phase diagram of interpolation in n/d and λ, with more seeds where it is open.

A cell of the map is a size and a scale.  It interpolates if more than half of the
samples do, and the interval of that share tells which: all of it above ½, all below, or
undecided.  A sample of which it is not proven how it ends counts both ways.

    λ → 0    n* is that of aligned neurons: between d and d³, with no λ in it
    λ ~ 1    n* is that of the width: md weights fit n < m samples at least

and between the two n* does not fall with λ: the larger the start, the more neurons are
left behind.  `refined` says where more seeds, and which sizes between, decide most, and
`benchmarks/phase_diagram.py` adds them to the run, a folder that can be stopped.

Reference: Boursier & Flammarion (2024), arXiv:2410.02348, the threshold for small λ;
the map is ours.
"""

import itertools

import numpy as np
import xarray as xr
from matplotlib.axes import Axes
from matplotlib.colors import ListedColormap

from simbias.analysis.wilson import wilson
from simbias.claims import Claims, estimate_of, mean_of
from simbias.core import Claim, Estimate, Experiment
from simbias.experiment_presets import presets
from simbias.experiments._noisy_teacher import SHARED, noisy_teacher
from simbias.experiments._times import log_times
from simbias.experiments.interpolation._rest import known_limits
from simbias.figures import Drawing, Panels
from simbias.flows import ReluFlow
from simbias.losses import half_mse
from simbias.measures import TrainRisk
from simbias.stops import Stationary

AXES = ("n", "scale")
PAPER = "Boursier & Flammarion (2024), arXiv:2410.02348"
OURS = "ours, docs/interpolation/phase_diagram.md"
# λ from which on a start is large, and down from which it is small.
LARGE, SMALL = 1.0, 1e-6
VERDICTS = {-1: "does not", 0: "undecided", 1: "interpolates"}
_COLOURS = ("#D55E00", "#DDDDDD", "#0072B2")
_BOTH = "Wilson score, what is unknown counted both ways"

experiment = presets(
    Experiment(
        name="phase_diagram",
        make=noisy_teacher,
        cell={
            "d": 2,
            "n": (2, 4, 6, 14),
            "m": 24,
            "scale": (1e-9, 1e-6, 1e-2, 1.0),
            "n_test": 1,
        },
        seeds=8,
        shared=SHARED,
        # No sample of this root had been seen when the claims were written.
        root=4000,
        flow=ReluFlow(rtol=1e-4),
        loss=half_mse,
        times=log_times(10.0, 1e4, 14),
        measures={"train_risk": TrainRisk()},
        # As in `interpolating_samples`: below this a member interpolates.
        stop=Stationary(interpolated=5e-5),
    ),
    smoke={
        "cell": {"n": (2, 14), "scale": (1e-6, 1.0)},
        "seeds": 4,
        "times": log_times(10.0, 1e3, 6),
    },
    paper={
        "cell": {
            "d": (5, 10, 20, 40),
            "n": (5, 10, 20, 40, 80, 160, 320, 640, 1280),
            "m": 200,
            "scale": (1e-12, 1e-9, 1e-6, 1e-4, 1e-3, 1e-2, 1e-1, 1.0),
        },
        "seeds": 64,
        "times": log_times(10.0, 1e6, 40),
    },
)


def counts(ds: xr.Dataset) -> dict[tuple[int, float], tuple[int, int, int]]:
    """By (n, λ) how many members interpolate, how many do not, and of how many."""
    seen = known_limits(ds)["interpolates"]
    each = ((seen == 1), (seen == 0), ds["status"].notnull())
    won, lost, seeds = (v.sum("seed").transpose(*AXES).values for v in each)
    cells = itertools.product(ds["n"].values.tolist(), ds["scale"].values.tolist())
    rows = np.stack([won, lost, seeds], axis=-1).reshape(-1, 3).tolist()
    return {cell: tuple(row) for cell, row in zip(cells, rows, strict=True) if row[2]}


def shares(ds: xr.Dataset) -> dict[tuple[int, float], Estimate]:
    """By (n, λ) the share that interpolates; what is unknown counts both ways."""
    return {cell: _share(*row) for cell, row in counts(ds).items()}


def _share(won: int, lost: int, seeds: int) -> Estimate:
    low, high = wilson(won, seeds).low, wilson(seeds - lost, seeds).high
    middle = (won + seeds - lost) / 2 / seeds
    return Estimate(middle, low, high, f"{_BOTH}, of {seeds}")


def verdict(seen: Estimate) -> int:
    """1 if all of the interval is above ½, −1 if all of it is below, else 0."""
    return int(seen.low > 0.5) - int(seen.high < 0.5)


def refined(ds: xr.Dataset, most: int) -> dict[tuple[int, float], int]:
    """By (n, λ) how many seeds decide more: those that there are in what is decided.

    An undecided cell gets twice as many, up to `most`, unless the limits of most of its
    members are unknown, which takes time and not seeds; between two sizes that are
    decided, and not alike, there is a new one, half way in ln n, with the seeds of the
    first.
    """
    found, wanted = shares(ds), dict[tuple[int, float], int]()
    for cell, (won, lost, seeds) in counts(ds).items():
        is_open = 2 * (won + lost) >= seeds and not verdict(found[cell])
        wanted[cell] = max(seeds, min(2 * seeds, most)) if is_open else seeds
    for scale in sorted({scale for _, scale in found}):
        sizes = [n for n, here in found if here == scale]
        for n, after in itertools.pairwise(sizes):
            between = round((n * after) ** 0.5)
            pair = {verdict(found[n, scale]), verdict(found[after, scale])}
            if pair == {1, -1} and n < between < after:
                wanted[between, scale] = wanted[n, scale]
    return wanted


def _draw(axes: Axes, ds: xr.Dataset) -> None:
    """A colour for every cell that was run, and its share with the seeds."""
    found, d = counts(ds), int(ds["d"])
    scales = sorted({scale for _, scale in found})
    for i, scale in enumerate(scales):
        here = {n: row for (n, s), row in found.items() if s == scale}
        kinds = [verdict(_share(*row)) for row in here.values()]
        axes.pcolormesh(
            np.exp(_edges(np.log([n / d for n in here]))),
            [i - 0.5, i + 0.5],
            [kinds],
            cmap=ListedColormap(_COLOURS),
            vmin=-1,
            vmax=1,
            edgecolor="white",
        )
        for kind, (n, row) in zip(kinds, here.items(), strict=True):
            axes.text(
                n / d,
                i,
                _label(*row),
                fontsize=7,
                color="white" if kind else "black",
                ha="center",
                va="center",
            )
    for colour, text in zip(_COLOURS, VERDICTS.values(), strict=True):
        axes.plot([], [], "s", color=colour, label=text)
    axes.set_xscale("log")
    every = sorted({n / d for n, _ in found})
    axes.set_xticks(every, [f"{v:g}" for v in every])
    axes.minorticks_off()
    axes.set_yticks(range(len(scales)), [f"{v:g}" for v in scales])
    axes.grid(visible=False)


def _label(won: int, lost: int, seeds: int) -> str:
    """The share of a cell: from … to if some members are unknown, "?" if all are."""
    low, high = won / seeds, 1 - lost / seeds
    share = f"{low:.2f}" if low == high else f"{low:.2f}…{high:.2f}"
    return f"{share if won + lost else '?'}\nof {seeds}"


def _edges(middles: np.ndarray) -> np.ndarray:
    """Half way between, and as far beyond the ends."""
    if len(middles) == 1:
        return middles + np.array([-0.5, 0.5])
    between = (middles[1:] + middles[:-1]) / 2
    first, last = 2 * middles[0] - between[0], 2 * middles[-1] - between[-1]
    return np.array([first, *between, last])


figure = Panels(
    Drawing(
        _draw,
        title="share that interpolates, d = {d}, m = {m}",
        ylabel="initial scale λ",
    ),
    xlabel="n/d",
    size=(6.2, 4.2),
)


def claims(ds: xr.Dataset) -> list[Claim]:
    """Both ends of the map, what λ changes between, and what it does not."""
    d, m, rows = int(ds["d"]), int(ds["m"]), []
    for (n, scale), seen in shares(ds).items():
        where = f"n = {n}, λ = {scale:g}"
        if scale >= LARGE and m / 2 < n < m:
            text = f"control, large start: share that interpolates, {where}"
            rows.append(estimate_of(text, seen, (0.5, 1), OURS))
        if scale <= SMALL and n >= d**3:
            text = f"share that interpolates beyond d³, {where}"
            rows.append(estimate_of(text, seen, (0, 0.5), PAPER))
        if scale <= SMALL and n <= d:
            text = f"share that interpolates at n ≤ d, {where}"
            rows.append(estimate_of(text, seen, (0.5, 1), PAPER))
    return [*rows, *_of_scale(ds)]


def _of_scale(ds: xr.Dataset) -> list[Claim]:
    """Sizes that a sample is interpolated at, of all: more for large λ."""
    seen = known_limits(ds)["interpolates"]
    least, most = (seen.fillna(v).mean("n") for v in (0.0, 1.0))
    grows = least.isel(scale=-1) - most.isel(scale=0)
    small = least.sel(scale=least["scale"] <= SMALL)
    stays = small.isel(scale=-1) - small.isel(scale=0) if small["scale"].size else []
    several = Claims(needs={"two values of λ": seen["scale"].size > 1})
    both = Claims(needs={"two small λ": small["scale"].size > 1})
    text = "sizes interpolated, of all, at the largest λ less the smallest, at least"
    same = f"the same at the largest λ ≤ {SMALL:g} less the smallest, unknown as none"
    return [
        *several.rows(mean_of(text, grows, (0.2, 1), OURS)),
        *both.rows(mean_of(same, stays, (-0.1, 0.1), PAPER)),
    ]
