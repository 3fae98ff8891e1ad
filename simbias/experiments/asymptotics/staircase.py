"""The staircase of a small start: plateaus, drops and escaping neurons.

Alternating gradient flow, the limit λ → 0, predicts for each network a staircase of the
loss: plateaus, a neuron (or a cluster of equal neurons) that leaves each, and drops.
`flows.VanishingStart` computes it.  Here plateaus are read off the loss of the exact
flow from λ, and compared with those of the limit one by one, for λ = 0.3 to 1e-32.
`vanishing_start` compares the first two times and the ends only.

A step of the loss is a fall that is ten times as fast as the loss on the plateau before
and after it.  The neuron that escapes is the heaviest after the step of those that grew
tenfold.  Its direction is that on the plateau.  It leaves when √(|a||w|) exceeds a
hundredth of √(Σ|y|/Σ|x|).

Predictions, before any run of a flow from λ > 0, at λ = 1e-32:
    staircase    at least 80 % of the networks have as many plateaus as the limit, and
                 the losses of all of them to within 0.01 L(0)
    neurons      in at least 80 % of these all escaping neurons have the direction
                 (within 5°) and the sign of the limit, and all plateaus its number of
                 directions
    times        the k-th escape is at t = s_k ln(1/λ) + C: the slope in ln(1/λ) is that
                 of the limit to 2 %, k = 1, 2, 3
    λ            more staircases agree from 1e-32 than from 0.01
    control      λ = 0.3: one plateau at most (median), at most 30 % agree

Reference: Kunin et al. (2025), arXiv:2506.06489, Alternating Gradient Flows, proven
there for diagonal linear networks; the rules for ReLU are derived in
docs/vanishing_start.md.
"""

import functools

import numpy as np
import xarray as xr

from simbias.analysis.at import at
from simbias.analysis.loss_steps import loss_steps
from simbias.claims import Claims, difference_of, median_of, share_of
from simbias.core import Claim, Experiment
from simbias.experiment_presets import presets
from simbias.experiments._times import even_times
from simbias.experiments.asymptotics._from_scale import FromScale
from simbias.experiments.asymptotics.vanishing_start import make
from simbias.figures import Curves, Panels
from simbias.losses import half_mse
from simbias.measures import EffectiveWidth, NeuronWeights, TrainRisk
from simbias.results import is_finished

SCALE = "flow.scale"
AXES = (SCALE,)
LIMIT, LEAST, SECOND, SMALL, LARGE = "0", "1e-32", "1e-16", "0.01", "0.3"  # λ
END = 12.0
AGF = "derived: the limit, docs/vanishing_start.md; tolerance ours"
CONTROL = "ours: a large start has no saddle at 0"

experiment = presets(
    Experiment(
        name="staircase",
        make=make,
        cell={
            SCALE: (LIMIT, LEAST, SECOND, "1e-8", "1e-4", SMALL, LARGE),
            "n": 8,
            "d": 3,
            "m": 20,
            "points": 1,
        },
        seeds=80,
        flow=FromScale(),
        loss=half_mse,
        times=even_times(END, 240),
        measures={
            "train_risk": TrainRisk(),
            "width": EffectiveWidth(),
            "weights": NeuronWeights(),
        },
    ),
    smoke={
        "cell": {SCALE: (LIMIT, SECOND), "n": 4, "d": 2, "m": 4},
        "seeds": 2,
        "times": even_times(4.0, 40),
    },
    paper={"cell": {"d": (2, 3), "n": 10}, "seeds": 500},
)


def staircases(ds: xr.Dataset) -> xr.Dataset:
    """Steps of every network: `level`, `height`, and the `width` after each.

    Of the neuron that escapes: when it `leaves`, its `direction` and `sign` before.
    """
    steps = loss_steps(ds["train_risk"].where(is_finished(ds)), most=6)
    record = lambda v, i: v.isel(time=i.fillna(0).astype(int)).where(i.notnull())
    w, a = ds["weights"].isel(weight=slice(-1)), ds["weights"].isel(weight=-1)
    norm = (w**2).sum("weight") ** 0.5
    mass = abs(a) * norm
    small, large = (record(mass, steps[k]) for k in ("before", "after"))
    grows = (large > 0.01 * large.sum("neuron")) & (large > 10 * small)
    who = xr.where(grows, large, -1.0).argmax("neuron")
    one = lambda v: v.isel(neuron=who).where(grows.any("neuron"))
    return steps.assign(
        leaves=one(ds["left_time"].rename(event="neuron")),
        direction=one(record(w / norm.where(norm > 0), steps["before"])),
        sign=one(record((a > 0).astype(float), steps["before"])),
        width=record(ds["width"], steps["after"]),
    ).drop_vars("time", errors="ignore")


def numbers(ds: xr.Dataset) -> xr.Dataset:
    """Staircases of all λ, and which are those of the limit; NaN where one failed.

    `agrees`: as many plateaus and their losses.  `has_neurons` (directions and signs)
    and `has_widths` are of networks with as many plateaus.
    """
    seen = staircases(ds)
    flows, limit = seen.sel({SCALE: seen[SCALE] != LIMIT}), at(seen, SCALE, LIMIT)
    is_known = flows["count"].notnull() & limit["count"].notnull()
    has_count = flows["count"] == limit["count"]
    is_step = limit["level"].notnull()
    every = lambda same: (same | ~is_step).all("step").where(is_known & has_count)
    has_levels = every(abs(flows["level"] - limit["level"]) < 0.01)
    cosine = (flows["direction"] * limit["direction"]).sum("weight")
    is_near = (cosine > np.cos(np.radians(5))) & (flows["sign"] == limit["sign"])
    return flows.assign(
        limit=limit["count"],
        has_count=has_count.where(is_known).astype(float),
        agrees=has_levels.fillna(0).where(is_known).astype(float),
        has_neurons=every(is_near),
        has_widths=every(flows["width"] == limit["width"]),
        s=limit["leaves"],
        late=(flows["leaves"] - limit["leaves"]).where(has_count),
    ).assign_coords(unit=(SCALE, -np.log(flows[SCALE].values.astype(float))))


def shares(ds: xr.Dataset) -> xr.Dataset:
    """Shares of networks along ln(1/λ)."""
    seen = numbers(ds).swap_dims({SCALE: "unit"}).drop_vars(SCALE)
    share = seen[[*KINDS]].to_dataarray("kind").mean("seed")
    return xr.Dataset({"share": share, "late": abs(seen["late"]).sel(step=[1, 2, 3])})


KINDS = {
    "has_count": "number of plateaus",
    "agrees": "plateaus and losses",
    "has_neurons": "escaping neurons",
    "has_widths": "numbers of directions",
}
_along = functools.partial(Curves, of=shares, x="unit", mark="o", xscale="log")
figure = Panels(
    Curves(
        lambda ds: ds["train_risk"] / ds["train_risk"].isel(time=0),
        of=lambda ds: ds.isel(seed=slice(1)),
        colour=SCALE,
        spread="each",
        ylabel="train loss over the first",
        xlabel="s = t / ln(1/λ)",
    ),
    _along("share", colour="kind", first_colour=7, ylabel="share as in the limit"),
    _along(
        "late",
        colour="step",
        first_colour=11,
        ylabel="|s − s₀| of an escape",
        yscale="log",
    ),
    xlabel="ln(1/λ)",
    names={SCALE: "λ", "kind": KINDS, "step": "escape"},
)


def claims(ds: xr.Dataset) -> list[Claim]:
    """Staircases, neurons and times at the least λ; the trend in λ; a large start."""
    seen = numbers(ds)
    least, second, small, large = (
        at(seen, SCALE, v) for v in (LEAST, SECOND, SMALL, LARGE)
    )
    # t = s ln(1/λ) at λ and √λ: their difference over ln(1/√λ).
    slope = 2 * least["leaves"] - second["leaves"]
    is_known = least["late"].notnull() & second["late"].notnull()
    ratio = (slope / least["s"]).where(is_known)
    texts = {
        "has_count": "as many plateaus as the limit",
        "agrees": "as many plateaus as the limit, and their losses",
        "has_neurons": "of these, directions and signs of all escaping neurons",
        "has_widths": "of these, numbers of directions after all steps",
    }
    is_long = {f"s ≥ {END:g}": float(ds["time"][-1]) >= END}
    return Claims(is_long).rows(
        *(
            share_of(f"λ = 1e-32: {text}", least[name], (0.8, 1), AGF)
            for name, text in texts.items()
        ),
        *(
            median_of(
                f"slope of the time of escape {k} in ln(1/λ), over that of the limit",
                ratio.sel(step=k),
                (0.98, 1.02),
                AGF,
            )
            for k in (1, 2, 3)
        ),
        difference_of(
            "share with the staircase of the limit, λ = 1e-32 less 0.01",
            least["agrees"],
            small["agrees"],
            (0, 1),
            AGF,
        ),
        share_of(
            "control, λ = 0.3: plateaus and losses of the limit",
            large["agrees"],
            (0, 0.3),
            CONTROL,
        ),
        median_of("control, λ = 0.3: plateaus", large["count"], (0, 1), CONTROL),
    )
