"""Symmetry breaking: two neurons from ½ ± δ learn two features, after ln(1/δ).

Two ReLU neurons with output weights 1 learn e₁ and e₂ over x ~ N(0, I), by the gradient
in closed form.  They start at ½ ± δ.  In the lecture's picture δ is 0.01: the weights
are 0.49 for one feature and 0.51 for the other, and 0.01 and 0.99 at the end.  In
between both neurons wait at the saddle 0.5342 (1, 1), which they leave at the rate
0.596.  So the time is ln(1/δ)/0.596 plus a constant, and from δ = 0 they cannot leave.
Averaging the solution with itself after its neurons were exchanged gives no solution:
its loss is above that of the saddle.  This is the lecture's "junk".

With `slope` 1 the activation is the identity.  Then there is no symmetry to break: the
average of two solutions is a solution.

Reference: Brutzkus & Globerson (2017), arXiv:1702.07966, for the loss, by the kernel of
Cho & Saul (2009); the two bars are a slide of a lecture, the rest is derived.
"""

from collections.abc import Callable

import numpy as np
import xarray as xr
from jaxtyping import PRNGKeyArray

from simbias.analysis.at import at
from simbias.claims import largest_of, slope_of, smallest_of
from simbias.core import AbstractNetwork, Claim, Dataset, Experiment, Real
from simbias.experiment_presets import presets
from simbias.experiments.layers._two_neurons import (
    circle,
    escape_times,
    gaps,
    own_and_other,
    quarters,
    student,
)
from simbias.figures import Curves, Law, Panels, Points
from simbias.flows import GradientFlow
from simbias.losses import half_mse
from simbias.measures import GaussianLoss, IncomingWeights
from simbias.theory.two_neurons import plateau

SADDLE = plateau()
LAW = "closed form of the saddle, theory.two_neurons"
SLIDE = "slide of the lecture: 0.49/0.51 becomes 0.01/0.99"
AXES = ("delta", "slope")
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
    """Two neurons at `size` ± `delta`; n angles that the gradient does not use.

    Args:
        key: random key.
        delta: δ, the initial difference of the neurons.
        size: the mean of the initial weights.
        slope: slope of the activation for negative inputs; 1 is the identity.
        n: number of angles.
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
        seeds=None,
        flow=GradientFlow(rtol=1e-10, atol=1e-14),
        loss=half_mse,
        times=quarters(60.0),
        measures={
            "weights": IncomingWeights(),
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


def of_relu(value: float) -> Callable[[xr.Dataset], xr.DataArray]:
    """A value of the theory, for ReLU only."""
    return lambda part: xr.DataArray(value).where(part["slope"] == 0)


def escapes(part: xr.Dataset) -> xr.DataArray:
    """Escape times of ReLU, without δ = 0."""
    return escape_times(gaps(at(part, "slope", 0.0).sel(delta=part["delta"] > 0)))


def escape_law(part: xr.Dataset) -> xr.DataArray:
    """ln(1/δ)/0.596 through the escape from the smallest δ."""
    seen = escapes(part)
    logs = xr.ufuncs.log(seen["delta"]) / SADDLE.rate
    return (seen + logs)[:1].sum() - logs if seen.size else logs


figure = Panels(
    Curves(
        gaps,
        colour="delta",
        is_graded=True,
        spread="none",
        facet="slope",
        yscale="log",
        title="gap",
    ),
    Curves(
        "loss",
        colour="delta",
        is_graded=True,
        spread="none",
        facet="slope",
        ylim=(-0.004, 0.105),
        title="loss",
        laws=(
            Law(of_relu(SADDLE.loss), f"saddle {SADDLE.loss:.4f}"),
            Law(of_relu(SADDLE.average), f"average of both {SADDLE.average:.4f}", ":"),
        ),
    ),
    Points(
        escapes,
        x=lambda part: escapes(part)["delta"],
        xlabel="δ",
        xscale="log",
        has_median=False,
        title="ReLU: time at which the gap is ¼",
        laws=(Law(escape_law, "slope 1/0.596 in ln(1/δ)"),),
    ),
    names={"delta": "δ", "slope": {0.0: "ReLU", 1.0: "identity, s = 1"}},
    across=2,
    size=(4.4, 2.7),
    of=lambda ds: ds.isel(seed=0),
)


def claims(ds: xr.Dataset) -> list[Claim]:
    """For ReLU with δ > 0: escape from the saddle, the solution and its average."""
    relu = at(ds, "slope", 0.0)
    moved = relu.sel(delta=relu["delta"] > 0)
    small, end = moved.sel(delta=moved["delta"] <= SMALL), moved.isel(time=-1)
    passed = escape_times(gaps(small)).isel(seed=0) * SADDLE.rate
    own, other = own_and_other(end["weights"])
    off = {"tolerance": TOLERANCE}
    time = f"escape time × {SADDLE.rate:.3f} against ln(1/δ), δ ≤ {SMALL:g}: slope"
    least = "larger weight at the end, least"
    most = "smaller weight at the end, largest"
    junk = (
        "loss of the solution averaged with its mirror image over the saddle's, least"
    )
    no_use = "ours: junk, worse than what has learned no direction"
    ratio, logs = end["averaged_loss"] / SADDLE.loss, -np.log(small["delta"].values)
    slope = slope_of(time, logs, passed, (0.98, 1.02), f"{LAW}; 2 % ours")
    return [
        slope.given(logs.size > 1, f"two values of δ ≤ {SMALL:g}"),
        smallest_of(least, own, (0.99, 1.01), SLIDE, **off),
        largest_of(most, abs(other), (0, 0.01), SLIDE, **off),
        smallest_of(junk, ratio, (1, np.inf), no_use),
    ]
