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
# # Condensation: many neurons, few directions
#
# Neurons of a small start turn before they grow: each to one of the *extremal vectors* of
# the sample, the critical directions of G(w) = (1/n) Σ yᵢ (w·xᵢ)₊ on the sphere. So a
# network of any width has few directions when the loss begins to move. The film is of
# gradient descent; without `flow=` it is the exact flow.

# %%
import os

import numpy as np

import simbias
from simbias.experiments import condensation, xor_clusters
from simbias.figures.style import COLOURS, blank, style
from simbias.measures import EffectiveWidth, NeuronWeights, TrainLoss
from simbias.losses import logistic

SMALL = "SIMBIAS_QUICK" in os.environ  # the smallest form, for a test

experiment = xor_clusters.experiment(
    "smoke",
    angle=np.pi / 3,
    m=16 if SMALL else 128,
    n=16 if SMALL else 64,
    seeds=1,
    measures={
        "train_loss": TrainLoss(logistic),
        "effective_width": EffectiveWidth(share=0.01),
        "neuron_weights": NeuronWeights(),
    },
    final={},
    flow=simbias.Descent(0.1),
)
ds = simbias.simulate(experiment)
simbias.animate(ds, experiment, frames=6 if SMALL else 20)

# %% [markdown]
# Four directions, whatever the width; the boundary is that of four neurons. The same
# neurons as arrays, to draw what you like:

# %%
neurons = simbias.neuron_history(ds, experiment)
angle = np.arctan2(neurons["w"][..., 1], neurons["w"][..., 0])
with style():
    turns, sizes, widths = (figure := blank(11, 3.2)).subplots(1, 3)
    for sign, colour, name in ((1, COLOURS[0], "a > 0"), (-1, COLOURS[1], "a < 0")):
        of = np.sign(neurons["a"].values[0]) == sign
        turns.plot(ds["time"].values, angle.values[:, of] / np.pi, lw=0.6, color=colour)
        size = np.linalg.norm(neurons["w"].values[:, of], axis=-1)
        sizes.plot(ds["time"].values, size, lw=0.6, color=colour)
        sizes.lines[-1].set_label(name)
    widths.plot(ds["time"], ds["effective_width"].isel(seed=0), color=COLOURS[2])
    turns.set(title="angle / π", xscale="log", xlabel="time")
    sizes.set(title="‖w‖", xscale="log", yscale="log", xlabel="time")
    widths.set(title="directions with 1 % of the mass", xscale="log", xlabel="time")
    sizes.legend()
figure

# %% [markdown]
# How precisely? `condensation` starts networks at the scale σ = r^(1+κ), stops them when
# the fastest neurons have the scale r, and compares every neuron with its limit, which is
# known exactly. The errors fall as powers of r.

# %%
sizes = {"m": 10, "seeds": 1, "flow": simbias.Descent(0.1)} if SMALL else {}
precise = condensation.experiment("smoke", **sizes)
result = simbias.simulate(precise)
(figure,) = simbias.draw(condensation, result).values()
figure

# %%
for claim in simbias.check(condensation, result):
    print(f"{claim.verdict:14s} {claim.statement}: {claim.estimate.value:.4g}")
