"""Maximum margin and its failure: leaky ReLU networks that end as linear classifiers.

On linearly separable data with the symmetry (x, y) ↦ (−x, −y), networks of any width
end as two neurons ±w*, the linear classifier of largest margin.  No network of the same
norm has a larger margin.  Neurons do not turn to ±w* at first.  Near zero the flow on
such data is linear, and all neurons turn to ±μ, where μ is the mean of yx.

Two far points can act as hints ("hinted").  Then the flow ends at a linear classifier,
although other networks have a margin several times as large.  With the hints close by
("unhinted") it finds such a network.  Both results need a small initialisation: a
single neuron that does not turn to the hints in time changes the end.

The flow is θ' = −∇ ln L: the path of the gradient flow in another time scale, in which
margins grow exponentially.  Training ends when the smallest margin is 200.

Reference: Lyu, Li, Wang & Arora (2021), arXiv:2110.13905; the samples are ours.
"""

import dataclasses
import functools
from typing import Literal

import jax
import numpy as np
import xarray as xr
from jaxtyping import PRNGKeyArray

from simbias.analysis.at import at
from simbias.claims import largest_of, smallest_of
from simbias.core import AbstractNetwork, Claim, Dataset, Experiment, Real
from simbias.datasets import hinted, symmetric_separable
from simbias.experiment_presets import presets
from simbias.experiments._draws import once_a_sample, samples
from simbias.experiments.margins._until_end import until_end
from simbias.figures import Curves, Law, Panels
from simbias.flows import ReluFlow
from simbias.losses import log_logistic
from simbias.measures import (
    AngularDeviation,
    GroupSums,
    LinearityDefect,
    Margin,
    ParameterNorm,
    TrainLoss,
)
from simbias.networks import LeakyRelu, balanced
from simbias.numerics.exact_numerics import exact_numerics
from simbias.stops import MarginAbove
from simbias.theory.max_margin import max_margin

PAPER = "Lyu, Li, Wang & Arora (2021), arXiv:2110.13905"
DERIVED = "derived: near zero the flow on symmetric data is linear"
LEAST_TIME = 150.0
AXES = ("points", "m")
SLOPE = 0.1
Points = Literal["symmetric", "hinted", "unhinted"]
# Tolerance of results of the flow: forty times its `rtol`, see docs/exact_flow.md.
TOLERANCE = 4e-4
_HINTS = {"hinted": 20.0, "unhinted": 1.0}


def make(
    key: PRNGKeyArray,
    *,
    points: Points = "symmetric",
    n: int = 20,
    d: int = 5,
    m: int = 50,
    scale: Real = 1e-6,
) -> tuple[Dataset, AbstractNetwork]:
    """A sample, and a balanced leaky ReLU network of slope 0.1.

    Args:
        key: random key of symmetric points and of the network; hinted ones are fixed.
        points: symmetric points, or other points with hints far away or close by.
        n: samples to train on.
        d: entries of an input.
        m: width: neurons of a hidden layer.
        scale: scale of the initial weights.
    """
    key_data, key_network = jax.random.split(key)
    if points == "symmetric":
        data = symmetric_separable(key_data, n=n, d=d, margin=0.3)
    else:
        data = hinted(key_data, hint=_HINTS[points])
    network = balanced(key_network, m=m, d=data.x.shape[1], scale=scale)
    return data, dataclasses.replace(network, activation=LeakyRelu(SLOPE))


experiment = presets(
    Experiment(
        name="max_margin",
        make=make,
        cell={"points": ("symmetric", "hinted", "unhinted"), "m": (20, 100)},
        seeds=2,
        # A sample is the same for all widths.
        shared=("points", "m", "scale"),
        flow=ReluFlow(rtol=1e-5),
        loss=log_logistic,
        times=tuple(float(t) for t in range(0, 151, 2)),
        measures={
            "log_loss": TrainLoss(log_logistic),
            "margin": Margin(),
            "parameter_norm": ParameterNorm(),
            "linearity_defect": LinearityDefect(),
            "axis_deviation": AngularDeviation(quantile=0.99, is_mass_weighted=True),
            "group_sums": GroupSums(),
        },
        stop=MarginAbove(200.0),
    ),
    smoke={"cell": {"m": 20, "n": 8, "d": 2}, "seeds": 1},
    paper={"cell": {"m": (20, 1000)}, "seeds": 100},
)


def normalised_margin(ds: xr.Dataset) -> xr.DataArray:
    """Smallest margin yᵢ f(xᵢ) over ‖θ‖²."""
    return ds["margin"] / (2 * ds["parameter_norm"])


def against_theory(ds: xr.Dataset) -> xr.Dataset:
    """Networks on symmetric data compared with the quadratic program.

    `ratio`: normalised margin over the largest of any network, (1 + α)γ*/4: that of two
    neurons ±w* of equal norm with outputs of opposite sign, γ* the linear margin.
    `with_mean` and `with_limit`: cosine of the linear part, Σ aⱼwⱼ, with the mean of yx
    and with w*.  All over time; NaN for hinted data.
    """
    axes = [str(k) for k in ds["status"].dims]
    is_there = ds["status"].notnull() & (ds["points"] == "symmetric")
    margin, sums = (
        v.transpose(*axes, "time", ...)
        for v in (normalised_margin(ds), ds["group_sums"].sum("group", skipna=False))
    )
    found = np.full((3, *margin.shape), np.nan)
    for place, _, data in samples(ds, experiment(), is_there.transpose(*axes)):
        best, v = _linear(data), sums.values[place][:, : data.x.shape[1]]
        mean = np.asarray(data.x * data.y).mean(axis=0)
        found[(0, *place)] = margin.values[place] / ((1 + SLOPE) / 4 * best.margin)
        found[(1, *place)], found[(2, *place)] = _cosine(v, mean), _cosine(v, best.u)
    names = ("ratio", "with_mean", "with_limit")
    return ds.assign(
        {k: margin.copy(data=v) for k, v in zip(names, found, strict=True)}
    )


_linear = once_a_sample(max_margin)


def _cosine(rows: np.ndarray, v: np.ndarray) -> np.ndarray:
    return rows @ v / np.linalg.norm(rows, axis=-1) / np.linalg.norm(v)


@functools.cache
def _one_neuron() -> float:
    """Normalised margin of one neuron along the linear classifier of hinted data.

    f = a σ(w·x) with |a| = ‖w‖ has ‖θ‖² = 2a², and on these data its smallest margin,
    a²γ, at samples with y = 1.
    """
    with exact_numerics():
        data = hinted(jax.random.key(0), hint=_HINTS["hinted"])
        return max_margin(data).margin / 2


_curves = functools.partial(
    Curves,
    x=until_end,
    xlabel="time, of θ' = −∇ ln L; a dot ends a member",
    spread="each",
    pooled=("m",),
    has_end=True,
)
figure = Panels(
    _curves(
        "ratio",
        of=lambda ds: at(against_theory(ds), "points", "symmetric"),
        first_colour=2,
        title="symmetric data: margin over the largest possible",
        laws=(Law(1, "left: the largest possible", colour="black"),),
    ),
    _curves(
        normalised_margin,
        of=lambda ds: ds.isel(points=np.isin(ds["points"], [*_HINTS])),
        colour="points",
        title="hinted data: min yᵢ f(xᵢ)/‖θ‖², cut below −0.02",
        ylim=(-0.02, 0.18),
        laws=(
            Law(
                lambda _: xr.DataArray(_one_neuron()),
                "right: one neuron along the hint, γ/2",
                line=":",
                colour="black",
            ),
        ),
    ),
    names={"points": {k: f"{k}, h = {v:g}" for k, v in _HINTS.items()}},
)


def claims(ds: xr.Dataset) -> list[Claim]:
    """The largest margin on symmetric data, a small one on hinted data."""
    symmetric = at(against_theory(ds), "points", "symmetric")
    early, last = _before_it_moves(symmetric), symmetric.isel(time=-1)
    hint, plain = (at(ds, "points", kind).isel(time=-1) for kind in _HINTS)
    ends = (normalised_margin(part) for part in (plain, hint))
    without, with_hints = (v.stack(member=v.dims, create_index=False) for v in ends)
    gains = without / with_hints.rename(member="other")
    margin = "symmetric: margin over the largest possible, smallest"
    mean = "symmetric: cosine with the mean of yx before the loss moves, smallest"
    control = "control, symmetric: cosine with w* (QP) then, largest"
    limit = "symmetric: cosine with w* (QP), smallest"
    odd = "symmetric: rms(f(x) + f(−x))/rms(f), largest"
    near_axis = "hinted: 99 % of the mass within this angle of ±e₁ (rad)"
    gain = "margin without hints over that with hints, smallest"
    off = {"tolerance": TOLERANCE}
    return [
        smallest_of(margin, last["ratio"], (0.97, 1), PAPER, **off, most=1),
        smallest_of(mean, early["with_mean"], (0.999, 1), DERIVED, **off, most=1),
        largest_of(control, early["with_limit"], (0, 0.99), DERIVED, **off, most=1),
        smallest_of(limit, last["with_limit"], (0.999, 1), PAPER, **off, most=1),
        largest_of(odd, last["linearity_defect"], (0, 0.01), PAPER, **off),
        largest_of(near_axis, hint["axis_deviation"], (0, 0.01), PAPER, **off),
        smallest_of(gain, gains, (2, np.inf), PAPER, **off),
    ]


def _before_it_moves(ds: xr.Dataset) -> xr.Dataset:
    """The last record of each network at which its loss has fallen by less than 1 %."""
    loss = ds["log_loss"]
    lost = 1 - xr.ufuncs.exp(loss - loss.isel(time=0))
    return ds.isel(time=((lost >= 0.01).argmax("time") - 1).clip(min=0))
