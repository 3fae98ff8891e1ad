"""Orthogonally separable data: one max-margin neuron per class.

Inputs of one class have acute angles; inputs of two classes have right or obtuse ones.
From a small balanced initialisation every ReLU neuron with a > 0 ends along u₊, the
max-margin direction of the positive samples alone, or is dead from the start.  Every
neuron with a < 0 ends along u₋, that of the negative samples, or is dead.  So the
function is that of two neurons.

The flow is θ' = −∇ ln L: the path of the gradient flow in another time scale, in which
margins grow exponentially.  Training ends when the smallest margin is 3000.

Reference: Phuong & Lampert (2021), The inductive bias of ReLU networks on orthogonally
separable data, ICLR, theorem 1; the sample is ours.
"""

import functools

import jax
import numpy as np
import xarray as xr
from jaxtyping import PRNGKeyArray

from simbias.claims import farthest_of, largest_of
from simbias.core import AbstractNetwork, Claim, Dataset, Experiment, Real
from simbias.datasets import orthogonally_separable
from simbias.experiment_presets import presets
from simbias.experiments._draws import once_a_sample, samples
from simbias.experiments.margins._until_end import until_end
from simbias.figures import Curves, Panels
from simbias.flows import ReluFlow
from simbias.losses import log_logistic
from simbias.measures import AngularDeviation, EffectiveWidth, GroupSums, Margin
from simbias.networks import balanced
from simbias.stops import MarginAbove
from simbias.theory.max_margin import max_margin

PAPER = "Phuong & Lampert (2021), ICLR, theorem 1"
LEAST_TIME = 40.0
AXES = ("m",)
# Tolerance of results of the flow: forty times its `rtol`, see docs/exact_flow.md.
TOLERANCE = 4e-4
_GROUPS = {"positive": 1.0, "negative": -1.0}


def make(
    key: PRNGKeyArray, *, n: int = 20, d: int = 5, m: int = 50, scale: Real = 1e-6
) -> tuple[Dataset, AbstractNetwork]:
    """A sample, and a balanced ReLU network.

    Args:
        key: random key.
        n: samples to train on.
        d: entries of an input.
        m: width: neurons of a hidden layer.
        scale: scale of the initial weights.
    """
    key_data, key_network = jax.random.split(key)
    data = orthogonally_separable(key_data, n=n, d=d)
    return data, balanced(key_network, m=m, d=d, scale=scale)


experiment = presets(
    Experiment(
        name="orthogonally_separable",
        make=make,
        cell={"m": (20, 100)},
        seeds=6,
        # A sample is the same for all widths.
        shared=("m", "scale"),
        flow=ReluFlow(rtol=1e-5),
        loss=log_logistic,
        times=tuple(float(t) for t in range(41)),
        measures={
            "margin": Margin(),
            "group_sums": GroupSums(),
            "effective_width": EffectiveWidth(share=1e-2),
            "group_deviation": AngularDeviation(
                quantile=0.99, centre="groups", is_mass_weighted=True
            ),
        },
        stop=MarginAbove(3000.0),
    ),
    smoke={"cell": {"m": 20}, "seeds": 2},
    paper={"cell": {"m": (20, 2000), "d": (5, 50)}, "seeds": 100},
)


def angles(ds: xr.Dataset) -> xr.DataArray:
    """Angle of Σ aⱼwⱼ over each sign of a with u₊ and u₋, from `max_margin` (rad)."""
    axes = [str(k) for k in ds["status"].dims]
    sums = ds["group_sums"].sel(group=[*_GROUPS])
    sums = sums.transpose(*axes, ..., "group", "input")
    out = sums.isel(input=0, drop=True).copy(data=np.full(sums.shape[:-1], np.nan))
    is_there = ds["status"].notnull()
    for place, _, data in samples(ds, experiment(), is_there):
        pairs = zip(_GROUPS.values(), _largest(data), strict=True)
        for i, (label, u) in enumerate(pairs):
            w = sums.values[place][..., i, : len(u)] * label
            unit = u / np.linalg.norm(u)
            along = w @ unit
            across = np.linalg.norm(w - along[..., None] * unit, axis=-1)
            out.values[place][..., i] = np.arctan2(across, along)
    return out


@once_a_sample
def _largest(data: Dataset) -> list[np.ndarray]:
    """u₊ and u₋."""
    return [max_margin(data, label).u for label in _GROUPS.values()]


_curves = functools.partial(
    Curves,
    x=until_end,
    xlabel="time, of θ' = −∇ ln L; a dot ends a member",
    yscale="log",
    spread="each",
    pooled=("m",),
    has_end=True,
)
figure = Panels(
    _curves(
        angles, colour="group", title="angle of Σ aⱼwⱼ with the QP's u₊ and u₋ (rad)"
    ),
    _curves(
        "group_deviation",
        first_colour=2,
        title="angle inside a group, 99 % of the mass (rad)",
    ),
    names={"group": {"positive": "u₊", "negative": "u₋"}},
)


def claims(ds: xr.Dataset) -> list[Claim]:
    """Two directions, u₊ and u₋."""
    last = ds.isel(time=-1)
    off = "angle with u₊ or u₋ of the QP, largest (rad)"
    inside = "99 % of the mass within this angle of its group (rad)"
    count = "directions at the end, farthest from 2"
    exact = functools.partial(largest_of, tolerance=TOLERANCE)
    return [
        exact(off, angles(last), (0, 0.02), PAPER),
        exact(inside, last["group_deviation"], (0, 0.02), PAPER),
        farthest_of(count, last["effective_width"], 2, (2, 2), PAPER),
    ]
