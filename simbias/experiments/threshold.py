"""The optimisation threshold: beyond some n, wide ReLU networks stop interpolating.

Two-layer networks from a small initialisation, trained on y = β*·x + σ η.  With few
samples they interpolate and generalise badly; with many they end at a stationary point
close to the least-squares line, with a train error just below σ² although m ≫ n.

Everything here is read at the final time.  In between, members leave saddles one after
another, late and slowly: n* grows with the final time, and so it is part of each claim.

The paper fixes neither the law of x nor β*, σ and λ; ours are x ~ N(0, I),
β* = (1, …, 1)/√d, σ = 0.3, and balanced neurons with λ = 1e-3.

Reference: Boursier & Flammarion (2024), arXiv:2410.02348, figure 1 and appendix A.
"""

from typing import Any

import jax
import numpy as np
import xarray as xr
from jaxtyping import PRNGKeyArray
from matplotlib.figure import Figure

from simbias.analysis.threshold import Threshold, threshold
from simbias.core import AbstractNetwork, Claim, Dataset, Experiment, Real
from simbias.datasets.gaussian_teacher import InputLaw, Teacher, gaussian_teacher
from simbias.experiments._curves import curves, value
from simbias.experiments._times import log_times
from simbias.figures.cosine_histograms import cosine_histograms
from simbias.figures.error_curves import error_curves
from simbias.figures.style import COLOURS, blank, style
from simbias.flows.relu_flow import ReluFlow
from simbias.losses import half_mse
from simbias.measures.activation_patterns import ActivationPatterns
from simbias.measures.alignment import Alignment
from simbias.measures.cosine_histogram import CosineHistogram
from simbias.measures.dead_neurons import DeadNeurons
from simbias.measures.distance_to_ols import DistanceToOls
from simbias.measures.effective_width import EffectiveWidth
from simbias.measures.excess_risk import ExcessRisk
from simbias.measures.test_risk import TestRisk
from simbias.measures.train_risk import TrainRisk
from simbias.networks.activations import ActivationName
from simbias.networks.two_layer_init import INITIAL_LAWS, InitialLaw
from simbias.results import is_finished
from simbias.stops.train_risk_below import TrainRiskBelow
from simbias.theory.two_group import ols_law, two_group_law

PAPER = "Boursier & Flammarion (2024), arXiv:2410.02348"
# A member interpolates if its train error is below this share of σ².
INTERPOLATED = 0.01
# Claims that compare with σ² are left open where σ² itself is known no better.
NOISE_KNOWN_TO = 0.02


def make(
    key: PRNGKeyArray,
    *,
    n: int,
    d: int = 5,
    m: int = 200,
    sigma: Real = 0.3,
    scale: Real = 1e-3,
    activation: ActivationName = "relu",
    initial: InitialLaw = "balanced",
    has_bias: bool = False,
    inputs: InputLaw = "gaussian",
    teacher: Teacher = "linear",
    sparsity: int = 1,
    n_test: int = 2000,
) -> tuple[Dataset, AbstractNetwork]:
    """A linear teacher with noise, and a two-layer network from a small start."""
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


_PRESETS: dict[str, dict[str, Any]] = {
    "smoke": {
        "cell": {"n": (8, 300), "m": 100, "n_test": 500},
        "seeds": 4,
        "times": log_times(1.0, 1000.0, 12),
    },
    "quick": {
        "cell": {"n": (10, 20, 35, 60, 110, 200, 400), "m": 200},
        "seeds": 20,
        "times": log_times(1.0, 1000.0, 30),
    },
    "paper": {
        "cell": {
            "d": (5, 10, 20),
            "n": (50, 100, 200, 400, 800, 1600, 3200, 6400),
            "m": 10_000,
            "n_test": 10_000,
        },
        "seeds": 1000,
        "times": log_times(1.0, 10_000.0, 40),
        "dtype": "float32",
    },
}


def experiment(preset: str = "quick", **cell: Any) -> Experiment:
    """The experiment; keyword arguments replace values of the cell."""
    chosen = dict(_PRESETS[preset])
    return Experiment(
        name="threshold",
        make=make,
        cell={"d": 5, "sigma": 0.3, "scale": 1e-3, **chosen.pop("cell"), **cell},
        flow=ReluFlow(rtol=1e-4),
        loss=half_mse,
        measures={
            "train_risk": TrainRisk(),
            "test_risk": TestRisk(),
            "excess_risk": ExcessRisk(),
            "distance_to_ols": DistanceToOls(),
            "alignment": Alignment(),
            "dead_neurons": DeadNeurons(),
        },
        final={
            "effective_width": EffectiveWidth(),
            "activation_patterns": ActivationPatterns(),
            "cosine_histogram": CosineHistogram(),
        },
        stop=TrainRiskBelow(1e-8),
        **chosen,
    )


def interpolates(ds: xr.Dataset) -> xr.DataArray:
    """1 where the final train error is below 1 % of σ², 0 where not, NaN if failed."""
    level = INTERPOLATED * ds["sigma"] ** 2 if "sigma" in ds.coords else None
    if level is None:
        level = INTERPOLATED * value(ds, "sigma") ** 2
    below = ds["train_risk"].isel(time=-1) < level
    return below.astype(float).where(is_finished(ds))


def figure(ds: xr.Dataset) -> Figure:
    """Train and test error against n with both laws; cosines with OLS per n."""
    with style():
        parts = list(curves(ds, "n"))
        sizes = parts[0][1]["n"].values
        whole = blank(max(9.0, 1.35 * len(sizes)), 6.2)
        top, bottom = list(whole.subfigures(2, 1, height_ratios=[1.7, 1]))  # pyright: ignore
        train, test = top.subplots(1, 2)
        for i, (label, part) in enumerate(parts):
            _errors(train, part, "train_risk", label, i, "train error (MSE)")
            _errors(test, part, "test_risk", label, i, "test error (MSE)")
            n_star = _n_star(part)
            if n_star is not None and n_star.is_bracketed:
                colour = COLOURS[i % len(COLOURS)]
                train.axvspan(n_star.low, n_star.high, color=colour, alpha=0.1, lw=0)
                train.axvline(n_star.estimate, color=colour, linewidth=0.8)
                train.set_title(f"train error (MSE), n* = {n_star.estimate:.3g}")
        test.legend()
        panels = bottom.subplots(1, len(sizes), sharey=True, squeeze=False)[0]
        cosine_histograms(list(panels), parts[0][1]["cosine_histogram"])
        if len(parts) > 1:
            bottom.suptitle(parts[0][0], fontsize="medium")
        top.suptitle(_caption(ds), fontsize="medium")
    return whole


def claims(ds: xr.Dataset) -> list[Claim]:
    """What the paper says of the two ends of the grid and of the passage."""
    out = []
    for label, part in curves(ds, "n"):
        suffix = f" ({label})" if label else ""
        out += [
            Claim(c.statement + suffix, c.observed, c.low, c.high, c.source)
            for c in _claims_of_curve(part)
        ]
    return out


def _claims_of_curve(ds: xr.Dataset) -> list[Claim]:
    n, variance = ds["n"].values, value(ds, "sigma") ** 2
    last = ds.isel(time=-1)
    share = interpolates(ds).mean("seed").values
    excess = last["excess_risk"].median("seed").values
    train, test = (
        float(last[name].median("seed")[-1]) / variance if variance > 0 else np.nan
        for name in ("train_risk", "test_risk")
    )
    # The members' own noise has a variance known to √(2/(n · seeds)) only: with few of
    # them the distance from σ² says nothing of the networks.
    if (2 / (n[-1] * ds.sizes["seed"])) ** 0.5 > NOISE_KNOWN_TO:
        train = test = np.nan
    n_star, drop = _n_star(ds), float(excess[0] / excess[-1])
    if len(n) < 2 or variance == 0:
        # One size has no two ends, and without noise nothing is to be interpolated.
        share, drop = np.full_like(share, np.nan), np.nan
    # The estimate lies inside the grid whenever there is one, so that is not the claim.
    is_bracketed, interval = np.nan, ""
    if n_star is not None:
        is_bracketed = float(n_star.is_bracketed)
        interval = f" = {n_star.estimate:.4g} [{n_star.low:.4g}, {n_star.high:.4g}]"
    when, figure_1 = f"at t = {float(ds['time'][-1]):g}", f"{PAPER}, figure 1"
    rows: list[tuple[str, float, float, float]] = [
        (f"interpolate at n = {n[0]}, share", float(share[0]), 0.9, 1.0),
        (f"interpolate at n = {n[-1]}, share", float(share[-1]), 0.0, 0.0),
        ("median excess risk, smallest n over largest", drop, 20.0, np.inf),
        (f"n*{interval} is bracketed by the grid (1 = yes)", is_bracketed, 1.0, 1.0),
        (f"train error over σ² at n = {n[-1]}, just below 1", train, 0.9, 1.0),
        (f"test error over σ² at n = {n[-1]}, just above 1", test, 1.0, 1.2),
    ]
    return [
        Claim(f"{statement}, {when}", observed, low, high, figure_1)
        for statement, observed, low, high in rows
    ]


def _n_star(ds: xr.Dataset) -> Threshold | None:
    """n*, if at least two sizes have members that finished."""
    seen = interpolates(ds).dropna("n", how="all")
    return threshold(seen) if seen.sizes["n"] > 1 else None


def _errors(
    axes: Any, part: xr.Dataset, name: str, label: str, i: int, title: str
) -> None:
    d, variance = value(part, "d"), value(part, "sigma") ** 2
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


def _caption(ds: xr.Dataset) -> str:
    seeds, missing = ds.sizes["seed"], int((~is_finished(ds)).sum())
    return (
        "two-layer networks on a noisy linear teacher, "
        f"t = {ds['time'].values[-1]:g}, {seeds} seeds per size, "
        f"{missing} of {ds['status'].size} members failed or missing"
    )
