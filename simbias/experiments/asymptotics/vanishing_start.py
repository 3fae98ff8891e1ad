"""A vanishing start: the limit λ → 0 itself, beside the flow from small λ.

From weights of size λ a two-layer ReLU network goes from saddle to saddle.  In the time
s = t / ln(1/λ) the limit λ → 0 is a jump process: clusters of neurons leave a saddle at
times s that depend only on the sample and on the initial directions.
`flows.VanishingStart` computes it.  Here the exact flow starts from the same directions
with λ = 1e-10 to 1e-100, and both are compared up to s = 20.

There are four predictions.  The times of the jumps differ by C/ln(1/λ), with C
independent of λ.  The clusters leave in the order of the limit.  At s = 20 functions,
train losses and numbers of directions are those of the limit.  More networks agree from
λ = 1e-100 than from 1e-10.

The control is λ = 0.01, which is no vanishing start: there most networks differ.

Reference: Kunin et al. (2025), arXiv:2506.06489, Alternating Gradient Flows, proven
there for diagonal linear networks; the rules for ReLU are derived in
docs/vanishing_start.md.
"""

import dataclasses

import numpy as np
import xarray as xr
from jaxtyping import PRNGKeyArray

from simbias.analysis.at import at
from simbias.analysis.slope_along import slope_in_log
from simbias.claims import Claims, difference_of, median_of, share_of
from simbias.core import AbstractNetwork, Claim, Dataset, Experiment, Real
from simbias.experiment_presets import presets
from simbias.experiments._noisy_teacher import noisy_teacher
from simbias.experiments._times import even_times
from simbias.experiments.asymptotics._from_scale import FromScale
from simbias.figures import Curves, Law, Panels, Points
from simbias.losses import half_mse
from simbias.measures import EffectiveWidth, OutputsAndTargets, TrainRisk
from simbias.results import is_finished

SCALE = "flow.scale"
AXES = (SCALE,)
LIMIT, TINY, LEAST, LARGE = "0", "1e-100", "1e-10", "0.01"  # λ
END = 20.0
# Relative distance within which two functions, or losses, count as equal.
EQUAL = 1e-3
DERIVED = "derived: docs/vanishing_start.md; tolerance ours"
BENCHMARK = "ours: as in benchmarks/vanishing_start.py, 34 of 35"


def make(
    key: PRNGKeyArray,
    *,
    n: int = 8,
    d: int = 2,
    m: int = 12,
    sigma: Real = 1.0,
    points: int = 50,
) -> tuple[Dataset, AbstractNetwork]:
    """A linear teacher with much noise, and balanced neurons of scale 1.

    Args:
        key: random key.
        n: samples to train on.
        d: entries of an input.
        m: neurons.
        sigma: standard deviation of the noise of the targets.
        points: inputs at which functions are compared.
    """
    data, network = noisy_teacher(
        key, n=n, d=d, m=m, sigma=sigma, scale=1.0, n_test=points
    )
    return dataclasses.replace(data, others={"grid": data.test}), network


experiment = presets(
    Experiment(
        name="vanishing_start",
        make=make,
        cell={SCALE: (LIMIT, "1e-100", "1e-50", "1e-20", "1e-10", LARGE)},
        seeds=40,
        flow=FromScale(),
        loss=half_mse,
        times=even_times(END, 200),
        measures={"train_risk": TrainRisk()},
        final={"outputs": OutputsAndTargets(), "width": EffectiveWidth()},
    ),
    smoke={
        "cell": {SCALE: ("1e-20", "1e-10"), "n": 4, "m": 4},
        "seeds": 2,
        "times": even_times(4.0, 8),
    },
    paper={
        "cell": {
            "d": (2, 3),
            SCALE: (LIMIT, "1e-250", "1e-100", "1e-50", "1e-20", "1e-10", LARGE),
        },
        "seeds": 1000,
    },
)


def numbers(ds: xr.Dataset) -> xr.Dataset:
    """The flow from each λ > 0 beside the limit; NaN where one of them failed.

    `error`: |s − s₀| of the first two jumps.  A jump is that of the first neuron of a
    cluster.  `has_order`: whether the clusters leave in the order of the limit.
    `distance`: |f − f₀|/|f₀| at the end, over the points.  `gap`: |L − L₀| at the end
    over the loss of f = 0.  `has_width`: whether both have as many directions.
    """
    limit, flows = at(ds, SCALE, LIMIT), ds.sel({SCALE: ds[SCALE] != LIMIT})
    is_known = is_finished(limit) & is_finished(flows)
    jumps = xr.apply_ufunc(
        _jumps,
        flows["left_time"],
        limit["left_time"],
        input_core_dims=[["event"], ["event"]],
        output_core_dims=[["jump"]],
        vectorize=True,
    ).assign_coords(jump=["first", "second", "order"])
    f, f_limit = (one["outputs"].sel(curve="network") for one in (flows, limit))
    norm = lambda v: np.sqrt((v**2).sum("point", skipna=False))
    risk = flows["train_risk"]
    gap = abs(risk - limit["train_risk"]).isel(time=-1) / risk.isel(time=0)
    values = {
        "error": jumps.sel(jump=["first", "second"]),
        "has_order": jumps.sel(jump="order", drop=True),
        "distance": norm(f - f_limit) / norm(f_limit),
        "gap": gap,
        "has_width": (flows["width"] == limit["width"]).astype(float),
    }
    found = xr.Dataset({k: v.where(is_known) for k, v in values.items()})
    unit = -np.log(found[SCALE].values.astype(float))
    return found.assign_coords(unit=(SCALE, unit))


def _jumps(seen: np.ndarray, limit: np.ndarray) -> np.ndarray:
    """Errors of two jumps, and whether all clusters leave in order."""
    times = np.unique(limit[np.isfinite(limit)])
    first = np.array([np.nanmin([np.inf, *seen[limit == t]]) for t in times])
    error = np.full(2, np.nan)
    error[: len(times[:2])] = np.abs(first - times)[:2]
    is_ordered = np.all(np.isfinite(first)) and np.all(np.diff(first) > 0)
    return np.append(np.where(np.isfinite(error), error, np.nan), float(is_ordered))


def along_the_clock(ds: xr.Dataset) -> xr.Dataset:
    """`numbers` along ln(1/λ), the unit of time."""
    return numbers(ds).swap_dims({SCALE: "unit"}).drop_vars(SCALE)


def _through_the_first(ds: xr.Dataset) -> xr.DataArray:
    """1/ln(1/λ), through the median error of the first jump at the least λ."""
    error, unit = ds["error"].sel(jump="first").median("seed"), ds["unit"]
    return error.sel(unit=unit.max()) * unit.max() / unit


figure = Panels(
    Curves(
        "train_risk",
        of=lambda ds: ds.isel(seed=slice(1)),
        colour=SCALE,
        spread="each",
        title="train loss of one network",
        xlabel="s = t / ln(1/λ)",
    ),
    Curves(
        "error",
        of=along_the_clock,
        x="unit",
        colour="jump",
        first_colour=6,
        mark="o",
        xscale="log",
        yscale="log",
        title="error of the time of a jump",
        xlabel="ln(1/λ)",
        laws=(Law(_through_the_first, "∝ 1/ln(1/λ)"),),
    ),
    Points(
        lambda ds: ds["distance"].clip(1e-8),
        of=along_the_clock,
        x="unit",
        xscale="log",
        yscale="log",
        title="distance of the functions at the end",
        xlabel="ln(1/λ)",
        laws=(Law(EQUAL, line=":"),),
    ),
    names={SCALE: "λ", "jump": {"first": "first jump", "second": "second jump"}},
)


def claims(ds: xr.Dataset) -> list[Claim]:
    """Exponents of the errors; order, functions, losses and widths; the control."""
    seen, rows = numbers(ds), []
    small = along_the_clock(ds.sel({SCALE: ds[SCALE] != LARGE}))
    error = xr.ufuncs.log(small["error"])
    for jump in ("first", "second"):
        text = f"exponent in ln(1/λ) of the error of the time of the {jump} jump"
        one = slope_in_log(error.sel(jump=jump), "unit")
        rows.append(median_of(text, one, (-1.1, -0.9), DERIVED))
    tiny, least = at(seen, SCALE, TINY), at(seen, SCALE, LEAST)
    is_equal = lambda part: (part["distance"] < EQUAL).where(part["distance"].notnull())
    gap = (tiny["gap"] < EQUAL).where(tiny["gap"].notnull())
    nearer = is_equal(tiny).astype(float), is_equal(least).astype(float)
    control = is_equal(at(seen, SCALE, LARGE))
    text = f"control, λ = {LARGE}: functions within {EQUAL:g} of the limit at the end"
    tests = (
        ("clusters leave in the order of the limit", tiny["has_order"], DERIVED),
        (f"functions within {EQUAL:g} of the limit at the end", nearer[0], BENCHMARK),
        (f"train losses within {EQUAL:g} of the limit's at the end", gap, DERIVED),
        ("as many directions as the limit at the end", tiny["has_width"], DERIVED),
    )
    is_long = {f"s ≥ {END:g}": float(ds["time"][-1]) >= END}
    return Claims(is_long).rows(
        *rows,
        *(share_of(f"λ = 1e-100: {t}", v, (0.8, 1), by) for t, v, by in tests),
        difference_of(
            "share of such functions, λ = 1e-100 less 1e-10", *nearer, (0, 1), DERIVED
        ),
        share_of(text, control, (0, 0.3), "ours: λ is not small"),
        share_of(
            "limits that are known at the end",
            is_finished(at(ds, SCALE, LIMIT)),
            (0.9, 1),
            "ours: ties and degenerate saddles are exceptions",
        ),
    )
