"""The optimisation threshold as it was published: SGD, and no small start.

The twin of `threshold`: the same samples, seed by seed, but mini-batches of 32 at a
rate of 0.01 from one of two starts, neither of which the theorem is about:

    default    wⱼ ~ U(±1/√d), aⱼ ~ U(±1/√m), that of torch.nn.Linear
    gaussian   every weight N(0, 10⁻⁵/√m)

The published figure comes from such a run with 10,000 neurons, the theorem is about
λ → 0.  If SGD ends as the exact flow from λ = 1e-8 does, the figure is early alignment;
if it interpolates where that flow does not, it is something else.  The claims are
therefore those of `threshold` for its small start, held against both.

The paper says neither the law of its start nor its rate; both are ours.

Reference: Boursier & Flammarion (2024), arXiv:2410.02348, figure 1.
"""

import dataclasses
from typing import Literal

import jax
import xarray as xr
from jaxtyping import PRNGKeyArray

from simbias.core import AbstractNetwork, Claim, Dataset, Real
from simbias.datasets import gaussian_teacher
from simbias.experiments._times import log_times
from simbias.experiments.interpolation.threshold import claims_of_curves, figure
from simbias.experiments.interpolation.threshold import experiment as exact
from simbias.flows import Descent
from simbias.networks import standard, unbalanced
from simbias.presets import presets

__all__ = ["claims", "experiment", "figure", "make"]

Start = Literal["default", "gaussian"]
# Variance of every weight of the gaussian start, times √m.
VARIANCE = 1e-5


def make(
    key: PRNGKeyArray,
    *,
    n: int,
    start: Start = "default",
    d: int = 5,
    m: int = 1000,
    sigma: Real = 0.3,
    n_test: int = 2000,
) -> tuple[Dataset, AbstractNetwork]:
    """The sample of `threshold`, and a network that does not start small.

    Args:
        key: random key.
        n: samples to train on.
        start: law of the initial weights.
        d: entries of an input.
        m: width: neurons of a hidden layer.
        sigma: standard deviation of the noise of the targets.
        n_test: samples of the test set.
    """
    key_data, key_network = jax.random.split(key)
    data = gaussian_teacher(key_data, n=n, d=d, sigma=sigma, n_test=n_test)
    if start == "default":
        return data, standard(key_network, m=m, d=d)
    # √variance of a weight is λ/√m.
    return data, unbalanced(key_network, m=m, d=d, scale=VARIANCE**0.5 * m**0.25)


experiment = presets(
    dataclasses.replace(
        exact(),
        name="threshold_sgd",
        make=make,
        cell={"n": (10, 30, 100, 300), "start": ("default", "gaussian")},
        seeds=6,
        flow=Descent(rate=0.01, batch=32),
        times=log_times(1.0, 1000.0, 12),
        stop=None,
    ),
    smoke={
        "cell": {"n": (8, 60), "m": 50, "d": 3, "n_test": 200},
        "seeds": 3,
        "times": log_times(1.0, 30.0, 6),
    },
    paper={
        "cell": {"n": (50, 100, 200, 400, 800, 1600, 3200, 6400), "m": 10_000},
        "seeds": 20,
        "times": log_times(1.0, 80_000.0, 24),
    },
)


def claims(ds: xr.Dataset) -> list[Claim]:
    """n* and the two groups of the theorem, for each start."""
    return claims_of_curves(ds, is_small=True)
