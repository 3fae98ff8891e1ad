"""Breaking a symmetry: two neurons from ½ ± δ learn two features, after ln(1/δ).

Two ReLU neurons with output weights 1 learn e₁ and e₂ over x ~ N(0, I), by the gradient
in closed form.  They start at ½ ± δ; the lecture's picture is δ = 0.01, 0.49 of one
feature and 0.51 of the other, and 0.01 and 0.99 in the end.  In between both rest at
0.5342 (1, 1), a saddle, which they leave at the rate 0.596: the time is
ln(1/δ)/0.596 and a constant.  From δ = 0 they cannot leave.  The average of the
solution with itself, its neurons exchanged, is no solution, and worse than the saddle:
the lecture's "junk".

With `slope` 1 the activation is the identity, and there is nothing to break: the
average of two solutions is one.

Reference: Brutzkus & Globerson (2017), arXiv:1702.07966, for the loss, by the kernel of
Cho & Saul (2009); the two bars are a slide of a lecture, the rest is derived.
"""

import numpy as np
import xarray as xr
from jaxtyping import PRNGKeyArray
from matplotlib.axes import Axes
from matplotlib.figure import Figure

from simbias.claims import largest_of, mean_of, slope_of, smallest_of
from simbias.core import AbstractNetwork, Claim, Dataset, Experiment, Real
from simbias.experiments.layers._two_neurons import (
    GaussianLoss,
    Weights,
    circle,
    escape_times,
    gaps,
    graded,
    quarters,
    student,
)
from simbias.figures.laws import law_level, law_line
from simbias.figures.style import COLOURS, blank, style
from simbias.flows.gradient_flow import GradientFlow
from simbias.losses import half_mse
from simbias.presets import presets
from simbias.theory.two_neurons import plateau

LAW = "closed form of the saddle, theory.two_neurons"
SLIDE = "slide of the lecture: 0.49/0.51 becomes 0.01/0.99"
# What the figure and the claims read.
AXES = ("delta", "slope")
# What the claims are about: the final time of the smallest preset at least.
LEAST_TIME = 40.0
# Of what the flow computes: forty times its `rtol`.
TOLERANCE = 4e-9
# The escape of a gap up to this one is that of the linearised flow.
SMALL = 1e-2


def make(
    key: PRNGKeyArray,
    *,
    delta: Real = 0.01,
    size: Real = 0.5,
    slope: Real = 0.0,
    n: int = 64,
) -> tuple[Dataset, AbstractNetwork]:
    """Two neurons at `size` ± `delta`; n angles that the gradient does not look at.

    Args:
        key: random key.
        delta: δ: how far apart the neurons start.
        size: about which they do.
        slope: of the activation for negative inputs; 1 is the identity.
        n: angles.
    """
    del key
    return circle(n), student(delta, size, slope)


experiment = presets(
    Experiment(
        name="symmetry_breaking",
        make=make,
        cell={
            "delta": (0.0, *(10.0**-k for k in range(8, 0, -1))),
            "slope": (0.0, 1.0),
        },
        seeds=1,
        flow=GradientFlow(rtol=1e-10, atol=1e-14),
        loss=half_mse,
        times=quarters(60.0),
        measures={
            "weights": Weights(),
            "loss": GaussianLoss(),
            "averaged_loss": GaussianLoss(is_averaged=True),
        },
    ),
    smoke={"cell": {"delta": (0.0, 1e-4, 1e-3, 1e-2)}, "times": quarters(40.0)},
    paper={
        "cell": {"delta": (0.0, *(10.0 ** (-k / 4) for k in range(48, 3, -1)))},
        "times": quarters(90.0),
    },
)


def figure(ds: xr.Dataset) -> Figure:
    """Gap and loss by time, one line per δ; escape time against δ with its law."""
    ds = ds.isel(seed=0)
    own = float(ds["slope"][0])
    seen, is_relu, others = ds.isel(slope=0), own == 0, ds.isel(slope=slice(1, None))
    with style():
        whole = blank(13.0, 4.2)
        left, middle, right = whole.subplots(1, 3)
        deltas = seen["delta"].values
        for delta, colour in zip(deltas, graded(deltas), strict=True):
            part = seen.sel(delta=delta)
            # A gap of 0 has no place on a logarithmic axis.
            gap = gaps(part).where(delta > 0)
            left.plot(part["time"], gap, color=colour, label=f"{delta:g}")
            middle.plot(part["time"], part["loss"], color=colour)
        for other in others["slope"].values:
            worst = others["loss"].sel(slope=other).max("delta")
            label = f"s = {other:g}, largest of all δ"
            middle.plot(ds["time"], worst, color="#777777", ls="-.", label=label)
        if others.sizes["slope"]:
            middle.legend(loc="center right")
        if is_relu:
            _draw_levels(middle, float(ds["time"][-1]))
        left.set_yscale("log")
        left.set_ylim(top=1e4)
        left.set_title("gap (w₁ − w₂)·(e₁ − e₂)/4")
        left.legend(title="δ", ncols=3, loc="upper center")
        middle.set_ylim(-0.004, 0.105)
        middle.set_title(f"loss, s = {own:g}; δ = 0 black")
        _draw_escape(right, seen, is_relu)
        for axes in (left, middle):
            axes.set_xlabel("time")
    return whole


def claims(ds: xr.Dataset) -> list[Claim]:
    """Of ReLU with δ > 0: the way from the saddle, the solution and its average."""
    if 0.0 not in ds["slope"].values:
        return []
    law, relu = plateau(), ds.sel(slope=0.0)
    moved = relu.sel(delta=relu["delta"] > 0)
    end = moved.isel(time=-1)
    small = moved.sel(delta=moved["delta"] <= SMALL)
    passed = escape_times(gaps(small)).isel(seed=0).values * law.rate
    weights = end["weights"]
    own, other = (
        np.stack([weights.isel(neuron=i, input=abs(i - k)) for i in range(2)])
        for k in range(2)
    )
    junk = end["averaged_loss"]
    off = {"tolerance": TOLERANCE}
    text = f"escape time × 0.596 against ln(1/δ), δ ≤ {SMALL:g}: slope"
    logs = -np.log(small["delta"].values)
    if small.sizes["delta"] > 1:
        time = slope_of(text, logs, passed, (0.98, 1.02), f"{LAW}; 2 % ours")
    else:
        none = mean_of(text, [], (0.98, 1.02), f"{LAW}; 2 % ours")
        time = none.given(False, f"two values of δ ≤ {SMALL:g}")
    return [
        time,
        smallest_of("larger weight at the end, least", own, (0.99, 1.01), SLIDE, **off),
        largest_of(
            "smaller weight at the end, largest", abs(other), (0, 0.01), SLIDE, **off
        ),
        smallest_of(
            "loss of the solution averaged with its mirror image over the saddle's, "
            "least",
            junk / law.loss,
            (1, np.inf),
            "ours: junk, worse than what has learned no direction",
        ),
    ]


def _draw_levels(axes: Axes, end: float) -> None:
    """Losses of the saddle and of the average."""
    law = plateau()
    rows = ((law.loss, "saddle", "top"), (law.average, "average of both", "bottom"))
    for value, text, place in rows:
        law_level(axes, value)
        axes.annotate(
            f"{text} {value:.4f}",
            (end, value),
            xytext=(0, 3 if place == "bottom" else -3),
            textcoords="offset points",
            ha="right",
            va=place,
            fontsize="small",
        )


def _draw_escape(axes: Axes, seen: xr.Dataset, is_relu: bool) -> None:
    moved = seen.sel(delta=seen["delta"] > 0)
    passed, deltas = escape_times(gaps(moved)).values, moved["delta"].values
    axes.plot(deltas, passed, "o", color=COLOURS[0], label="gap of ¼")
    if deltas.size and is_relu:
        law = passed[0] + np.log(deltas[0] / deltas) / plateau().rate
        law_line(axes, deltas, law, "slope 1/0.596 in ln(1/δ)")
    axes.set_xscale("log")
    axes.set_xlabel("δ")
    axes.set_title("escape time")
    axes.legend()
