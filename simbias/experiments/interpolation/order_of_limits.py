"""Order of limits, t → ∞ and λ → 0: thresholds at proven limits and at fixed times.

At a fixed time, an initialisation of scale λ → 0 has learned nothing: it leaves 0 at
about (1/G) ln(1/λ), with G the largest growth rate.  So the optimisation threshold n*
is first a question about t → ∞.  Every network is trained until its limit is proven
(`Stationary`) or until it interpolates.  If neither is known, it counts as both.  So no
verdict depends on a final time.

The prediction: the limits t → ∞ have a limit λ → 0.  Below some λ nearly every network
ends at the same loss for every λ.  Then n* depends only on the law of the data; it lies
above the size that two regressions interpolate and at most at d³. Nearly every network
interpolates d samples, so a first claim, n* between d and d³, could hardly fail.  From
λ = 0.1, the control, networks beyond n* end elsewhere: neurons that have not aligned
grow late and fit some of the noise.

Reference: Boursier & Flammarion (2024), arXiv:2410.02348: the threshold for λ below a
bound that does not depend on n and m; that the limit is one of t → ∞ first is ours.
"""

import numpy as np
import xarray as xr

from simbias.claims import Claims, estimate_of, share_of
from simbias.core import Claim, Experiment
from simbias.experiment_presets import presets
from simbias.experiments._noisy_teacher import SHARED, noisy_teacher
from simbias.experiments._times import log_times
from simbias.experiments.interpolation._rest import (
    INTERPOLATED,
    known_limits,
    size_of_half,
)
from simbias.figures import Curves, Estimates, Law, Panels, VerticalLaw
from simbias.flows import ReluFlow
from simbias.losses import half_mse
from simbias.measures import TrainRisk
from simbias.stops import Stationary
from simbias.theory.two_group import two_group_threshold

AXES = ("n", "scale")
PAPER = "Boursier & Flammarion (2024), arXiv:2410.02348"
OURS = "ours, docs/interpolation/order_of_limits.md"
# λ that counts as small; that of the control; a time before small starts leave 0.
SMALL, LARGE, EARLY = 1e-6, 0.1, 5.0
# Train errors over σ² that are the same.
SAME = 0.01

experiment = presets(
    Experiment(
        name="order_of_limits",
        make=noisy_teacher,
        cell={
            "d": 2,
            "n": (3, 6, 16),
            "m": 16,
            "scale": (1e-12, 1e-9, 1e-6, 1e-1),
            "n_test": 1,
        },
        seeds=12,
        shared=SHARED,
        # No sample of this root had been seen when the claims were written.
        root=3000,
        flow=ReluFlow(rtol=1e-4),
        loss=half_mse,
        times=log_times(EARLY, 1e5, 20),
        measures={"train_risk": TrainRisk()},
        # As in `interpolating_samples`: below this a member interpolates.
        stop=Stationary(interpolated=5e-5),
    ),
    smoke={
        "cell": {"n": (3, 16), "scale": (1e-9, 1e-1)},
        "seeds": 4,
        "times": log_times(EARLY, 1e3, 6),
    },
    paper={
        "cell": {
            "d": (2, 3, 5, 10),
            "n": (3, 6, 12, 24, 48, 100, 200),
            "m": (50, 200),
            "scale": (1e-20, 1e-16, 1e-12, 1e-9, 1e-6, 1e-3, 1e-1),
        },
        "seeds": 100,
        "times": log_times(EARLY, 1e9, 60),
    },
)


def _limits(ds: xr.Dataset) -> xr.DataArray:
    """Share of the networks with a known limit, and the range due to the others."""
    seen = known_limits(ds)["interpolates"]
    ways = [seen.mean("seed"), *(seen.fillna(v).mean("seed") for v in (0.0, 1.0))]
    return xr.concat(ways, xr.DataArray(["value", "low", "high"], dims="end"))


def _share_at(ds: xr.Dataset) -> xr.DataArray:
    """Share of networks that interpolate at each time, for all n."""
    risk = ds["train_risk"] / ds["sigma"] ** 2
    return (risk < INTERPOLATED).mean(["n", "seed"]).where(ds["time"] > 0)


def _ends(ds: xr.Dataset) -> xr.DataArray:
    """Times from which limits are known, each twice, as corners of steps; else NaN."""
    is_known = known_limits(ds)["interpolates"].notnull()
    ends = ds["end_time"].where(is_known).transpose("scale", "n", "seed").values
    ends = np.sort(ends.reshape(len(ends), -1)).repeat(2, axis=1)
    return xr.DataArray(ends, {"scale": ds["scale"]}, ("scale", "corner"))


def _share_open(ds: xr.Dataset) -> xr.DataArray:
    """Share of the networks whose limit is known later, or never."""
    ends = _ends(ds)
    known = (np.arange(ends.sizes["corner"]) + 1) // 2 / (ends.sizes["corner"] // 2)
    return xr.zeros_like(ends) + xr.DataArray(1 - known, dims="corner")


_HALF = (Law(0.5, line=":"),)
_SIZES = (
    VerticalLaw(lambda ds: two_group_threshold(int(ds["d"])), "two regressions"),
    VerticalLaw(lambda ds: float(ds["d"]) ** 3, "d³"),
)
_share = {"ylim": (-0.03, 1.03), "xscale": "log"}
figure = Panels(
    Estimates(
        _limits,
        colour="scale",
        is_joined=True,
        beside=0.03,
        title="share that interpolates, t → ∞",
        x="n",
        xlabel="samples n",
        ticks=True,
        laws=(*_HALF, *_SIZES),
        **_share,
    ),
    Curves(
        _share_at,
        colour="scale",
        line="scale",
        title="share that interpolates at t, of all n",
        laws=_HALF,
        **_share,
    ),
    Curves(
        _share_open,
        colour="scale",
        line="scale",
        x=_ends,
        xscale="log",
        yscale="log",
        title="share whose limit is not yet proven",
    ),
    xlabel="time t",
    names={"scale": "λ"},
    size=(4.2, 4.2),
)


def claims(ds: xr.Dataset) -> list[Claim]:
    """n*, proven limits, and limits that do not depend on a small λ."""
    seen, d = known_limits(ds), int(ds["d"])
    first, sizes = float(ds["scale"][0]), ds["n"].values
    smallest = seen["interpolates"].sel(scale=first)
    limit = seen["loss"].sel(scale=first, drop=True)
    start = f"from λ = {first:g}"
    text = f"interpolated for t → ∞, n = {sizes[0]}, {start}"
    half = f"n* for t → ∞ between {{}} and d³ = {d**3}, {start}"
    least, n_star = two_group_threshold(d), size_of_half(smallest)
    # Nearly every network interpolates d samples: the first band hardly fails.
    above = half.format(f"{least:.3g} (two regressions)")
    rows = [
        share_of(text, smallest.isel(n=0), (0.5, 1), PAPER),
        estimate_of(half.format("d"), n_star, (d, d**3), PAPER),
        estimate_of(above, n_star, (least, d**3), f"{PAPER}; lower end ours"),
    ]
    for scale in map(float, ds["scale"].values):
        here = seen.sel(scale=scale)
        if scale <= SMALL:
            text = f"members whose limit is known, all n, λ = {scale:g}"
            is_known = here["interpolates"].notnull()
            rows.append(share_of(text, is_known, (0.8, 1), OURS, pooled=("n",)))
        if first < scale:
            rows += _same(here["loss"] - limit, start)
    return Claims(needs={f"λ ≤ {SMALL:g}": first <= SMALL}).rows(*rows)


def _same(apart: xr.DataArray, start: str) -> list[Claim]:
    """The limits from one λ compared with those from the smallest, in pairs."""
    scale, d = float(apart["scale"]), int(apart["d"])
    is_same = (apart**2 < SAME**2).where(apart.notnull()).astype(float)
    text = f"limits within {SAME:g} σ² of those {start}, λ = {scale:g}"
    if scale <= SMALL:
        return [share_of(f"{text}, all n", is_same, (0.8, 1), OURS, pooled=("n",))]
    beyond = is_same.sel(n=is_same["n"] > d**3)
    text = f"control: {text}, n > d³"
    control = share_of(text, beyond, (0, 0.5), OURS, pooled=("n",))
    return [control] if scale >= LARGE else []
