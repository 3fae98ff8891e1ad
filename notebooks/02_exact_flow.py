# ---
# jupyter:
#   jupytext:
#     formats: ipynb,py:percent
#     text_representation:
#       extension: .py
#       format_name: percent
#       format_version: '1.3'
#       jupytext_version: 1.19.6
#   kernelspec:
#     display_name: Python 3
#     language: python
#     name: python3
# ---

# %% [markdown]
# # The exact flow of a ReLU network
#
# The gradient of a ReLU network jumps where a neuron meets a data hyperplane,
# $w_j \cdot x_k = 0$. Coming from either side the neuron may be pushed through (it
# *crosses*), or both sides may push it back: then it *slides* along the hyperplane,
# which is how early alignment ends. This page shows what sliding is, why a tighter
# tolerance does not help an ordinary solver, and what the exact flow costs.

# %%
import dataclasses

import jax
import numpy as np
from matplotlib import pyplot as plt

import simbias
from simbias.experiments import threshold as paper
from simbias.experiments.alignment.three_points import make
from simbias.flows import Descent, GradientFlow, ReluFlow
from simbias.losses import half_mse
from simbias.measures import (
    NeuronWeights,
    PatternClasses,
    SlidingFraction,
    TrainRisk,
)

# %% [markdown]
# ## What sliding is
#
# Noisy linear data, a small network. We follow every neuron and look at its distance
# from the hyperplane of each sample, $w_j\cdot x_k / (\|w_j\| \|x_k\|)$: zero is on it.

# %%
experiment = paper.experiment("smoke", n=20, m=40, scale=1e-3)
with simbias.exact_numerics():
    data, network = experiment.make(
        jax.random.key(3), n=20, m=40, sigma=0.5, scale=1e-3
    )
times = tuple(float(t) for t in np.linspace(0, 40, 401))


def follow(flow):
    return simbias.solve(
        network, data, flow, half_mse, times, {"weights": NeuronWeights()}
    )


def distances(trajectory):
    w = trajectory.records["weights"][:, :, :-1]
    h = np.einsum("tjd,kd->tjk", w, np.asarray(data.x))
    norm = np.linalg.norm(w, axis=-1)[:, :, None] * np.linalg.norm(data.x, axis=1)
    return h / norm


exact = follow(ReluFlow(rtol=1e-6))
distance = distances(exact)
held = (np.abs(distance) < 1e-9).sum(axis=0)
neuron, sample = np.unravel_index(np.argmax(held), held.shape)
print(f"neuron {neuron} slides on the hyperplane of sample {sample}")
print(exact.stats)

# %%
figure, panels = plt.subplots(1, 2, figsize=(10, 3.5), constrained_layout=True)
flows = {
    "gradient descent, rate 0.3": follow(Descent(rate=0.3)),
    "gradient descent, rate 0.03": follow(Descent(rate=0.03)),
    "exact flow": exact,
}
for panel in panels:
    for name, trajectory in flows.items():
        d = distances(trajectory)[:, neuron, sample]
        panel.plot(times, d, lw=1, label=name)
    panel.axhline(0, color="black", lw=0.5)
    panel.set_xlabel("time")
panels[0].set_ylabel("distance from the hyperplane")
panels[0].legend()
panels[1].set_ylim(-0.02, 0.02)
panels[1].set_title("the same, near the hyperplane")
# %% [markdown]
# The exact flow holds the neuron on the hyperplane, to rounding, until the subgradient
# that keeps it there reaches the end of its interval. Gradient descent jumps from one
# side to the other, at a distance proportional to its rate. How many neurons slide at
# a time, and into how few classes the network falls, are measures:

# %%
ds = simbias.simulate(
    dataclasses.replace(
        experiment,
        flow=ReluFlow(rtol=1e-5),
        seeds=6,
        times=tuple(float(t) for t in np.linspace(0, 100, 51)),
        measures={"sliding": SlidingFraction(), "classes": PatternClasses()},
        stop=None,
    )
)
figure, panels = plt.subplots(1, 2, figsize=(10, 3), constrained_layout=True)
ds["sliding"].plot.line(x="time", ax=panels[0], add_legend=False, lw=0.8)
ds["classes"].plot.line(x="time", ax=panels[1], add_legend=False, lw=0.8)
panels[0].set_title("share of the neurons that slide, 6 seeds")
panels[1].set_title("classes of neurons that obey one linear system each")
# %% [markdown]
# ## Why a tighter tolerance does not help
#
# An adaptive solver that does not know of the kinks rejects every step across one,
# and a sliding neuron meets its kink all the time. Each digit of tolerance multiplies
# its cost by five to nine, where a smooth problem asks for a factor 1.6. We count
# evaluations of the field for both, on the three points that no width interpolates
# and on the noisy sample.

# %%
with simbias.exact_numerics():
    problems = {
        "three points": make(jax.random.key(0), m=20),
        "noisy linear": (data, network),
    }


def evaluations(flow, problem):
    sample_, network_ = problem
    measures = {"risk": TrainRisk()}
    out = simbias.solve(network_, sample_, flow, half_mse, (20.0,), measures)
    return out.stats["evaluations"]


print(f"{'':14s} {'rtol':>6s} {'Tsit5, kinks ignored':>22s} {'exact flow':>12s}")
for name, problem in problems.items():
    for rtol in (1e-3, 1e-4, 1e-5):
        naive = GradientFlow(rtol=rtol, allow_kinks=True)
        counts = (evaluations(f, problem) for f in (naive, ReluFlow(rtol=rtol)))
        print(f"{name:14s} {rtol:6.0e} {next(counts):22,d} {next(counts):12,d}")

# %% [markdown]
# A smooth network has no kinks, and `GradientFlow` refuses one that has, unless it is
# told that the failure is the point:

# %%
try:
    simbias.solve(network, data, GradientFlow(), half_mse, (1.0,), {})
except ValueError as error:
    print(error)

# %% [markdown]
# ## Error against cost
#
# `python benchmarks/work_precision.py` measures every method against brute-force
# references (Euler at steps of 1e-4, extrapolated) and draws the diagram that is kept in
# `benchmarks/results/`.
