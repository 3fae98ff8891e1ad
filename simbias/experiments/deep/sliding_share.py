"""Sliding: how much of the time deep ReLU networks spend on kinks, and what it costs.

A pre-activation *slides* if both sides of its kink push it back to 0.  The exact flow
keeps it there.  Networks with 2 to 4 layers learn a noisy linear teacher, and the
records count the pre-activations that slide.  The same networks are trained by methods
that ignore kinks: Tsit5 with steps adapted across the kinks, and descent.

There are four predictions.  With more samples and more layers, networks slide for a
larger share of the time.  In wide layers a smaller share of the pre-activations
slides.  Descent is late, not wrong.  Evaluations of Tsit5 grow like 1/rtol.  The page
has the reasons.

Controls: methods that ignore kinks never stay at 0, and two tolerances of the exact
flow agree.

Reference: Filippov (1988), Differential equations with discontinuous righthand sides;
Dontchev & Lempio (1992), SIAM Review 34, for the order of Euler's method.  The question
and all sizes are ours.
"""

import dataclasses
import math

import jax
import numpy as np
import xarray as xr
from jaxtyping import PRNGKeyArray

from simbias.analysis.at import at
from simbias.claims import Claims, difference_of, largest_of, mean_of, median_of
from simbias.core import AbstractNetwork, Claim, Dataset, Experiment, Real
from simbias.datasets import gaussian_teacher
from simbias.experiment_presets import presets
from simbias.experiments._times import even_times
from simbias.experiments.deep._depths import check_depth
from simbias.experiments.deep._methods import METHODS, Method
from simbias.figures import Curves, Panels, Points
from simbias.losses import half_mse
from simbias.measures import OutputsAndTargets, SlidingPairs, TrainRisk
from simbias.networks import mlp

METHOD = "flow.method"
AXES = ("depth", "m", "n", METHOD)
EXACT, OTHERS = "exact, 1e-5", tuple(METHODS)[2:]
EULER = "derived: Euler's method has order 1; band ours"
KINK = "derived: an error ∝ h across a kink; band ours"
POINTS, END = 20, 20.0


def make(
    key: PRNGKeyArray,
    *,
    depth: int = 3,
    n: int = 24,
    m: int = 8,
    d: int = 3,
    sigma: Real = 0.3,
) -> tuple[Dataset, AbstractNetwork]:
    """A noisy linear teacher, and a network without biases from Kaiming's start.

    Args:
        key: random key.
        depth: matrices of the network, 2 or more.
        n: training samples.
        m: width of the hidden layers.
        d: entries of an input.
        sigma: standard deviation of the noise of the targets.
    """
    check_depth(depth)
    key_data, key_network = jax.random.split(key)
    data = gaussian_teacher(key_data, n=n, d=d, sigma=sigma, n_test=POINTS)
    data = dataclasses.replace(data, others={"grid": data.test})
    widths = (d, *[m] * (depth - 1), 1)
    return data, mlp(key_network, widths, has_bias=False)


experiment = presets(
    Experiment(
        name="sliding_share",
        make=make,
        cell={
            "depth": (2, 3, 4),
            "m": (4, 8),
            "n": (8, 24),
            METHOD: tuple(METHODS),
        },
        seeds=12,
        shared=("n",),
        pad_to=24,
        flow=Method(),
        loss=half_mse,
        times=even_times(END, 40),
        measures={"pairs": SlidingPairs(), "train_risk": TrainRisk()},
        final={"outputs": OutputsAndTargets()},
    ),
    smoke={
        "cell": {"depth": 3, "m": 3, "n": (4, 8)},
        "seeds": 2,
        "pad_to": 8,
        "times": even_times(2.0, 8),
    },
    paper={"cell": {"m": (4, 8, 16, 32), "n": (8, 24, 72)}, "seeds": 40, "pad_to": 0},
)


def numbers(ds: xr.Dataset) -> xr.Dataset:
    """Shares of time and of pre-activations that slide, and distances to the flow."""
    later = ds["pairs"].isel(time=slice(1, None))
    is_known = later.notnull().all("time")
    share = (later > 0).mean("time").where(is_known)
    of_all = later.mean("time", skipna=False) / (ds["m"] * ds["n"] * (ds["depth"] - 1))
    outputs = ds["outputs"].sel(curve="network")
    exact = at(outputs, METHOD, EXACT)
    norm = lambda f: np.sqrt((f**2).sum("point", skipna=False))
    distance = norm(outputs - exact) / norm(exact)
    return ds.assign(share=share, of_all=of_all, distance=distance)


def largest(ds: xr.Dataset) -> xr.Dataset:
    """The widest networks on the largest sample."""
    return at(at(ds, "m", max), "n", max)


def _by_method(name: str, some: slice, ylabel: str) -> Points:
    """A variable of the widest networks on the largest sample, for some methods."""
    return Points(
        name,
        of=lambda ds: largest(ds).sel({METHOD: [*METHODS][some]}),
        x=METHOD,
        colour="depth",
        first_colour=2,
        is_joined=False,
        xlabel="",
        ylabel=ylabel,
        yscale="log",
    )


figure = Panels(
    Curves(
        lambda ds: at(ds["share"], METHOD, EXACT),
        x="depth",
        colour="n",
        line="m",
        mark="o",
        spread="none",
        ticks=True,
        xlabel="layers",
        ylabel="share of time with sliding",
        ylim=(0, 1.03),
    ),
    Curves(
        lambda ds: at(largest(ds)["pairs"], METHOD, EXACT),
        colour="depth",
        first_colour=2,
        xlabel="time",
        ylabel="sliding pre-activations",
    ),
    _by_method("distance", slice(1, None), "distance of outputs to exact, 1e-5"),
    _by_method("evaluations", slice(4), "evaluations of the field"),
    of=numbers,
    across=2,
    legend="inside",
    names={
        **{"depth": "layers", "n": "n", "m": "m"},
        METHOD: {name: name.replace(", ", "\n") for name in METHODS},
    },
    size=(5.2, 3.6),
)


def claims(ds: xr.Dataset) -> list[Claim]:
    """Shares by samples, width and depth; the error and the cost of other methods."""
    seen, out = numbers(ds), []
    is_long = {f"t ≥ {END:g}": float(ds["time"][-1]) >= END}
    for depth in ds["depth"].values.tolist():
        part = seen.sel(depth=depth)
        rows = [*_shares(at(part, METHOD, EXACT)), *_others(largest(part))]
        out += Claims(is_long, f"{depth} layers").rows(*rows)
    share = largest(at(seen, METHOD, EXACT))["share"]
    text = "share of time with sliding, most layers less fewest"
    deep, shallow = at(share, "depth", max), at(share, "depth", min)
    return [
        *out,
        *Claims(is_long | {"two depths": ds.sizes["depth"] > 1}).rows(
            difference_of(text, deep, shallow, (0, 1), "ours: more kinks")
        ),
    ]


def _shares(part: xr.Dataset) -> list[Claim]:
    """By samples and by width."""
    wide, many = at(part, "m", max), at(part, "n", max)
    text = "share of time with sliding, most samples less fewest"
    share = at(wide["share"], "n", max), at(wide["share"], "n", min)
    said = "share of pre-activations that slide, widest less narrowest"
    of_all = at(many["of_all"], "m", max), at(many["of_all"], "m", min)
    return [
        difference_of(text, *share, (0, 1), "ours: more kinks").given(
            part.sizes["n"] > 1, "two sizes n"
        ),
        difference_of(said, *of_all, (-1, 0), "ours: wide layers turn less").given(
            part.sizes["m"] > 1, "two widths"
        ),
    ]


def _others(part: xr.Dataset) -> list[Claim]:
    """Errors and costs of methods that ignore kinks."""
    one = lambda name, method: at(part[name], METHOD, method)
    exponent = lambda high, low, ratio: np.log(high / low) / math.log(ratio)
    distance, evaluations, risk = "distance", "evaluations", "train_risk"
    slow, fast = one(distance, OTHERS[3]), one(distance, OTHERS[2])
    cost = lambda method: exponent(
        one(evaluations, f"{method}, 1e-5"), one(evaluations, f"{method}, 1e-4"), 10
    )
    ratio = np.log(one(evaluations, OTHERS[0]) / one(evaluations, EXACT))
    excess = np.log(one(risk, OTHERS[2]) / one(risk, EXACT)).isel(time=-1)
    known = [k for k in part[METHOD].values if not k.startswith("exact")]
    stays = part["share"].sel({METHOD: known})
    return [
        median_of(
            "descent: exponent of its distance to the exact flow in the rate",
            exponent(fast, slow, 4),
            (0.7, 1.3),
            EULER,
        ),
        median_of(
            "descent, rate 0.04: ln of its train error over that of the exact flow",
            excess,
            (-0.05, 0.05),
            "ours: late, not wrong",
        ),
        mean_of(
            "Tsit5 across kinks: exponent of evaluations in 1/rtol",
            cost("Tsit5"),
            (0.5, 1.1),
            KINK,
        ),
        mean_of(
            "control, exact flow: exponent of evaluations in 1/rtol",
            cost("exact"),
            (0, 0.35),
            "derived: orders 5 and 3",
        ),
        mean_of(
            "ln of evaluations, Tsit5 across kinks over the exact flow, rtol 1e-5",
            ratio,
            (math.log(2), np.inf),
            "ours",
        ),
        median_of(
            "control, exact flow: distance of rtol 1e-4 to 1e-5",
            one(distance, "exact, 1e-4"),
            (0, 1e-3),
            "ours: errors of order rtol, grown tenfold",
        ),
        largest_of(
            "control: share of time at a kink of methods that do not know of it",
            stays,
            (0, 0.01),
            "ours",
        ),
    ]
