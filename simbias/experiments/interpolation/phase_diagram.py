"""Where it ends, by n/d and λ: interpolated, two regressions, or between.

One picture of the optimisation threshold: for every n/d and every
initial scale the shares of three ends,

    interpolated      train error below 0.01 σ²
    two regressions   within σ²d/2n of least squares for each sign of β*, on the
                      same sample: nearer than to one regression for all
    between           neither

read at the final time, or where the limit is proven before.  A small start goes from
interpolation to two regressions within a few n/d, with little between; from λ = 1e-3
most of what is beyond n* is between, and from λ = 1 all is interpolated while n ≪ m d.

Cells whose share of the most frequent end may be below one half, by Wilson's interval,
are marked.  More draws for these: `--cell.ratio 8 --cell.scale 1e-6 --cell.draw …`.

Control: λ = 1, the same networks on the same samples, interpolates them all.

Reference: Boursier & Flammarion (2024), arXiv:2410.02348, theorem 2 and figure 1; the
diagram is ours, docs/interpolation/phase_diagram.md.
"""

import itertools

import numpy as np
import xarray as xr
from jaxtyping import PRNGKeyArray
from matplotlib.axes import Axes
from matplotlib.colors import to_rgb
from matplotlib.figure import Figure
from matplotlib.patches import Patch

from simbias.analysis.parts import with_axes
from simbias.analysis.share_difference import share_difference
from simbias.analysis.wilson import wilson
from simbias.claims import share, within
from simbias.core import AbstractNetwork, Claim, Dataset, Experiment, Index, Real
from simbias.experiments._shared_sample import shared_sample
from simbias.experiments._times import log_times
from simbias.experiments.interpolation._interpolates import interpolates
from simbias.figures.style import COLOURS, blank, style
from simbias.flows.relu_flow import ReluFlow
from simbias.losses import half_mse
from simbias.measures.risk.train_risk import TrainRisk
from simbias.measures.risk.two_group_gap import TwoGroupGap
from simbias.presets import presets
from simbias.stops.stationary import Stationary

OURS = "ours, docs/interpolation/phase_diagram.md"
# What the claims are about: the final time of the smallest preset at least.
LEAST_TIME = 3000.0
# What the figure and the claims read.
AXES = ("sigma", "d", "ratio", "scale", "draw")
ENDS = ("interpolated", "between", "two regressions")
# From where on a start is not small, and from where down it is.
LARGE, SMALL = 1.0, 1e-6


def make(
    key: PRNGKeyArray,
    *,
    ratio: int,
    d: int = 5,
    m: int = 100,
    sigma: Real = 0.3,
    scale: Real = 1e-6,
    draw: Index = 0,
) -> tuple[Dataset, AbstractNetwork]:
    """`ratio`·d samples of a linear teacher, the same for every λ, and a network."""
    return shared_sample(
        key, n=ratio * d, d=d, m=m, sigma=sigma, scale=scale, draw=draw, n_test=10
    )


experiment = presets(
    Experiment(
        name="phase_diagram",
        make=make,
        cell={
            "ratio": (2, 4, 8, 16, 32),
            "scale": (1e-9, 1e-6, 1e-3, 1.0),
            "draw": tuple(range(3000, 3008)),
        },
        seeds=1,
        flow=ReluFlow(rtol=1e-4),
        loss=half_mse,
        times=log_times(10.0, 3000.0, 20),
        measures={"train_risk": TrainRisk(), "two_group_gap": TwoGroupGap()},
        stop=Stationary(interpolated=5e-5),
    ),
    smoke={
        "cell": {
            "ratio": (2, 16),
            "m": 30,
            "scale": (1e-6, 1.0),
            "draw": (0, 1, 2),
        },
        "times": log_times(10.0, 300.0, 5),
    },
    paper={
        "cell": {
            "d": (5, 10, 20, 40),
            "ratio": (1, 2, 3, 4, 6, 8, 12, 16, 24, 32, 64),
            "scale": (1e-20, 1e-12, 1e-9, 1e-6, 1e-4, 1e-3, 1e-2, 1e-1, 1.0),
            "m": 1000,
            "draw": tuple(range(3000, 3020)),
        },
        "times": log_times(10.0, 20_000.0, 30),
    },
)


def ends(ds: xr.Dataset) -> xr.DataArray:
    """1 for the end that a member has, over (sigma, d, ratio, scale, draw, end)."""
    ds = with_axes(ds, AXES)
    is_fitted = interpolates(ds).isel(seed=0, drop=True).transpose(*AXES)
    gap = ds["two_group_gap"].isel(time=-1, seed=0, drop=True).transpose(*AXES)
    width = ds["sigma"] ** 2 / (2 * ds["ratio"])
    is_two = (abs(gap) <= width).astype(float) * (1 - is_fitted)
    each = [is_fitted, 1 - is_fitted - is_two, is_two]
    return xr.concat(each, "end").assign_coords(end=[*ENDS]).transpose(*AXES, "end")


def claims(ds: xr.Dataset) -> list[Claim]:
    """Small starts end in one of two ways, wide and narrow samples in another."""
    seen, out = ends(ds), []
    is_late = float(ds["time"][-1]) >= LEAST_TIME
    for sigma, d in itertools.product(seen["sigma"].values, seen["d"].values):
        out += _of_dimension(seen.sel(sigma=sigma, d=d), f"d = {d:g}, σ = {sigma:g}")
    return [c.given(is_late, f"t ≥ {LEAST_TIME:g}") for c in out]


def _of_dimension(part: xr.DataArray, where: str) -> list[Claim]:
    """At the ends of the axis of n/d, at the smallest λ and at the largest."""
    small, large = part.isel(scale=0), part.isel(scale=-1)
    low, high = int(part["ratio"][0]), int(part["ratio"][-1])
    at = f"λ = {float(small['scale']):g}, {where}"
    text = f"interpolated at n/d = {low} less at {high}, {at}"
    first, last = (small.sel(end="interpolated").isel(ratio=i).values for i in (0, -1))
    fall = within(text, share_difference(first, last), 0.25, 1.0, OURS)
    text = f"two regressions at n/d = {high}, {at}"
    two = small.sel(end="two regressions").isel(ratio=-1).values
    out = [fall, share(text, two, 0.5, 1.0, OURS)]
    text = f"between, of all n/d, {at}"
    out.append(share(text, small.sel(end="between").values, 0.0, 1 / 3, OURS))
    out = [c.given(float(small["scale"]) <= SMALL, f"λ ≤ {SMALL:g}") for c in out]
    text = f"control: interpolated, of all n/d, λ = {float(large['scale']):g}, {where}"
    control = share(text, large.sel(end="interpolated").values, 0.9, 1.0, OURS)
    return [*out, control.given(float(large["scale"]) >= LARGE, f"λ ≥ {LARGE:g}")]


def figure(ds: xr.Dataset) -> Figure:
    """For every dimension the mixture of three colours, with the numbers of members."""
    seen = ends(ds)
    each = [*itertools.product(seen["sigma"].values, seen["d"].values)]
    with style():
        wide = 1.2 + 0.75 * seen.sizes["ratio"]
        whole = blank(wide * len(each), 1.6 + 0.6 * seen.sizes["scale"])
        panels = whole.subplots(1, len(each), squeeze=False)[0]
        for axes, (sigma, d) in zip(panels, each, strict=True):
            _draw(axes, seen.sel(sigma=sigma, d=d))
            axes.set_title(f"d = {d:g}, σ = {sigma:g}")
            axes.set_xlabel("n/d")
        panels[0].set_ylabel("initial scale λ")
        named = zip(COLOURS, ENDS, strict=False)
        patches = [Patch(color=colour, label=end) for colour, end in named]
        whole.legend(handles=patches, loc="outside lower center", ncols=3)
        whole.suptitle(
            f"ends, t = {float(ds['time'][-1]):g}: numbers in the order of the "
            "legend; ?: which is most frequent is open",
            fontsize="small",
        )
    return whole


def _draw(axes: Axes, part: xr.DataArray) -> None:
    counts = part.sum("draw").transpose("scale", "ratio", "end").values
    total = counts.sum(axis=-1, keepdims=True)
    shares = counts / np.maximum(total, 1)
    palette = np.array([to_rgb(colour) for colour in COLOURS[: len(ENDS)]])
    # Half white, so that the numbers can be read.
    axes.imshow(0.5 + 0.5 * (shares @ palette), origin="lower", aspect="auto")
    for i, j in np.ndindex(*counts.shape[:2]):
        of = int(total[i, j, 0])
        is_open = not of or wilson(int(counts[i, j].max()), of).low < 0.5
        text = "/".join(f"{v:.0f}" for v in counts[i, j]) + (" ?" if is_open else "")
        axes.text(j, i, text, ha="center", va="center", fontsize="small")
    axes.set_xticks(range(part.sizes["ratio"]), [f"{v}" for v in part["ratio"].values])
    axes.set_yticks(
        range(part.sizes["scale"]), [f"{v:g}" for v in part["scale"].values]
    )
    axes.grid(visible=False)
