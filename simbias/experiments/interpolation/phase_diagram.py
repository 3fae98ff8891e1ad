"""Phase diagram of interpolation in n/d and λ, with more seeds in open cells.

A cell of the map is a size and a scale.  It interpolates if more than half of its
datasets are interpolated.  The interval of that share decides: all of it above ½, all
of it below, or undecided.  A network without a proven limit counts as both.

    λ → 0    n* is that of aligned neurons: between d and d³, independent of λ
    λ ~ 1    n* is that of the width: md weights fit at least n < m samples

Between the two, n* does not fall with λ: from a larger initialisation more neurons have
not aligned in time.  `refined` in `_map.py` chooses cells for more seeds, and new sizes
between old ones.  `benchmarks/phase_diagram.py` adds them to the run.

A limit that does not interpolate is spurious: some network fits the sample
(`_rest.spurious`).  It is one among networks of its own width if n ≤ m.  Predictions of
this, before a run with it, at d = 2 and 5: from λ ≤ 1e-6 more than half of the limits
are spurious at n ≥ d³; at n ≤ d, and from λ = 1 at m/2 < n < m, less than half.

Reference: Boursier & Flammarion (2024), arXiv:2410.02348, the threshold for small λ;
the map is ours.
"""

import xarray as xr

from simbias.claims import Claims, estimate_of, mean_of
from simbias.core import Claim, Experiment
from simbias.experiment_presets import presets
from simbias.experiments._noisy_teacher import SHARED, noisy_teacher
from simbias.experiments._times import log_times
from simbias.experiments.interpolation._map import AXES as AXES
from simbias.experiments.interpolation._map import draw_map, shares
from simbias.experiments.interpolation._rest import (
    known_limits,
    share_either_way,
    spurious,
)
from simbias.figures import Drawing, Panels
from simbias.flows import ReluFlow
from simbias.losses import half_mse
from simbias.measures import ParameterNorm, TrainRisk
from simbias.stops import Stationary

PAPER = "Boursier & Flammarion (2024), arXiv:2410.02348"
OURS = "ours, docs/interpolation/phase_diagram.md"
# λ from which on a start is large, and down from which it is small.
LARGE, SMALL = 1.0, 1e-6

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
        measures={"train_risk": TrainRisk(), "norm": ParameterNorm()},
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
    # A size beyond d³, and as many seeds as decide most cells; a root of its own.
    five={
        "cell": {"d": 5, "n": (5, 10, 20, 40, 130), "m": 60},
        "seeds": 32,
        "root": 5000,
    },
)


figure = Panels(
    Drawing(
        draw_map,
        title="share that interpolates, d = {d}, m = {m}",
        ylabel="initial scale λ",
    ),
    xlabel="n/d",
    size=(6.2, 4.2),
)


def claims(ds: xr.Dataset) -> list[Claim]:
    """Both ends of the map, and where λ matters between them."""
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
    return [*rows, *_of_scale(ds), *_spurious_rows(ds)]


def _spurious_rows(ds: xr.Dataset) -> list[Claim]:
    """Shares of spurious limits, in the cells that other claims are about."""
    d, m, rows = int(ds["d"]), int(ds["m"]), []
    for n, scale in shares(ds) if "norm" in ds else ():
        is_beyond = scale <= SMALL and n >= d**3
        is_control = n <= d if scale <= SMALL else scale >= LARGE and m / 2 < n < m
        if is_beyond or is_control:
            one = spurious(ds.sel(n=[n], scale=[scale]), experiment())
            seen = share_either_way(one.where(ds["status"].notnull(), drop=True))
            before, band = ("", (0.5, 1)) if is_beyond else ("control, ", (0, 0.5))
            text = f"{before}share of spurious limits, n = {n}, λ = {scale:g}"
            rows.append(estimate_of(text, seen, band, PAPER if is_beyond else OURS))
    return rows


def _of_scale(ds: xr.Dataset) -> list[Claim]:
    """Share of the sizes at which a dataset is interpolated: larger for large λ."""
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
