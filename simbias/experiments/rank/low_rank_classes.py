"""Deep linear classifiers of k classes end with rank k − 1 at most.

The network is W_N ⋯ W_1 x under the cross-entropy.  The loss depends only on the k − 1
differences of outputs.  So in every matrix at most k − 1 singular values grow without
bound, and the ratio of the k-th to the first tends to 0.  For two classes the rank is 1
(`low_rank_linear`).  For more classes it is above 1; the experiment shows how many of
the k − 1 singular values grow.

The flow is θ' = ∇ ln ln(1 + 1/L), as in `low_rank_linear`.

Reference: Le & Jegelka (2022), arXiv:2201.11968, for the rank of two classes; that of k
is derived; sizes and samples are ours.
"""

import jax
import xarray as xr
from jaxtyping import PRNGKeyArray

from simbias.claims import largest_of, share_of, smallest_of
from simbias.core import AbstractNetwork, Claim, Dataset, Experiment, Real
from simbias.datasets import blobs
from simbias.experiment_presets import presets
from simbias.experiments._slow_losses import slow_cross_entropy
from simbias.experiments._times import log_times
from simbias.experiments.rank._layers import CLOCK
from simbias.figures import Curves, Law, Panels
from simbias.flows.gradient_flow import PRECISE, GradientFlow
from simbias.losses import log_cross_entropy
from simbias.measures import SingularShares, StableRanks, TrainLoss
from simbias.networks import deep_linear
from simbias.validation.sample import one_of
from simbias.validation.values import positive

AXES = ("classes",)
LEAST_TIME = 150.0


def make(
    key: PRNGKeyArray,
    *,
    classes: int = 3,
    scale: Real = 0.2,
    depth: int = 4,
    m: int = 16,
    n: int = 30,
    d: int = 6,
) -> tuple[Dataset, AbstractNetwork]:
    """Balls around orthogonal centres, and `depth` matrices N(0, scale²/inputs).

    Args:
        key: random key.
        classes: k, 3 or more.
        scale: scale of the initial weights.
        depth: N, number of matrices, 2 or more.
        m: width of the hidden layers.
        n: training samples.
        d: inputs, as many as classes or more.
    """
    positive("scale", scale)
    one_of("depth", str(depth), [str(k) for k in range(2, 17)])
    one_of("classes", str(classes), [str(k) for k in range(3, 17)])
    key_data, key_network = jax.random.split(key)
    data = blobs(key_data, n=n, d=d, classes=classes, radius=0.5)
    widths = (d, *[m] * (depth - 1), classes)
    return data, deep_linear(key_network, widths, law="lecun", scale=scale)


TIMES = log_times(0.1, 150.0, 40, digits=3)

experiment = presets(
    Experiment(
        name="low_rank_classes",
        make=make,
        cell={"classes": (3, 5)},
        seeds=20,
        flow=GradientFlow(PRECISE, rtol=1e-7),
        loss=slow_cross_entropy,
        times=TIMES,
        measures={
            "stable_rank": StableRanks(),
            "share": SingularShares(),
            "log_loss": TrainLoss(log_cross_entropy),
        },
    ),
    smoke={"cell": {"classes": 3}, "seeds": 2, "times": TIMES[::4]},
    paper={"cell": {"classes": (3, 5, 10), "d": 10, "n": 100, "m": 64}, "seeds": 50},
)


figure = Panels(
    Curves(
        # σ_2 to σ_k, or as many as were recorded.
        lambda part: part["share"].isel(layer=0, value=slice(1, int(part["classes"]))),
        colour="value",
        title="W_1",
        ylabel="singular values over the largest",
        ylim=(0, 1.05),
        laws=(Law(1),),
    ),
    columns="classes",
    of=lambda ds: ds.isel(time=slice(1, None)),
    xlabel=CLOCK,
    xscale="log",
    names={"value": {i: f"σ_{i + 2}/σ_1" for i in range(9)}},
)


def claims(ds: xr.Dataset) -> list[Claim]:
    """More than one direction, and k − 1 at most."""
    out = []
    for k in ds["classes"].values:
        values = ds["share"].sel(classes=k).isel(time=-1)
        last, second = (values.isel(value=i) for i in (int(k) - 1, 1))
        has_all = values.isel(layer=0, value=int(k) - 2) > 0.5
        low = f"k = {k}: σ_k/σ_1, largest of layers"
        control = f"k = {k} (control of rank 1): σ_2/σ_1, smallest of layers"
        whole = f"k = {k}: members whose W_1 has all k − 1 above σ_1/2"
        out += [
            largest_of(low, last, (0, 0.1), "derived; band ours"),
            smallest_of(control, second, (0.5, 1), "derived; band ours"),
            share_of(whole, has_all, (0.5, 1), "ours: rank k − 1 and not less"),
        ]
    return out
