"""Low rank of the last layers: exact flow against descent at three rates.

The theorem of Le & Jegelka is about gradient flow; published runs are descent.  Here
the same networks, with four matrices of which the last two are linear, follow the exact
flow and descent at three rates.  Which part of the published picture is the step size?

The loss is −ln ln(1 + 1/L), with L the logistic loss.  Its flow has the path of the
flow of L, and a time in which ‖θ‖² grows like 8t.

Predictions:
    last two matrices         of rank 1 and aligned, under the flow and at all rates
    matrix between two ReLUs  not of rank 1: two paths, one for each class
    ‖W_{l+1}‖²_F − ‖W_l‖²_F   conserved by the flow; changes ∝ rate under descent
    ratio of norms, ranks     those of the flow up to terms ∝ rate

Control: the exact flow conserves the differences of squared norms.

Reference: Le & Jegelka (2022), arXiv:2201.11968; sizes and samples are ours.
"""

import math

import jax
import numpy as np
import xarray as xr
from jaxtyping import PRNGKeyArray

from simbias.analysis.at import at
from simbias.claims import (
    Claims,
    largest_of,
    mean_of,
    median_of,
    share_of,
    smallest_of,
)
from simbias.core import AbstractNetwork, Claim, Dataset, Experiment, Real
from simbias.datasets import blobs
from simbias.experiment_presets import presets
from simbias.experiments._slow_losses import slow_logistic
from simbias.experiments.deep._methods import LARGE_RATE, METHODS, Method
from simbias.figures import Curves, Panels, Points
from simbias.measures import LayerAlignment, LayerNorms, Margin, StableRanks
from simbias.networks import mlp

LE = "Le & Jegelka (2022), arXiv:2201.11968"
METHOD = "flow.method"
AXES = (METHOD,)
EXACT, MIDDLE, SMALL = tuple(METHODS)[0], tuple(METHODS)[-2], tuple(METHODS)[-1]
USED = (EXACT, SMALL, MIDDLE, LARGE_RATE)
# Matrices, and those at the end without a ReLU between them.
DEPTH, LINEAR = 4, 2
END = 40.0
RATE = "derived: a step of descent is wrong by order rate²; band ours"


def make(
    key: PRNGKeyArray,
    *,
    scale: Real = 0.5,
    n: int = 16,
    d: int = 5,
    m: int = 8,
) -> tuple[Dataset, AbstractNetwork]:
    """Two classes in balls, and matrices N(0, 2·scale²/inputs), the last two linear.

    Args:
        key: random key.
        scale: scale of the initial weights.
        n: training samples.
        d: entries of an input.
        m: width of the hidden layers.
    """
    key_data, key_network = jax.random.split(key)
    widths = (d, *[m] * (DEPTH - 1), 1)
    network = mlp(key_network, widths, scale=scale, has_bias=False, linear=LINEAR - 1)
    return blobs(key_data, n=n, d=d), network


def _times(end: float, count: int) -> tuple[float, ...]:
    return tuple(float(t) for t in np.linspace(0, end, count + 1))


experiment = presets(
    Experiment(
        name="deep_low_rank",
        make=make,
        cell={METHOD: USED},
        seeds=12,
        flow=Method(),
        loss=slow_logistic,
        times=_times(END, 40),
        measures={
            "stable_rank": StableRanks(),
            "alignment": LayerAlignment(),
            "norm": LayerNorms(),
            "margin": Margin(),
        },
    ),
    smoke={"cell": {"m": 4, "n": 8}, "seeds": 2, "times": _times(4.0, 8)},
    paper={"cell": {"m": 16, "n": 32}, "seeds": 40},
)


def numbers(ds: xr.Dataset) -> xr.Dataset:
    """Ranks, ratios of norms, changes of what is conserved, and distances to the flow.

    `has_fitted`: the networks that classify the whole sample under every method.
    """
    norm, rank = ds["norm"], ds["stable_rank"]
    linear = rank.isel(layer=slice(DEPTH - LINEAR, None)).max("layer")
    gap = abs(linear - at(linear, METHOD, EXACT))
    apart = norm.diff("layer")
    change = abs(apart - apart.isel(time=0)).max(["layer", "time"], skipna=False)
    exact = at(norm, METHOD, EXACT).isel(time=-1)
    length = lambda v: np.sqrt((v**2).sum("layer", skipna=False))
    return ds.assign(
        has_fitted=(ds["margin"].isel(time=-1) > 0).all(METHOD),
        linear_rank=linear,
        inner_rank=rank.isel(layer=1),
        pair=ds["alignment"].isel(pair=-1),
        gap=gap.where(gap > 0),
        ratio=np.sqrt(norm.max("layer") / norm.min("layer")),
        change=change / norm.isel(time=-1).max("layer", skipna=False),
        distance=length(norm.isel(time=-1) - exact) / length(exact),
    )


_of_flow = lambda name: lambda ds: at(ds[name], METHOD, EXACT)
_of_steps = lambda name: lambda ds: ds[name].sel({METHOD: [*USED[1:]]})
figure = Panels(
    Curves(_of_flow("linear_rank"), ylabel="stable rank, last two", ylim=(0.95, 3)),
    Curves(_of_flow("inner_rank"), ylabel="stable rank, W_2", ylim=(0.95, 3)),
    Curves(
        _of_steps("gap"),
        colour=METHOD,
        first_colour=1,
        yscale="log",
        ylabel="|rank of last two − that of the flow|",
    ),
    Points(
        "change",
        x=METHOD,
        is_joined=False,
        xlabel="",
        ylabel="change of ‖W_{l+1}‖² − ‖W_l‖²",
        yscale="log",
    ),
    of=numbers,
    across=2,
    xlabel="time",
    names={METHOD: {name: name.replace(", ", "\n") for name in USED}},
    size=(5.2, 3.6),
)


def claims(ds: xr.Dataset) -> list[Claim]:
    """The picture under the flow, the control, and what steps change."""
    seen = numbers(ds)
    fitted = seen["has_fitted"]
    part = seen.isel(seed=np.asarray(fitted.values, bool))
    end = part.isel(time=-1)
    rows = [share_of("networks that fit the sample", fitted, (0.5, 1), "ours")]
    for method in USED:
        one = lambda name, method=method: at(end[name], METHOD, method)
        rows += Claims(where=method).rows(
            largest_of(
                "stable rank of the last two, largest",
                one("linear_rank"),
                (1, 1.05),
                f"{LE}; band ours",
            ),
            smallest_of(
                "alignment of the last two, smallest",
                one("pair"),
                (0.99, 1),
                f"{LE}; band ours",
                tolerance=1e-12,
                most=1,
            ),
            mean_of(
                "stable rank of the matrix between two ReLUs, mean",
                one("inner_rank"),
                (1.5, 2),
                f"{LE}: not of rank 1; band derived: two paths",
            ),
        )
    rows += _steps(end)
    is_long = {f"t ≥ {END:g}": float(ds["time"][-1]) >= END}
    return Claims(is_long).rows(*rows)


def _steps(end: xr.Dataset) -> list[Claim]:
    """What the flow conserves, and how far descent is from it."""
    one = lambda name, method: at(end[name], METHOD, method)
    exponent = lambda name, high, low: (
        np.log(one(name, high) / one(name, low)) / math.log(4)
    )
    less = lambda name, method: one(name, method) - one(name, EXACT)
    log_ratio = np.log(one("ratio", LARGE_RATE) / one("ratio", EXACT))
    return [
        largest_of(
            "control, exact flow: relative change of ‖W_{l+1}‖² − ‖W_l‖², largest",
            one("change", EXACT),
            (0, 1e-4),
            "derived: conserved; band of order 10 rtol, ours",
        ),
        median_of(
            "descent: exponent of this change in the rate, 0.01 to 0.04",
            exponent("change", MIDDLE, SMALL),
            (0.8, 1.2),
            RATE,
        ),
        median_of(
            "descent: exponent of this change in the rate, 0.04 to 0.16",
            exponent("change", LARGE_RATE, MIDDLE),
            (0.8, 1.2),
            RATE,
        ),
        median_of(
            "descent: exponent of the distance of norms to the flow, 0.01 to 0.04",
            exponent("distance", MIDDLE, SMALL),
            (0.7, 1.3),
            RATE,
        ),
        mean_of(
            "rate 0.01: stable rank of the last two less that of the flow",
            less("linear_rank", SMALL),
            (-0.005, 0.005),
            "ours: of order rate",
        ),
        mean_of(
            "rate 0.16: stable rank of the last two less that of the flow",
            less("linear_rank", LARGE_RATE),
            (-0.02, 0.02),
            "ours: of order rate",
        ),
        mean_of(
            "rate 0.16: stable rank between two ReLUs less that of the flow",
            less("inner_rank", LARGE_RATE),
            (-0.1, 0.1),
            "ours: of order rate",
        ),
        mean_of(
            "rate 0.16: ln of the ratio of norms over that of the flow",
            log_ratio,
            (-0.02, 0.02),
            "ours: of order rate",
        ),
    ]
