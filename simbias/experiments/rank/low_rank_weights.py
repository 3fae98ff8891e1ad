"""ReLU networks with K linear last layers: these end with rank 1, the others do not.

The network has five matrices without biases, W_5 ⋯ W_{6−K} φ(⋯ φ(W_1 x)), and learns
two classes under the logistic loss.  The stable rank of the last K matrices tends to 1,
and neighbours align, for the same reason as in a linear network (`low_rank_linear`).
For layers below a ReLU only norms are balanced, and these layers keep a larger rank.

Derived here: a ReLU network separates two classes by two paths, one for each, which
share no neuron.  A layer of M between ReLUs then has two singular values p and q.  The
largest margin needs p/q = (γ₋/γ₊)^{1/(M+1)}, with γ± the margins of the best line for
each class alone.  The stable rank of the layer is 1 + (q/p)².  It is 2 for equal
margins, and above 1½ while they differ by less than a factor of 2^{(M+1)/2}. The first
layer is an exception: the lines of two classes may be opposite, w and −w, and then it
has rank 1.

Steps of descent have one length, θ ← θ − rate·g/‖g‖ with g the gradient of ln L.  For
short steps this is the path of the gradient flow, parametrised by its length.  Runs
with two step lengths check that steps are short enough.

The preset `flow` compares steps of two lengths with the exact flow, of the same loss in
another time, by the length of the path.  Predictions, before its first run:
    ranks, alignment            in the bands of descent, under the exact flow
    largest stable rank         that of steps of 0.025 at equal ‖θ‖, to within 0.02
    distance of ‖W_l‖ to flow   at equal ‖θ‖, ∝ length of the step
    control                     the exact flow conserves ‖W_{l+1}‖²_F − ‖W_l‖²_F to 1e-4

Reference: Le & Jegelka (2022), arXiv:2201.11968; sizes and samples are ours.
"""

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
from simbias.errors import BadInput
from simbias.experiment_presets import presets
from simbias.experiments._slow_losses import slow_logistic
from simbias.experiments._times import even_times
from simbias.experiments.rank._by_length import EXACT, FlowOrSteps
from simbias.experiments.rank._layers import LE, drift
from simbias.experiments.rank._samples import Source, inputs, two_classes
from simbias.figures import Curves, Law, Panels
from simbias.flows import Descent
from simbias.flows._descent.normalised import normalised
from simbias.losses import log_logistic
from simbias.measures import LayerAlignment, LayerNorms, Margin, StableRanks, TrainLoss
from simbias.networks import mlp
from simbias.validation.values import positive

RATES = "flow.rate"
AXES = ("source", "linear", RATES)
DEPTH = 5
# What the claims are about: the path of the smallest preset at least.
LEAST = 20.0
PATHS = "band derived: two paths, one for each class"


def make(
    key: PRNGKeyArray,
    *,
    source: Source = "blobs",
    linear: int = 2,
    scale: Real = 0.1,
    m: int = 16,
    n: int = 32,
    d: int = 5,
    data_dir: str = "",
) -> tuple[Dataset, AbstractNetwork]:
    """Two classes, and five matrices N(0, 2·scale²/inputs) with ReLUs below the last K.

    Args:
        key: random key.
        source: "blobs", "digits" or "mnist", the digits 0 and 1.
        linear: K, from 1 (an ordinary network) to 5 (a linear one).
        scale: scale of the initial weights.
        m: width of the hidden layers.
        n: training samples.
        d: inputs of the blobs.
        data_dir: folder with the files of MNIST.

    Raises:
        ValueError: for a name that is not known, or a number out of range.
    """
    positive("scale", scale)
    if isinstance(linear, bool) or linear not in range(1, DEPTH + 1):
        raise BadInput(
            f"`linear` must be from 1 to {DEPTH}, the last of the matrices without a "
            f"ReLU between them, got {linear!r}. Example: linear=2."
        )
    key_data, key_network = jax.random.split(key)
    data = two_classes(key_data, source, n, d, data_dir)
    widths = (inputs(source, d), *[m] * (DEPTH - 1), 1)
    network = mlp(key_network, widths, scale=scale, has_bias=False, linear=linear - 1)
    return data, network


experiment = presets(
    Experiment(
        name="low_rank_weights",
        make=make,
        cell={"source": ("blobs", "digits"), "linear": (2, 3), RATES: (0.025, 0.05)},
        seeds=20,
        flow=Descent(optimiser=normalised),
        loss=log_logistic,
        times=even_times(20.0, 40),
        measures={
            "stable_rank": StableRanks(),
            "alignment": LayerAlignment(),
            "norm": LayerNorms(),
            "margin": Margin(),
            "log_loss": TrainLoss(log_logistic),
        },
    ),
    smoke={
        "cell": {"source": "blobs", "linear": 2, "m": 8, "n": 16},
        "seeds": 2,
        "times": even_times(10.0, 40),
    },
    paper={"cell": {"source": ("blobs", "mnist"), "m": 128}, "seeds": 10},
    flow={
        "cell": {"source": ("blobs",), RATES: (EXACT, "0.025", "0.05")},
        "seeds": 8,
        "flow": FlowOrSteps(),
        "loss": slow_logistic,
    },
)


def cases(ds: xr.Dataset) -> xr.Dataset:
    """Every source and K side by side, over `case`."""
    ds = ds.stack(case=("source", "linear"))
    names = [f"{source}, K = {count}" for source, count in ds["case"].values]
    return ds.drop_vars(["case", "source", "linear"]).assign_coords(case=names)


figure = Panels(
    Curves(
        lambda part: part["stable_rank"].isel({RATES: 0}),
        colour="layer",
        ylabel="stable rank, ‖W‖²_F/‖W‖²_op",
        ylim=(0.9, 3),
        laws=(
            Law(1),
            Law(
                lambda part: part["stable_rank"].isel({RATES: -1}).median("seed"),
                "at the highest rate, median",
                line=":",
            ),
        ),
    ),
    Curves(
        lambda part: part["alignment"].isel({RATES: 0}),
        colour="pair",
        ylabel="alignment, |v_{l+1}·u_l|",
    ),
    columns="case",
    of=cases,
    xlabel="length of the path",
    names={
        "layer": {i: f"W_{i + 1}" for i in range(DEPTH)},
        "pair": {i: f"W_{i + 2}, W_{i + 1}" for i in range(DEPTH - 1)},
    },
    legend=6,
)


def claims(ds: xr.Dataset) -> list[Claim]:
    """Rank one and alignment of the last K, a larger rank below; what steps change."""
    out = []
    for source in ds["source"].values:
        for count in ds["linear"].values:
            part = ds.sel(source=source, linear=count)
            out += _of_one(part, f"{source}, K = {count}", int(count))
    is_long = float(ds["time"][-1]) >= LEAST
    return Claims(needs={f"length ≥ {LEAST:g}": is_long}).rows(*out)


def _of_one(part: xr.Dataset, where: str, count: int) -> list[Claim]:
    rates = part[RATES].values
    lower, higher = ({RATES: rates[i]} for i in (0, -1))
    # What the theorem asks for; where a class has died, nothing grows.
    is_told = part["margin"].isel(time=-1) > 0
    end = part.isel(time=-1).sel(lower).isel(seed=is_told.sel(lower).values)
    both = part.isel(seed=is_told.all(RATES).values)
    # One layer at least, for a number that is not applicable where none has a ReLU.
    many = max(DEPTH - count, 1)
    linear, below, above = slice(DEPTH - count, None), slice(0, many), slice(1, many)
    rank, relu, inner = (
        end["stable_rank"].isel(layer=some) for some in (linear, below, above)
    )
    aligned, exact = end["alignment"].isel(pair=linear), {"tolerance": 1e-12, "most": 1}
    source, told = f"{LE}; band ours", "members that tell all of the sample"
    neighbours = "|v·u| of neighbours among the last K, smallest"
    least = "stable rank of the ReLU layers, least of them, mean"
    of_relu = relu.min("layer", skipna=False)
    has_inner = count < DEPTH - 1
    of_inner = (inner if has_inner else relu).mean("layer", skipna=False)
    paths = "stable rank of the ReLU layers above the first, mean"
    return Claims(where=where).rows(
        share_of(told, is_told.sel(lower), (0.5, 1), "ours"),
        largest_of("stable rank of the last K, largest", rank, (1, 1.01), source),
        smallest_of(neighbours, aligned, (0.99, 1), source, **exact).given(
            count > 1, "K ≥ 2"
        ),
        mean_of(paths, of_inner, (1.5, 2), f"{LE}: not of rank 1; {PATHS}").given(
            has_inner, "two ReLU layers"
        ),
        mean_of(least, of_relu, (1.01, np.inf), source).given(
            False, "layers above the first: in that rank 1 can tell two classes"
        ),
        *(_of_flow(both) if EXACT in rates else _of_rates(both)),
    )


def _of_rates(both: xr.Dataset) -> list[Claim]:
    """What the length of the steps changes."""
    rates = both[RATES].values
    lower, higher = ({RATES: rates[i]} for i in (0, -1))
    highest = both["stable_rank"].isel(time=-1).max("layer", skipna=False)
    gap, two = drift(both["norm"]), len(rates) > 1
    grown = xr.ufuncs.log(gap.sel(higher) / gap.sel(lower))
    exponent = grown / (np.log(rates[-1] / rates[0]) if two else 1)
    apart = highest.sel(lower) - highest.sel(higher)
    lasting = "largest stable rank at the lower rate less at the higher, mean"
    change = "change of ‖W_{l+1}‖²_F − ‖W_l‖²_F, exponent in the rate"
    return Claims(needs={"two rates": two}).rows(
        mean_of(lasting, apart, (-0.02, 0.02), "ours"),
        mean_of(change, exponent, (0.8, 1.3), "derived: rate × length"),
    )


def _of_flow(both: xr.Dataset) -> list[Claim]:
    """Steps against the exact flow, at the largest ‖θ‖ that all of them reach."""
    size = both["norm"].sum("layer", skipna=False) ** 0.5
    level = size.isel(time=-1).min(RATES, skipna=False)
    there = lambda name: _at_size(both[name], size, level)
    highest = there("stable_rank").max("layer", skipna=False)
    norms, exact = there("norm") ** 0.5, at(both, RATES, EXACT)
    square = ((norms - at(norms, RATES, EXACT)) ** 2).sum("layer", skipna=False)
    grown = xr.ufuncs.log(at(square, RATES, "0.05") / at(square, RATES, "0.025")) / 2
    largest = exact["norm"].isel(time=-1).max("layer", skipna=False)
    return [
        mean_of(
            "largest stable rank, exact flow less steps of 0.025, mean",
            at(highest, RATES, EXACT) - at(highest, RATES, "0.025"),
            (-0.02, 0.02),
            "ours: of order step length",
        ),
        median_of(
            "distance of norms to the exact flow, exponent in the step length",
            grown / np.log(2),
            (0.7, 1.3),
            "derived: step × length; band ours",
        ),
        largest_of(
            "control, exact flow: relative change of ‖W_{l+1}‖²_F − ‖W_l‖²_F, largest",
            drift(exact["norm"]) / largest,
            (0, 1e-4),
            "derived: conserved; band of order 10 rtol, ours",
        ),
    ]


def _at_size(
    values: xr.DataArray, size: xr.DataArray, level: xr.DataArray
) -> xr.DataArray:
    """Values where ‖θ‖, which grows at the end, has a level."""
    core = [["time"], ["time"], []]
    between = lambda values, size, level: np.interp(level, size, values)
    return xr.apply_ufunc(
        between, values, size, level, input_core_dims=core, vectorize=True
    )
