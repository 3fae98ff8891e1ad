"""Maximum margin and its failure: leaky ReLU networks that end as linear classifiers.

On linearly separable data that are symmetric, (x, y) ↦ (−x, −y), networks of any width
end as two neurons ±w*, the linear classifier of largest margin, and no network of the
same norm has a larger one.  They do not start there: near zero the flow on such data is
linear, and all neurons turn to ±μ, μ the mean of yx.  With two far points as hints the
same flow ends at a linear classifier although other networks have a margin several
times as large ("hinted"); with the hints brought near it finds them ("unhinted").  Both
are statements about small starts: one neuron that has not turned to the hints in time
is enough to leave.

The flow is θ' = −∇ ln L: the path of the gradient flow on a clock on which margins grow
exponentially.  A member ends when its smallest margin is 200.

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
from simbias.analysis.parts import with_axes
from simbias.claims import largest_of, smallest_of
from simbias.core import AbstractNetwork, Claim, Dataset, Experiment, Index, Real
from simbias.datasets import hinted, symmetric_separable
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
from simbias.presets import presets
from simbias.stops import MarginAbove
from simbias.theory.max_margin import MaxMargin, max_margin

PAPER = "Lyu, Li, Wang & Arora (2021), arXiv:2110.13905"
DERIVED = "derived: near zero the flow on symmetric data is linear"
# What the claims are about: the final time of the smallest preset at least.
LEAST_TIME = 150.0
SLOPE = 0.1
Points = Literal["symmetric", "hinted", "unhinted"]
_SAMPLE = ("draw", "n", "d")
# Of what the flow computes: forty times its `rtol`, see docs/exact_flow.md.
TOLERANCE = 4e-4
_OFF = {"tolerance": TOLERANCE}
_HINTS = {"hinted": 20.0, "unhinted": 1.0}


def sample(points: Points, draw: Index, n: int, d: int) -> Dataset:
    """The data number `draw`; the hinted points are the same for every draw."""
    key = jax.random.key(draw)
    if points == "symmetric":
        return symmetric_separable(key, n=n, d=d, margin=0.3)
    return hinted(key, hint=_HINTS[points])


def make(
    key: PRNGKeyArray,
    *,
    points: Points = "symmetric",
    draw: Index = 0,
    n: int = 20,
    d: int = 5,
    m: int = 50,
    scale: Real = 1e-6,
) -> tuple[Dataset, AbstractNetwork]:
    """A sample of its own seed, and a balanced leaky ReLU network of slope 0.1.

    Args:
        key: random key.
        points: symmetric ones, or others with hints far out or brought near.
        draw: number of the sample.
        n: samples to train on.
        d: entries of an input.
        m: width: neurons of a hidden layer.
        scale: scale of the initial weights.
    """
    data = sample(points, draw, n, d)
    network = balanced(key, m=m, d=data.x.shape[1], scale=scale)
    return data, dataclasses.replace(network, activation=LeakyRelu(SLOPE))


experiment = presets(
    Experiment(
        name="max_margin",
        make=make,
        cell={
            "points": ("symmetric", "hinted", "unhinted"),
            "draw": (0, 1),
            "m": (20, 100),
        },
        seeds=1,
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
    smoke={"cell": {"draw": 0, "m": 20, "n": 8, "d": 2}},
    paper={"cell": {"draw": (0, 1, 2, 3, 4), "m": (20, 1000)}, "seeds": 20},
)


def normalised_margin(ds: xr.Dataset) -> xr.DataArray:
    """Smallest margin yᵢ f(xᵢ) over ‖θ‖²."""
    return ds["margin"] / (2 * ds["parameter_norm"])


def largest_margin(draw: int, n: int, d: int) -> float:
    """Largest normalised margin of any network on a symmetric sample: (1 + α)γ*/4.

    Two neurons ±w* of equal norm, outputs of opposite sign; γ* is the linear margin.
    """
    # Whole numbers of an array are not those that a sample takes.
    return (1 + SLOPE) / 4 * _oracle(int(draw), int(n), int(d)).margin


def _share_of_largest(part: xr.Dataset) -> xr.DataArray:
    """Normalised margin on symmetric data over the largest possible."""
    largest = xr.apply_ufunc(
        largest_margin, *(part[k] for k in _SAMPLE), vectorize=True
    )
    return normalised_margin(part) / largest


@functools.cache
def _one_neuron() -> float:
    """Normalised margin of one neuron along the linear classifier of hinted data.

    f = a σ(w·x) with |a| = ‖w‖ has ‖θ‖² = 2a², and on these data its smallest margin,
    a²γ, at samples with y = 1.
    """
    with exact_numerics():
        return max_margin(sample("hinted", 0, 0, 0)).margin / 2


_curves = functools.partial(
    Curves,
    x=until_end,
    xlabel="time, of θ' = −∇ ln L; a dot ends a member",
    spread="each",
    has_end=True,
)
figure = Panels(
    _curves(
        _share_of_largest,
        of=lambda ds: at(ds, "points", "symmetric"),
        first=2,
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
    of=lambda ds: with_axes(ds, ("points", *_SAMPLE)),
)


def claims(ds: xr.Dataset) -> list[Claim]:
    """The largest margin on symmetric data, a small one on hinted data."""
    symmetric = _members(ds, "symmetric")
    last = [part.isel(time=-1) for part in symmetric]
    ratio = [float(normalised_margin(p)) / largest_margin(*_which(p)) for p in last]
    early = [part.isel(time=_before_it_moves(part)) for part in symmetric]
    # Columns: with the mean, with w*.
    then, end = (np.reshape([*map(_cosines, p)], (-1, 2)) for p in (early, last))
    even = [float(p["linearity_defect"]) for p in last]
    hint, plain = ([p.isel(time=-1) for p in _members(ds, k)] for k in _HINTS)
    away = [float(p["axis_deviation"]) for p in hint]
    with_hints, without = (
        [float(normalised_margin(p)) for p in parts] for parts in (hint, plain)
    )
    gains = np.divide.outer(without, with_hints)
    margin = "symmetric: margin over the largest possible, smallest"
    mean = "symmetric: cosine with the mean of yx before the loss moves, smallest"
    control = "control, symmetric: cosine with w* (QP) then, largest"
    limit = "symmetric: cosine with w* (QP), smallest"
    odd = "symmetric: rms(f(x) + f(−x))/rms(f), largest"
    near_axis = "hinted: 99 % of the mass within this angle of ±e₁ (rad)"
    gain = "margin without hints over that with hints, smallest"
    return [
        smallest_of(margin, ratio, (0.97, 1), PAPER, **_OFF, most=1),
        smallest_of(mean, then[:, 0], (0.999, 1), DERIVED, **_OFF, most=1),
        largest_of(control, then[:, 1], (0, 0.99), DERIVED, **_OFF, most=1),
        smallest_of(limit, end[:, 1], (0.999, 1), PAPER, **_OFF, most=1),
        largest_of(odd, even, (0, 0.01), PAPER, **_OFF),
        largest_of(near_axis, away, (0, 0.01), PAPER, **_OFF),
        smallest_of(gain, gains, (2, np.inf), PAPER, **_OFF),
    ]


@functools.cache
def _oracle(draw: int, n: int, d: int) -> MaxMargin:
    with exact_numerics():
        return max_margin(sample("symmetric", draw, n, d))


def _members(ds: xr.Dataset, points: str) -> list[xr.Dataset]:
    """Every member on these points; none if they are not in the grid."""
    ds = with_axes(ds, ("points", *_SAMPLE))
    if points not in ds["points"].values:
        return []
    axes = [d for d in ds["status"].dims if d != "points"]
    stacked = ds.sel(points=points).stack(member=axes)
    return [stacked.isel(member=i) for i in range(stacked.sizes["member"])]


def _which(member: xr.Dataset) -> tuple[int, int, int]:
    draw, n, d = (int(member[k]) for k in _SAMPLE)
    return draw, n, d


def _cosines(member: xr.Dataset) -> tuple[float, float]:
    """Of the linear part, Σ aⱼwⱼ, with the mean of yx and with w*."""
    v, u = member["group_sums"].values.sum(0), _oracle(*_which(member)).u
    with exact_numerics():
        data = sample("symmetric", *_which(member))
        mean = np.asarray(data.x * data.y).mean(axis=0)
    v = v[: len(u)] / np.linalg.norm(v[: len(u)])
    return float(v @ mean / np.linalg.norm(mean)), float(v @ u / np.linalg.norm(u))


def _before_it_moves(member: xr.Dataset) -> int:
    """The last record at which the loss has lost less than 1 %."""
    lost = 1 - np.exp(member["log_loss"].values - float(member["log_loss"][0]))
    return max(int(np.argmax(lost >= 0.01)) - 1, 0)
