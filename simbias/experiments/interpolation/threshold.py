"""The optimisation threshold: beyond some n, wide ReLU networks stop interpolating.

Two-layer networks from a small initialisation, trained on y = β*·x + σ η.  With few
samples they interpolate and generalise badly; with many their neurons end on two
directions, and the network is one least-squares regression on each side of β*·x = 0:
train error σ²(1 − 2d/n), test error σ²(1 + 2d/(n − 2d − 2)), although m ≫ n.

Everything here is read at the final time.  From λ = 1e-8 little moves after t = 3000;
from λ = 1e-3, the control, members leave saddles late, one after another, neurons stay
on many directions, and n* grows with the final time.

The paper fixes neither the law of x nor β*, σ and λ; ours are x ~ N(0, I),
β* = (1, …, 1)/√d, σ = 0.3, and balanced neurons with λ = 1e-8.

The published figure is of SGD from a default start at m = 10,000, the theorem of λ → 0.
If SGD ends as the exact flow from λ = 1e-8 does, the figure is early alignment; if it
interpolates where that flow does not, it is something else.  The variant `sgd`
therefore tests the claims of the small start on mini-batches of 32 at a rate of 0.01
from two starts that are not small, `initial`:

    standard   wⱼ ~ U(±1/√d), aⱼ ~ U(±1/√m), that of torch.nn.Linear
    gaussian   every weight N(0, 10⁻⁵/√m)

The paper says neither the law of its start nor its rate; both are ours.

Reference: Boursier & Flammarion (2024), arXiv:2410.02348, theorem 2, figure 1 and
appendix A.
"""

import dataclasses
from typing import Any

import jax
import numpy as np
import xarray as xr
from jaxtyping import PRNGKeyArray
from matplotlib.figure import Figure
from matplotlib.ticker import LogLocator, NullLocator

from simbias.analysis.interval import ENOUGH_SEEDS
from simbias.analysis.parts import parts
from simbias.analysis.threshold import Threshold, threshold
from simbias.core import AbstractNetwork, Claim, Dataset, Estimate, Experiment, Real
from simbias.datasets.teachers.gaussian_teacher import (
    InputLaw,
    Teacher,
    gaussian_teacher,
)
from simbias.experiment_presets import presets
from simbias.experiments._times import log_times
from simbias.experiments.interpolation._interpolates import interpolates
from simbias.experiments.interpolation._two_group_claims import two_group_claims
from simbias.figures import LAW, law_level, law_line, legend_below
from simbias.figures.band import band
from simbias.figures.cosine_histograms import cosine_histograms
from simbias.figures.error_curves import error_curves
from simbias.figures.style import COLOURS, blank, style
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
from simbias.results import is_finished
from simbias.stops import Stationary
from simbias.theory.two_group import ols_law, two_group_law

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


def figure(ds: xr.Dataset) -> Figure:
    """Errors against n with both laws, by pairs too; cosines with OLS per n."""
    with style():
        each = list(parts(ds, ("n",)))
        sizes = each[0][1]["n"].values
        heights = [4.6, 1.7 if len(each) == 1 else 2.2]
        whole = blank(max(12.0, 1.35 * len(sizes)), sum(heights))
        top, row = list(whole.subfigures(2, 1, height_ratios=heights))  # pyright: ignore
        train, test, pairs = top.subplots(1, 3)
        for i, (label, part) in enumerate(each):
            n_star = _n_star(part)
            text = label or "median, 10–90 % of seeds"
            if n_star is not None and n_star.is_bracketed:
                colour = COLOURS[i % len(COLOURS)]
                train.axvline(n_star.value, color=colour, linewidth=0.8)
                text += f"; n* = {n_star.value:.3g} (line"
                if part.sizes["seed"] >= ENOUGH_SEEDS:
                    # An open end is that of the grid.
                    ends = np.clip([n_star.low, n_star.high], sizes.min(), sizes.max())
                    train.axvspan(*ends, color=colour, alpha=0.1, lw=0)
                    text += ", 95 % interval)"
                else:
                    text += f", few seeds: {part.sizes['seed']})"
            _errors(train, part, "train_risk", text, i, "train error (MSE)")
            _errors(test, part, "test_risk", text, i, "test error (MSE)")
            _pairs(pairs, part, i)
        test.set_yscale("log")
        test.yaxis.set_major_locator(LogLocator(subs=(1, 1.2, 1.5, 2, 3, 5, 7)))
        test.yaxis.set_major_formatter("{x:g}")
        test.yaxis.set_minor_locator(NullLocator())
        legend_below(top, train, columns=2)
        panels = row.subplots(1, len(sizes), sharey=True, squeeze=False)[0]
        cosine_histograms(list(panels), *(part["cosine_histogram"] for _, part in each))
        top.suptitle(_caption(ds), fontsize="medium")
    return whole


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
    n_star, d = _n_star(ds), int(ds["d"])
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


def _n_star(ds: xr.Dataset) -> Threshold | None:
    """n*, if at least two sizes have members that finished."""
    seen = interpolates(ds).dropna("n", how="all")
    return threshold(seen) if seen.sizes["n"] > 1 else None


def _errors(
    axes: Any, part: xr.Dataset, name: str, label: str, i: int, title: str
) -> None:
    d, variance = int(part["d"]), float(part["sigma"]) ** 2
    which = 0 if name == "train_risk" else 1
    n = part["n"].values.astype(float)
    laws = {
        "least squares per sign, 1 ∓ 2d/n": two_group_law(n, d, variance)[which],
        "least squares, 1 ∓ d/n": ols_law(n, d, variance)[which],
    }
    if i > 0:  # of several curves the first names the laws
        laws = {f"_{name}": law for name, law in laws.items()}
    error_curves(
        axes,
        part[name].isel(time=-1),
        noise_variance=variance,
        laws={k: xr.DataArray(v, {"n": n}, ("n",)) for k, v in laws.items()},
        title=title,
        label=label or "median, 10–90 % of seeds",
        colour=COLOURS[i % len(COLOURS)],
    )


def _pairs(axes: Any, part: xr.Dataset, i: int) -> None:
    """Train error minus that of two regressions on the same sample, over σ²."""
    d, variance = int(part["d"]), float(part["sigma"]) ** 2
    n, colour = part["n"].values, COLOURS[i % len(COLOURS)]
    gap = part["two_group_gap"].isel(time=-1) / variance
    band(axes, n, gap, "o-", colour=colour, ms=4)
    if i == 0:
        law_level(axes, 0, color=LAW, ls="--")
        law_line(axes, n[n > d], (d / n)[n > d], line="-.")
        axes.set_xscale("log")
        axes.set_xticks(n, [f"{v:g}" for v in n])
        axes.minorticks_off()
        axes.set_xlabel("samples n")
        axes.set_title("train error − two regressions, over σ²")


def _caption(ds: xr.Dataset) -> str:
    seeds, missing = ds.sizes["seed"], int((~is_finished(ds)).sum())
    return (
        "two-layer networks on a noisy linear teacher, "
        f"t = {ds['time'].values[-1]:g}, {seeds} seeds per size, "
        f"{missing} of {ds['status'].size} members failed or missing\n"
        "laws: means over samples. Trained below both is no better fit: the right "
        "panel tells luck of the samples (0) from noise that was learned (below 0)"
    )
