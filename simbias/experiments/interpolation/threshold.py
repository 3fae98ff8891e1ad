"""The optimisation threshold: beyond some n, wide ReLU networks stop interpolating.

Two-layer networks from a small initialisation are trained on y = β*·x + σ η. With few
samples they interpolate and generalise badly.  With many samples their neurons end on
two directions, and the network is one least-squares regression on each side of β*·x =
0.  Then the train error is σ²(1 − 2d/n) and the test error σ²(1 + 2d/(n − 2d − 2)),
although m ≫ n.

A proven limit is *spurious* if a network fits its sample better by more than 0.01 σ²
(`_rest.spurious`).  Some network of n neurons fits n samples (`theory.least_loss`), so
that up to n = m = 200 a spurious limit is also one among networks of its own width.

Predictions of this, before the run (which had been run without it): at every n ≥ d³
more than half of the networks from a small start end at spurious limits; at n ≤ d, and
from λ = 3, less than half.  Unknown networks count as both.

The time to fit is ∞ for a proven limit above 0.01 σ².  Predictions, also after a run
but before the times were looked at: the median time diverges at a size between that of
two regressions and d³, and is at n = 2d more than twice that at n = d, as the Gram
matrices of two regressions are nearly singular there.

All values are those at the final time.  From λ = 1e-8 little changes after t = 3000.
From λ = 1e-3, the control, neurons keep many directions, and n* grows with the final
time.  The variant `large`, λ = 3, is the control of n*: there the same networks must
interpolate beyond d³. The variant `sgd` is a contrast, as the published figure shows
SGD.  It has mini-batches of 32 and two initialisations that theorem 2 excludes,
`initial`: "standard", that of torch.nn.Linear, and "gaussian", N(0, 10⁻⁵/√m).

The paper fixes neither the law of x nor β*, σ, λ, the initialisation of SGD and its
learning rate.  Ours are x ~ N(0, I), β* = (1, …, 1)/√d, σ = 0.3, and balanced neurons
with λ = 1e-8.

Reference: Boursier & Flammarion (2024), arXiv:2410.02348, theorem 2, figure 1 and
appendix A.
"""

import dataclasses

import jax
import numpy as np
import xarray as xr
from jaxtyping import PRNGKeyArray

from simbias.analysis.parts import parts
from simbias.claims import estimate_of, share_of
from simbias.core import AbstractNetwork, Claim, Dataset, Estimate, Experiment, Real
from simbias.datasets.teachers.gaussian_teacher import (
    InputLaw,
    Teacher,
    gaussian_teacher,
)
from simbias.experiment_presets import presets
from simbias.experiments._times import log_times
from simbias.experiments.interpolation._limit_claims import limit_claims
from simbias.experiments.interpolation._rest import interpolates as interpolates
from simbias.experiments.interpolation._threshold_figure import (
    n_star_of,
    threshold_figure,
)
from simbias.experiments.interpolation._two_group_claims import (
    DEFAULT_STARTS,
    two_group_claims,
)
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
    ParameterNorm,
    TestRisk,
    TrainRisk,
    TwoGroupExcess,
    TwoGroupGap,
)
from simbias.networks.activations import ActivationName
from simbias.networks.two_layer_init import INITIAL_LAWS, InitialLaw
from simbias.stops import Stationary
from simbias.theory.two_group import two_group_threshold

PAPER = "Boursier & Flammarion (2024), arXiv:2410.02348"
LEAST_TIME = 1000.0
# From such a λ on neurons hardly turn while the sample is fitted.
LAZY = 1.0


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
            "norm": ParameterNorm(),
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
    large={
        "cell": {"n": (60, 200), "scale": 3 * LAZY},
        "seeds": 12,
        "times": log_times(1.0, 10_000.0, 12),
    },
    large_smoke={"seeds": 3, "times": log_times(1.0, 100.0, 6)},
    large_paper={
        "cell": {"n": (200, 800, 3200), "m": 10_000},
        "times": log_times(1.0, 1000.0, 12),
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


def AXES(ds: xr.Dataset) -> tuple[str, ...]:
    """n, and every argument of `make` with several values: each has a curve."""
    others = [str(k) for k in ds["status"].dims if k not in ("n", "seed")]
    return ("n", *(k for k in others if not k.startswith("flow.")))


figure = threshold_figure


def claims(ds: xr.Dataset) -> list[Claim]:
    """n*, the two groups of the theorem with their control, and spurious limits."""
    out = []
    for label, part in parts(ds, ("n",)):
        suffix = f" ({label})" if label else ""
        out += [
            dataclasses.replace(c, statement=c.statement + suffix)
            for c in _claims_of_curve(part)
        ]
    return out


def _claims_of_curve(ds: xr.Dataset) -> list[Claim]:
    rows = [_claim_of_n_star(ds), *two_group_claims(ds)]
    if _is_default(ds) or "norm" not in ds:
        return rows
    return [*rows, *limit_claims(ds, experiment(), float(ds["scale"]) < LAZY)]


def _claim_of_n_star(ds: xr.Dataset) -> Claim:
    """n* lies between the size that two regressions interpolate and d³.

    A network of two groups is below this band.  A network without early alignment, as
    from a large initialisation, is above it.
    """
    n_star, d = n_star_of(ds), int(ds["d"])
    when, is_default = f"t = {float(ds['time'][-1]):g}", _is_default(ds)
    if float(ds["scale"]) >= LAZY and not is_default:
        return _control_of_n_star(ds, when)
    nothing = Estimate(np.nan, -np.inf, np.inf, "no passage")
    seen, least = n_star.estimate if n_star else nothing, two_group_threshold(d)
    text = f"n*, half interpolate, between {least:.3g} (two regressions) and d³, {when}"
    source = f"{PAPER}, figure 1" + ("" if is_default else " and theorem 2")
    return (
        estimate_of(text, seen, (least, d**3), source)
        .given(n_star is not None, "two sizes with members that finished")
        .given(float(ds["sigma"]) > 0, "noise, σ > 0")
    )


def _control_of_n_star(ds: xr.Dataset, when: str) -> Claim:
    """Beyond d³ a large initialisation still interpolates."""
    d = int(ds["d"])
    beyond = ds["n"].values[ds["n"].values >= d**3]
    shown = f"n = {beyond[0]}" if beyond.size else "n"
    text = f"control: share that interpolates at {shown} ≥ d³, {when}"
    some = interpolates(ds).sel(n=beyond[:1])
    claim = share_of(text, some, (0.5, 1), "ours: a large start")
    return claim.given(beyond.size > 0, f"a size n ≥ d³ = {d**3}")


def _is_default(ds: xr.Dataset) -> bool:
    return ds["initial"].item() in DEFAULT_STARTS
