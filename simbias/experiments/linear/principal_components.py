"""Deep linear networks learn along the principal components of their inputs, in order.

A wide network W = W_L ⋯ W_1 with layers near an isometry moves, while it has learned
little, as one matrix would L times as fast: its column along the j-th principal
component goes to that of least squares by a factor λⱼ = 1 − ηLd_j in a step, d_j the
variance there.  Large components first, at a time ∝ 1/d_j; the nets of an ensemble
agree on them first.  The squared error of this law falls like 1/m, and for L = 1 there
is none.

Reference: Hacohen & Weinshall (2022), JMLR 23(155), sections 2 and 3; there Glorot
starts and width 1024, here starts for which E[A_l] = E[B_l] = 1.
"""

import jax
import numpy as np
import xarray as xr
from jaxtyping import PRNGKeyArray
from matplotlib.axes import Axes
from matplotlib.figure import Figure

from simbias.analysis.rank_correlation import rank_correlation
from simbias.checks.sample import one_of
from simbias.checks.values import positive_integer
from simbias.claims import mean_of
from simbias.core import AbstractNetwork, Claim, Dataset, Experiment, Index, Real
from simbias.datasets.linear.principal_classes import principal_classes
from simbias.experiments.linear._principal import (
    PAPER,
    check_components,
    exponents_in_d,
    half_times,
    isotropic_layers,
    law_of_columns,
    pooled,
    variances,
)
from simbias.figures.band import band
from simbias.figures.laws import law_line
from simbias.figures.style import COLOURS, blank, style
from simbias.flows.descent import Descent
from simbias.losses import half_mse
from simbias.measures.linear.principal_columns import PrincipalColumns
from simbias.measures.linear.scale_matrices import ScaleMatrices
from simbias.networks.dense.deep_linear import DeepLinear
from simbias.presets import presets

AXES = ("depth", "m", "start")
RATE = 0.1
# Time, over 1/(L d_1), up to which the law is asked for, and that of the spread.
EARLY, MIDDLE = 0.4, 6.0


def make(
    key: PRNGKeyArray,
    *,
    depth: int = 2,
    m: int = 256,
    start: Index = 0,
    n: int = 40,
    d: int = 20,
    classes: int = 2,
    exponent: Real = 1.0,
) -> tuple[Dataset, AbstractNetwork]:
    """A sample, the same for every network of a seed, and a deep linear network.

    Args:
        key: of the sample and of the networks.
        depth: L, number of matrices, 1 to 4.
        m: width of the hidden layers.
        start: number of the network: the spread is that of several on one sample.
        n: samples, d or more.
        d: inputs, 3 or more.
        classes: K, outputs.
        exponent: variances are d_j = j^−exponent.

    Raises:
        ValueError: for a size or number out of range.
    """
    one_of("depth", str(depth), [str(k) for k in range(1, 5)])
    positive_integer("m", m)
    check_components(d)
    key_data, key_start = jax.random.split(key)
    data = principal_classes(key_data, n=n, d=d, classes=classes, exponent=exponent)
    widths = (d, *[m] * (depth - 1), classes)
    key_network = jax.random.fold_in(key_start, start)
    return data, DeepLinear(isotropic_layers(key_network, widths))


def _times(end: float) -> tuple[float, ...]:
    steps = [*range(10), *range(10, 100, 5), *range(100, round(end / RATE) + 1, 20)]
    return tuple(round(RATE * s, 10) for s in steps)


experiment = presets(
    Experiment(
        name="principal_components",
        make=make,
        cell={"depth": (1, 2, 3), "m": (64, 128, 256), "start": tuple(range(10))},
        seeds=12,
        shared=("depth", "m", "start"),
        flow=Descent(rate=RATE),
        loss=half_mse,
        times=_times(20.0),
        measures={"columns": PrincipalColumns(), "scale_matrices": ScaleMatrices()},
        final={"optimum": PrincipalColumns(of_target=True)},
    ),
    smoke={
        "cell": {"depth": 2, "m": (16, 32), "start": (0, 1, 2)},
        "seeds": 6,
        "times": _times(10.0),
    },
    paper={"cell": {"m": (64, 256, 1024), "start": tuple(range(20))}, "seeds": 20},
)


def law_error(ds: xr.Dataset) -> xr.DataArray:
    """‖W − law‖² over what the law has moved, ‖law − W(0)‖², as long as it is early."""
    law = law_of_columns(ds, RATE)
    size = lambda v: (v**2).sum(["output", "component"], skipna=False)
    early = (ds["time"] > 0) & (ds["time"] * ds["depth"] <= EARLY)
    return (size(ds["columns"] - law) / size(law - law.isel(time=0))).where(early)


def spread(ds: xr.Dataset) -> xr.DataArray:
    """Standard deviation over the networks on one sample, by time and component."""
    return xr.ufuncs.sqrt(ds["columns"].var("start", ddof=1).sum("output"))


def figure(ds: xr.Dataset) -> Figure:
    """Times, spread, the error of the law against m, and A and B, by depth."""
    with style():
        whole = blank(14.0, 3.8)
        times, spreads, error, gram = whole.subplots(1, 4)
        x = 1 / variances(ds).values
        for depth, colour in zip(ds["depth"].values, COLOURS, strict=False):
            part, label = ds.sel(depth=depth), f"L = {depth:d}"
            wide = part.isel(m=-1)
            seen = pooled(half_times(wide))
            band(times, x, seen, "o", colour=colour, label=label, ms=4)
            law = -np.log(2) / np.log1p(-RATE * depth / x) * RATE
            law_line(times, x, law, colour=colour)
            _spread(spreads, wide, colour, label)
            if depth > 1:
                _error(error, part, colour, label)
                for side, line in (("A", "-"), ("B", "--")):
                    way = wide["scale_matrices"].sel(side=side).mean(["seed", "start"])
                    text = f"{side}, {label}"
                    gram.plot(way["time"], way, line, color=colour, label=text)
        for axes in (times, error):
            axes.set_xscale("log")
            axes.set_yscale("log")
        times.set(xlabel="1/d_j", title="time to half; dashed: law")
        spreads.set(xlabel="component j", yscale="log", title="spread; dashed: start")
        error.set(xlabel="width m", title="squared error of the early law; dotted: 1/m")
        gram.set(xlabel="time", title=f"‖A − 1‖, ‖B − 1‖, m = {int(ds['m'][-1])}")
        error.set_xticks(ds["m"].values, [f"{m:d}" for m in ds["m"].values])
        error.minorticks_off()
        for axes in (times, error, gram):
            axes.legend()
    return whole


def _spread(axes: Axes, part: xr.Dataset, colour: str, label: str) -> None:
    j = np.arange(1, part.sizes["component"] + 1)
    seen = spread(part).mean("seed")
    middle = seen.sel(time=MIDDLE / int(part["depth"]), method="nearest")
    axes.plot(j, middle, "o-", ms=3, color=colour, label=label)
    law_line(axes, j, seen.isel(time=0), colour=colour)


def _error(axes: Axes, part: xr.Dataset, colour: str, label: str) -> None:
    seen = law_error(part).mean("start").max("time").mean("seed")
    axes.plot(part["m"], seen, "o-", ms=4, color=colour, label=label)
    law = float(seen[0]) * float(part["m"][0]) / part["m"]
    law_line(axes, part["m"], law, line=":", colour=colour)


def claims(ds: xr.Dataset) -> list[Claim]:
    """The law, its error, times, and who agrees first, by depth; means over samples."""
    out = []
    for depth in ds["depth"].values:
        part = ds.sel(depth=depth)
        wide, at = part.isel(m=-1), f"L = {depth:d}, m = {int(ds['m'][-1])}"
        if depth > 1:
            out += [_exponent_in_m(part), _a_before_b(wide, at)]
        out += [_exponent_in_d(wide, at), *_order(wide, at)]
    return out


def _exponent_in_m(part: xr.Dataset) -> Claim:
    """Slope of ln error on ln m, of every sample."""
    error = xr.ufuncs.log(law_error(part).mean("start", skipna=False).max("time"))
    x = xr.ufuncs.log(part["m"]) - xr.ufuncs.log(part["m"]).mean()
    slopes = (x * error).sum("m", skipna=False) / max(float((x**2).sum()), 1e-12)
    text = f"L = {int(part['depth'])}: squared error of the early law, exponent in m"
    return mean_of(text, slopes, (-1.1, -0.9), f"{PAPER}; band ours").given(
        part.sizes["m"] > 1, "two widths"
    )


def _exponent_in_d(part: xr.Dataset, at: str) -> Claim:
    text = f"{at}: time to half of wⱼ, exponent in d_j"
    return mean_of(text, exponents_in_d(part), (-1.1, -0.9), f"{PAPER}; band ours")


def _order(part: xr.Dataset, at: str) -> list[Claim]:
    """Correlation of ranks of the spread with j, on the way and at the start."""
    rho = rank_correlation(spread(part), "component")
    middle = rho.sel(time=MIDDLE / int(part["depth"]), method="nearest")
    text = f"{at}: rank correlation of the spread of the nets with j"
    return [
        mean_of(f"{text}, t = {MIDDLE:g}/L", middle, (0.8, 1.0), f"{PAPER}; band ours"),
        mean_of(f"control, start: {text}", rho.isel(time=0), (-0.3, 0.3), "ours"),
    ]


def _a_before_b(part: xr.Dataset, at: str) -> Claim:
    """How much farther A has gone from where it was than B, at the end."""
    moved = abs(part["scale_matrices"].diff("time")).sum("time", skipna=False)
    ratio = (moved.sel(side="B") / moved.sel(side="A")).mean("start", skipna=False)
    return mean_of(
        f"{at}: way of B over way of A", ratio, (0, 0.5), f"{PAPER}; band ours"
    )
