"""The optimisation threshold: beyond some n, wide ReLU networks stop interpolating.

Two-layer networks from a small initialisation, trained on y = β*·x + σ η.  With few
samples they interpolate and generalise badly; with many their neurons end on two
directions, and the network is one least-squares regression on each side of β*·x = 0:
train error σ²(1 − 2d/n), test error σ²(1 + 2d/(n − 2d − 2)), although m ≫ n.

Everything is read at the final time.  From λ = 1e-8 little moves after t = 3000; from
λ = 1e-3, the control, neurons stay on many directions, and n* grows with the final
time.  The variant `sgd` tests the same claims, as the published figure is of SGD, on
mini-batches of 32 from two starts that are not small, `initial`: "standard", that of
torch.nn.Linear, and "gaussian", N(0, 10⁻⁵/√m).

The paper fixes neither the law of x nor β*, σ, λ, the start of SGD and its rate; ours
are x ~ N(0, I), β* = (1, …, 1)/√d, σ = 0.3, and balanced neurons with λ = 1e-8.

Reference: Boursier & Flammarion (2024), arXiv:2410.02348, theorem 2, figure 1 and
appendix A.
"""

import dataclasses

import jax
import numpy as np
import xarray as xr
from jaxtyping import PRNGKeyArray

from simbias.analysis.parts import parts
from simbias.core import AbstractNetwork, Claim, Dataset, Estimate, Experiment, Real
from simbias.datasets.teachers.gaussian_teacher import (
    InputLaw,
    Teacher,
    gaussian_teacher,
)
from simbias.experiment_presets import presets
from simbias.experiments._times import log_times
from simbias.experiments.interpolation._interpolates import interpolates as interpolates
from simbias.experiments.interpolation._threshold_figure import (
    n_star_of,
    threshold_figure,
)
from simbias.experiments.interpolation._two_group_claims import two_group_claims
from simbias.flows import Descent, ReluFlow
from simbias.losses import half_mse
from simbias.measures import (
    ActivationPatterns,
    Alignment,
    CosineHistogram,
    DeadNeurons,
    DistanceToOls,
    EffectiveWidth,
    ExcessRisk,
    TestRisk,
    TrainRisk,
    TwoGroupExcess,
    TwoGroupGap,
)
from simbias.networks.activations import ActivationName
from simbias.networks.two_layer_init import INITIAL_LAWS, InitialLaw
from simbias.stops import Stationary

PAPER = "Boursier & Flammarion (2024), arXiv:2410.02348"
# What the claims are about: the final time of the smallest preset at least.
LEAST_TIME = 1000.0


def make(
    key: PRNGKeyArray,
    *,
    n: int,
    d: int = 5,
    m: int = 200,
    sigma: Real = 0.3,
    scale: Real = 1e-8,
    activation: ActivationName = "relu",
    initial: InitialLaw = "balanced",
    has_bias: bool = False,
    inputs: InputLaw = "gaussian",
    teacher: Teacher = "linear",
    sparsity: int = 1,
    n_test: int = 2000,
) -> tuple[Dataset, AbstractNetwork]:
    """A linear teacher with noise, and a two-layer network from a small start.

    Args:
        key: random key.
        n: samples to train on.
        d: entries of an input.
        m: width: neurons of a hidden layer.
        sigma: standard deviation of the noise of the targets.
        scale: scale of the initial weights.
        activation: activation of the hidden neurons.
        initial: law of the initial weights.
        has_bias: whether hidden neurons have a bias.
        inputs: law of the inputs.
        teacher: law of the teacher.
        sparsity: entries of a sparse teacher that are not 0.
        n_test: samples of the test set.
    """
    key_data, key_network = jax.random.split(key)
    data = gaussian_teacher(
        key_data,
        n=n,
        d=d,
        sigma=sigma,
        inputs=inputs,
        teacher=teacher,
        sparsity=sparsity,
        n_test=n_test,
    )
    network = INITIAL_LAWS[initial](
        key_network, m=m, d=d, scale=scale, activation=activation, has_bias=has_bias
    )
    return data, network


experiment = presets(
    Experiment(
        name="threshold",
        make=make,
        cell={"n": (5, 10, 20, 35, 60, 110, 200, 400)},
        seeds=20,
        pad_to=400,
        flow=ReluFlow(rtol=1e-4),
        loss=half_mse,
        times=log_times(1.0, 3000.0, 30),
        measures={
            "train_risk": TrainRisk(),
            "test_risk": TestRisk(),
            "excess_risk": ExcessRisk(),
            "distance_to_ols": DistanceToOls(),
            "alignment": Alignment(),
            "dead_neurons": DeadNeurons(),
            "two_group_gap": TwoGroupGap(),
            "two_group_excess": TwoGroupExcess(),
        },
        final={
            "effective_width": EffectiveWidth(),
            "activation_patterns": ActivationPatterns(),
            "cosine_histogram": CosineHistogram(),
        },
        stop=Stationary(),
    ),
    smoke={
        "cell": {"n": (8, 60), "m": 100, "n_test": 500},
        "seeds": 4,
        "pad_to": 0,
        "times": log_times(1.0, 3000.0, 12),
    },
    paper={
        "cell": {
            "n": (10, 20, 35, 50, 100, 200, 400, 800, 1600, 3200, 6400),
            "m": 10_000,
        },
        "pad_to": 0,
        "times": log_times(1.0, 100_000.0, 24),
    },
    sgd={
        "cell": {
            "n": (10, 30, 100, 300),
            "m": 1000,
            "scale": 1.0,
            "initial": ("standard", "gaussian"),
        },
        "seeds": 6,
        "shared": ("initial",),
        "flow": Descent(rate=0.01, batch=32),
        "times": log_times(1.0, 1000.0, 12),
        "stop": None,
    },
    sgd_smoke={
        "cell": {"m": 50, "d": 3, "n_test": 200},
        "seeds": 3,
        "times": log_times(1.0, 30.0, 6),
    },
    sgd_paper={
        "cell": {"n": (50, 100, 200, 400, 800, 1600, 3200, 6400)},
        "seeds": 20,
        "times": log_times(1.0, 80_000.0, 24),
    },
)


figure = threshold_figure


def claims(ds: xr.Dataset) -> list[Claim]:
    """n*, and the two groups of the theorem with their control, of every curve."""
    out = []
    for label, part in parts(ds, ("n",)):
        suffix = f" ({label})" if label else ""
        out += [
            dataclasses.replace(c, statement=c.statement + suffix)
            for c in [_claim_of_n_star(part), *two_group_claims(part)]
        ]
    return out


def _claim_of_n_star(ds: xr.Dataset) -> Claim:
    """Between d, up to where a line interpolates, and d³, what the theorem asks for."""
    n_star, d = n_star_of(ds), int(ds["d"])
    nothing = Estimate(np.nan, -np.inf, np.inf, "no passage")
    text = f"n*, half interpolate, between d and d³, t = {float(ds['time'][-1]):g}"
    return (
        Claim(
            text,
            n_star.estimate if n_star else nothing,
            float(d),
            float(d**3),
            f"{PAPER}, figure 1 and theorem 2",
        )
        .given(n_star is not None, "two sizes with members that finished")
        .given(float(ds["sigma"]) > 0, "noise, σ > 0")
    )
