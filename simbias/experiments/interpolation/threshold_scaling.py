"""Scaling of the threshold: with dimension, width, initial scale and noise.

The networks are those of `threshold`.  The dataset of a seed is the same along every
axis, so ratios of thresholds are known better than thresholds.  There are two
definitions of n*.  Both are the n at which a median over seeds rises to a level, linear
in ln n between sizes:

    0.01 σ²   the train error of the median network: it no longer interpolates
    σ²/2      half of the noise remains: the middle of the transition

n* is compared along every axis of several values (d, m, scale, sigma), with the
exponent p of n* ∝ qᵖ. Claims on d need networks that end alike from λ = 1e-12 and from
1e-100, where neurons align eight times as long.  Then n* does not depend on the
initialisation.

Reference: Boursier & Flammarion (2024), arXiv:2410.02348: n* grows with d (figures for
d = 5 and 10; the theorem asks for more than d³), and depends neither on m nor on λ once
λ is below a bound that does not depend on n and m.
"""

import dataclasses
import functools

import numpy as np
import xarray as xr

from simbias.analysis.median_crossing import median_crossing
from simbias.analysis.parts import with_axes
from simbias.claims import Claims, estimate_of, share_of
from simbias.core import Claim, Experiment
from simbias.experiment_presets import presets
from simbias.experiments._noisy_teacher import SHARED, noisy_teacher
from simbias.experiments._times import log_times
from simbias.experiments.interpolation._exponents import (
    AGAINST,
    LEVELS,
    Exponent,
    exponents,
    points,
)
from simbias.figures import Curves, Estimates, Law, Panels
from simbias.flows import Descent, ReluFlow
from simbias.losses import half_mse
from simbias.measures import ExcessRisk, TestRisk, TrainRisk
from simbias.results import is_finished
from simbias.stops import Stationary

PAPER = "Boursier & Flammarion (2024), arXiv:2410.02348"
LEAST_TIME = 300.0
AXES = (*AGAINST, "n")
# A ratio of thresholds this far from 1 counts as no change.
UNCHANGED = 1.25
# Share of the members that end alike from two starts that both are small.
ALIKE, SMALL = 0.9, 1e-6

experiment = presets(
    Experiment(
        name="threshold_scaling",
        make=noisy_teacher,
        cell={
            "d": (5, 10),
            "n": (8, 16, 27, 40, 60, 90, 140),
            "m": 100,
            "scale": (1e-12, 1e-100),
        },
        seeds=8,
        shared=SHARED,
        pad_to=140,
        # As in `interpolating_samples`: at 1e-4 some members end otherwise.
        flow=ReluFlow(rtol=1e-6),
        loss=half_mse,
        times=log_times(10.0, 10_000.0, 16),
        measures={
            "train_risk": TrainRisk(),
            "test_risk": TestRisk(),
            "excess_risk": ExcessRisk(),
        },
        # As in `interpolating_samples`: below this a member interpolates.
        stop=Stationary(interpolated=5e-5),
    ),
    smoke={
        "cell": {"d": 5, "scale": (1e-3, 1e-4), "n": (4, 40), "m": 30, "n_test": 200},
        "seeds": 3,
        "pad_to": 40,
        "times": log_times(1.0, 300.0, 8),
        # Compiles in a fraction of the time.
        "flow": Descent(rate=0.1),
        "stop": None,
    },
    paper={
        "cell": {
            "d": (5, 10, 20, 40),
            "n": (10, 20, 40, 80, 160, 320, 640, 1280, 2560, 5120),
            "m": (2500, 10_000),
            "n_test": 10_000,
        },
        "seeds": 100,
        "pad_to": 0,
        "times": log_times(1.0, 10_000.0, 30),
    },
)


def final_errors(ds: xr.Dataset) -> xr.Dataset:
    """Train and test error at the end over σ², NaN where failed."""
    last = with_axes(ds, AXES).isel(time=-1)
    last = last.squeeze([k for k in AGAINST if last.sizes[k] == 1])
    return (
        last[["train_risk", "test_risk"]].where(is_finished(last)) / last["sigma"] ** 2
    )


def thresholds(errors: xr.Dataset, axis: str) -> xr.DataArray:
    """n* with its interval along one axis, by level and point of the others.

    If an interval extends beyond the grid, its end is that of the grid.
    """
    fits, sizes = exponents(errors), errors["n"].values[[0, -1]]
    others = [k for k in AGAINST if k in errors.dims and k != axis]
    rows, names, q = [], [], np.sort(errors[axis].values.astype(float))
    for label, part in points(errors["train_risk"], others):
        for level, text in LEVELS.items():
            found = [median_crossing(part.sel({axis: v}), level) for v in q]
            ends = np.array([[f.low, f.high] for f in found])
            is_inside = np.array([[f.is_bracketed] for f in found])
            ends = np.where(is_inside, np.clip(ends, sizes[0], sizes[1]), ends)
            rows.append([[f.value for f in found], *ends.T])
            p = fits[axis, level, label]
            name, seen = f"n* at {text}", p.estimate
            # Two points always have a power law.
            if len(p.over) > 2 and np.isfinite([seen.low, seen.high]).all():
                name += f": p = {seen.value:.2f} [{seen.low:.2f}, {seen.high:.2f}]"
            names.append(f"{label}, {name}" if label else name)
    return xr.DataArray(
        rows, {"series": names, "end": ["value", "low", "high"], axis: q}
    )


def drawn(ds: xr.Dataset) -> xr.Dataset:
    """Errors by point of the other axes, and n* along every axis of several values."""
    errors = final_errors(ds)
    axes = [k for k in AGAINST if errors.sizes.get(k, 1) > 1]
    both = {}
    for name in ("train_risk", "test_risk"):
        labels, parts = zip(*points(errors[name], axes), strict=True)
        both[name] = xr.concat(
            parts, xr.DataArray([*labels], dims="point", name="point")
        )
    stars = {
        f"n*({k})": thresholds(errors, k).rename({"series": f"{k} series"})
        for k in axes
    }
    return xr.Dataset(both | stars).assign_coords(final=ds["time"][-1].item())


_errors = functools.partial(
    Curves,
    colour="point",
    mark="o",
    x="n",
    xlabel="samples n",
    ticks=True,
    laws=(Law(1.0, line=":"),),
)
figure = Panels(
    _errors("train_risk", title="train error over σ²; band: 10–90 % of seeds"),
    _errors("test_risk", title="test error over σ²", yscale="log"),
    *(
        Estimates(
            f"n*({k})",
            needs=f"n*({k})",
            colour=f"{k} series",
            is_joined=True,
            beside=0.03,
            x=k,
            xlabel={"scale": "initial scale λ", "sigma": "noise σ"}.get(k, k),
            ticks=True,
            yscale="log",
            title=f"n* against {symbol}; ▲ at least, ▼ at most",
        )
        for k, symbol in AGAINST.items()
    ),
    of=drawn,
    xscale="log",
    title="at t = {final:g}",
    size=(4.6, 3.6),
    legend=3,
)


def claims(ds: xr.Dataset) -> list[Claim]:
    """Interpolation below n*; no effect of a smaller λ; n* against d, m and λ."""
    errors = final_errors(ds)
    when = f"t = {float(ds['time'][-1]):g}"
    first = (errors["train_risk"].isel(n=0) < min(LEVELS)).transpose(..., "seed").values
    rows = first.reshape(-1, first.shape[-1])
    least = rows[np.argmin(rows.mean(axis=1))]
    text = f"interpolate at n = {errors['n'].values[0]}, least share, {when}"
    out = [share_of(text, least, (0.9, 1.0), PAPER), *alike(errors, when)]
    for (axis, level, label), p in exponents(errors).items():
        where = f"n* at {LEVELS[level]}{', ' + label if label else ''}, {when}"
        needs = {"n* on the grid for two values": len(p.over) > 1}
        if axis == "scale":
            needs[f"λ ≤ {SMALL:g}"] = max(p.over, default=0) <= SMALL
        if axis != "sigma":
            # Where n* is on the grid; without two of them the row says what was asked.
            over = p.over if len(p.over) > 1 else np.sort(errors[axis].values)
            out += Claims(needs).rows(ratio(axis, p, (over[0], over[-1]), where))
    return out


def alike(errors: xr.Dataset, when: str) -> list[Claim]:
    """Networks that end alike from both ends of λ, by point of the other axes."""
    if "scale" not in errors.dims:
        return []
    others = [k for k in AGAINST if k in errors.dims and k != "scale"]
    low, high = errors["scale"].values.min(), errors["scale"].values.max()
    out = []
    for label, part in points(errors["train_risk"], others):
        ends = [part.sel(scale=v, drop=True) for v in (low, high)]
        one, other = (end.where(end.isnull(), end < min(LEVELS)) for end in ends)
        is_alike = (one == other).where(one.notnull() & other.notnull())
        text = f"members that end alike from λ = {high:g} and {low:g}"
        text = f"{text}{', ' + label if label else ''}, all n, {when}"
        source = f"{PAPER}; band ours"
        out.append(share_of(text, is_alike, (ALIKE, 1.0), source, pooled=("n",)))
    return Claims(needs={f"λ ≤ {SMALL:g}": high <= SMALL}).rows(*out)


def ratio(axis: str, p: Exponent, ends: tuple[float, float], where: str) -> Claim:
    """n* at the largest q over that at the smallest, by the power law."""
    low_q, high_q = map(float, ends)
    wide, seen = high_q / low_q, p.estimate
    value, low, high = (float(wide**v) for v in (seen.value, seen.low, seen.high))
    found = dataclasses.replace(seen, value=value, low=low, high=high)
    text = f"n* at {AGAINST[axis]} = {high_q:g} over {low_q:g}, {where}"
    band, source = (1 / UNCHANGED, UNCHANGED), f"band ours: within ×{UNCHANGED:g}"
    if axis == "d":
        source = "grows (figures), no faster than d³ (theorem 2)"
        return estimate_of(text, found, (1, wide**3), f"{PAPER}: {source}")
    return estimate_of(text, found, band, f"{PAPER}; {source}")
