"""Condensation: how precisely, and how fast in r, neurons follow their early limit.

A balanced network σθ₀ with σ = r^(1+κ) is looked at at T₁ = (1/λ) ln(r/σ), when its
fastest neurons have grown to the scale r.  Those of the prominent set P, which the
landscape G leads to its largest |G| = λ, are then at r u*ⱼ, and all others at o(r); so
the network has few directions, whatever its width.  From the scale r to a constant
scale ε the clusters stay together.

`theory.early_limit` gives λ, P and u* of every member exactly, so that o(r) is a
number: here the exponents of both errors in r are fitted.  With λ₂ the rate of the
fastest of the others, counting the parts that the theorem leaves out gives

    |u − r u*|/r ~ r^min(κ, 2) in P,   |u|/r ~ r^{κ(1 − λ₂/λ)} elsewhere

if the extremum of G lies inside a cell.  Where it lies on a hyperplane of the data,
neurons slide onto it in finite time and then grow exactly like e^{λt}: only the
interaction of the neurons is left, and the first exponent is 2 for every κ.

Two of the samples have mirror classes, so that their largest |G| is taken at two
opposite directions, exactly; the third, "generic", has it at one.

The start θ₀ has its own seed, `draw`, so that all r are compared on the same starts.

Reference: Tsoy & Konstantinov (2024), arXiv:2405.17299, theorems of the first phase;
the exponents are ours, and so are their bands, ±0.05: over the r of "quick" that is a
factor of 1.2 in an error.
"""

import dataclasses
import itertools
from typing import Any

import jax
import jax.numpy as jnp
import numpy as np
import xarray as xr
from jaxtyping import PRNGKeyArray
from matplotlib.axes import Axes
from matplotlib.figure import Figure
from matplotlib.lines import Line2D

from simbias.analysis.parts import with_axes
from simbias.claims import farthest_of, slope_of
from simbias.core import AbstractNetwork, Claim, Dataset, Experiment, Index, Real
from simbias.experiments.neuron_groups._early_errors import ERRORS, distances
from simbias.experiments.neuron_groups._phases import (
    DIRECTIONS,
    Extremum,
    first_phase,
    rates,
    sample,
    second_phase,
)
from simbias.figures import LAW, law_line, legend_beside
from simbias.figures.style import COLOURS, blank, style
from simbias.flows import ReluFlow
from simbias.losses import logistic
from simbias.measures import EffectiveWidth, NeuronWeights
from simbias.networks import balanced
from simbias.numerics.exact_numerics import exact_numerics
from simbias.presets import presets
from simbias.theory.early_limit import EarlyLimit, early_limit

PAPER = "Tsoy & Konstantinov (2024), arXiv:2405.17299"
DERIVED = f"orders of the terms left out by the theorem of {PAPER}; band ours"
_WHERE = {
    "cell": "inside a cell",
    "kink": "on a hyperplane",
    "generic": "inside a cell, generic",
}
_MARKS = "osD^v"


def make(
    key: PRNGKeyArray,
    *,
    r: Real,
    kappa: Real = 1.5,
    m: int = 100,
    extremum: Extremum = "cell",
    draw: Index = 0,
) -> tuple[Dataset, AbstractNetwork]:
    """The fixed sample, and the balanced network number `draw` of scale r^(1 + κ).

    Args:
        key: random key.
        r: scale at which the network is looked at.
        kappa: κ: it starts at the scale r^(1 + κ).
        m: width: neurons of a hidden layer.
        extremum: whether the extremum of G lies inside a cell or on a hyperplane, both
            with its mirror image, or inside a cell and is the only one.
        draw: number of the start.
    """
    del key
    scale = jnp.asarray(r, jnp.float64) ** (1 + jnp.asarray(kappa, jnp.float64))
    return sample(extremum), balanced(jax.random.key(draw), m=m, d=2, scale=scale)


_sizes = presets(
    Experiment(
        name="condensation",
        make=make,
        cell={
            "extremum": ("cell", "kink", "generic"),
            "kappa": (0.5, 1.5, 3.0),
            "m": (30, 120),
            "r": (0.01, 0.003, 1e-3, 3e-4),
            "draw": (0, 1, 2),
        },
        seeds=1,
        flow=ReluFlow(rtol=1e-9),
        loss=logistic,
        times=(1.0,),
        measures={
            "neuron_weights": NeuronWeights(),
            "effective_width": EffectiveWidth(share=1e-2),
        },
    ),
    smoke={
        "cell": {
            "extremum": "cell",
            "kappa": 1.5,
            "m": 30,
            "r": (0.01, 0.003, 0.001),
            "draw": (0, 1),
        }
    },
    paper={
        "cell": {
            "kappa": (0.5, 1.0, 3.0),
            "m": (50, 2000),
            "r": (0.01, 1e-3, 1e-4),
            "draw": (0, 1, 2, 3, 4),
        }
    },
)


def experiment(preset: str = "quick", **changes: Any) -> Experiment:
    """The experiment; keywords replace values of its cell, or its fields.

    The times are the ends of both phases of every cell of the grid: claims are open
    for cells that are added afterwards.
    """
    whole = _sizes(preset, **changes)
    if "times" in changes:
        return whole
    as_tuple = lambda v: v if isinstance(v, tuple) else (v,)
    times = {0.0}
    for of in itertools.product(
        *(as_tuple(whole.cell[k]) for k in ("extremum", "kappa", "r"))
    ):
        times |= {first_phase(*of), second_phase(*of)}
    return dataclasses.replace(whole, times=tuple(sorted(times)))


# What the figure and the claims read.
AXES = ("extremum", "kappa", "m", "r", "draw")


def errors(ds: xr.Dataset) -> xr.Dataset:
    """Distances from the early limit, over the grid; NaN if not recorded.

    `prominent` is ‖u − r u*‖ over P and `others` ‖u‖ over the rest, both at T₁ and
    relative to ‖r u*‖; `others_late` is ‖u‖ over the rest relative to that over P at
    T₂, and `spread` the largest angle in radians of a neuron of P with the mean of its
    cluster at T₂.
    """
    ds = with_axes(ds, AXES).isel(seed=0)
    weights = ds["neuron_weights"].transpose(*AXES, "time", ...).values
    found = np.full((len(ERRORS), *weights.shape[:5]), np.nan)
    for member in np.ndindex(*weights.shape[:5]):
        extremum: Any = ds["extremum"].values[member[0]]
        of = extremum, float(ds["kappa"][member[1]]), float(ds["r"][member[3]])
        first, second = first_phase(*of), second_phase(*of)
        rows = [np.flatnonzero(ds["time"].values == t) for t in (0.0, first, second)]
        path = weights[member]
        path = path[:, np.isfinite(path[-1, :, 0])]
        if path.shape[1] and all(len(row) for row in rows):
            start, early, late = (path[row[0]] for row in rows)
            limit = _limit(extremum, start)
            found[(slice(None), *member)] = distances(limit, start, early, late, first)
    variables = {k: (AXES, v) for k, v in zip(ERRORS, found, strict=True)}
    return xr.Dataset(variables, {k: ds[k].values for k in AXES})


def _limit(extremum: Extremum, start: np.ndarray) -> EarlyLimit:
    with exact_numerics():
        w, a = jnp.asarray(start[:, :2]), jnp.asarray(start[:, 2])
        return early_limit(sample(extremum), logistic, w, a)


def expected(extremum: Extremum, kappa: float) -> dict[str, float]:
    """Exponents of the terms left out by the theorem; none for a spread of 0."""
    largest, second = rates(extremum)
    slow = 1 - second / largest
    laws = {
        "prominent": 2.0 if extremum == "kink" else min(kappa, 2.0),
        "others": kappa * slow,
        "others_late": (1 + kappa) * slow,
    }
    return laws | ({} if extremum == "kink" else {"spread": 1 + kappa})


_NAMES = {
    "prominent": "|u − r u*|/r in P at T₁",
    "others": "|u|/r of the others at T₁",
    "others_late": "others over P at scale ε",
    "spread": "angle inside a cluster at scale ε",
}


def figure(ds: xr.Dataset) -> Figure:
    """Both errors of the first phase against r, one row per kind of extremum."""
    found = errors(ds)
    with style():
        rows = found.sizes["extremum"]
        whole = blank(12.0, 3.2 * rows + 0.4)
        panels = whole.subplots(rows, 2, squeeze=False, sharex=True)
        for i, extremum in enumerate(found["extremum"].values):
            for axes, name in zip(panels[i], ("prominent", "others"), strict=True):
                axes.set_title(f"{_NAMES[name]}, extremum {_WHERE[extremum]}")
                for j, kappa in enumerate(found["kappa"].values):
                    law = expected(extremum, kappa)[name]
                    part = found[name].sel(extremum=extremum, kappa=kappa)
                    _against_law(axes, part, law, COLOURS[j % len(COLOURS)])
                axes.set_xscale("log")
                axes.set_yscale("log")
                # Every panel has laws of its own.
                legend_beside(axes)
        for axes in panels[-1]:
            axes.set_xlabel("scale r")
        widths = [f"m = {m}, median over draws" for m in found["m"].values]
        options: dict[str, Any] = {"ls": "", "ms": 5, "fillstyle": "none", "c": LAW}
        marks = [Line2D([], [], marker=k, **options) for k in _MARKS]
        place = {"loc": "outside lower center", "ncols": len(widths)}
        whole.legend(marks[: len(widths)], widths[: len(marks)], **place)
    return whole


def _against_law(axes: Axes, part: xr.DataArray, law: float, colour: str) -> None:
    """One error against r, a mark per width, and r^law through the largest median."""
    r = part["r"].values
    for k, m in enumerate(part["m"].values):
        axes.plot(
            r,
            part.sel(m=m).median("draw"),
            _MARKS[k % len(_MARKS)],
            ms=5,
            fillstyle="none",
            color=colour,
        )
    top = float(part.median(["draw", "m"]).max())
    line = top * (r / r.max()) ** law
    text = f"κ = {float(part['kappa']):g}: r^{law:.3g}"
    law_line(axes, r, line, text, line=":", colour=colour)


def claims(ds: xr.Dataset) -> list[Claim]:
    """The exponents of every error at every width, and the number of directions."""
    found = errors(ds)
    middle = np.log(found.median("draw", skipna=False))
    log_r = np.log(found["r"].values)
    out = []
    for extremum, kappa, m in itertools.product(
        *(found[k].values for k in ("extremum", "kappa", "m"))
    ):
        at = middle.sel(extremum=extremum, kappa=kappa, m=m)
        for name, law in expected(extremum, float(kappa)).items():
            text = (
                f"exponent in r of {_NAMES[name]}, {extremum}, κ = {kappa:g}, m = {m}"
            )
            seen = slope_of(text, log_r, at[name], (law - 0.05, law + 0.05), DERIVED)
            out.append(seen.given(len(log_r) > 1, "two values of r"))
    return [*out, *_few_directions(ds, found)]


def _few_directions(ds: xr.Dataset, found: xr.Dataset) -> list[Claim]:
    """At scale ε, for the smallest r and the largest κ of the grid."""
    width = ds["effective_width"]
    for name, extreme in (("r", np.argmin), ("kappa", np.argmax)):
        if name in width.dims:
            width = width.isel({name: int(extreme(ds[name].values))})
    r, kappa = float(found["r"].min()), float(found["kappa"].max())
    out = []
    for of in found["extremum"].values:
        mine = width.sel(extremum=of) if "extremum" in width.dims else width
        counts = mine.sel(time=second_phase(of, kappa, r), method="nearest")
        law = DIRECTIONS[of]
        text = (
            f"directions at scale ε, any width, {of}, farthest from {law}, "
            f"r = {r:g}, κ = {kappa:g}"
        )
        claim = farthest_of(text, counts, law, (law, law), PAPER)
        out.append(claim.given(r <= 0.01, "r ≤ 0.01"))
    return out
