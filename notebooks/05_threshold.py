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
# # The threshold, and a phase diagram
#
# With few samples a wide ReLU network of a small start interpolates; beyond some n* it
# stops at two regressions, one per side of the teacher. Where does this depend on the
# scale of the start? Here under gradient descent of rate 0.1, which compiles in seconds;
# without `flow=` it is the exact flow.

# %%
import os

import numpy as np

import simbias
from simbias.analysis.threshold import threshold
from simbias.experiments import threshold as paper
from simbias.figures.heat_map import heat_map
from simbias.figures.style import blank, style

SMALL = "SIMBIAS_QUICK" in os.environ  # the smallest form, for a test

experiment = paper.experiment(
    "smoke",
    n=(6, 100) if SMALL else (6, 12, 25, 50, 100),
    scale=1e-8 if SMALL else (1e-8, 1e-4, 1e-2),
    m=30 if SMALL else 60,
    n_test=100,
    seeds=2 if SMALL else 6,
    measures={k: paper.experiment("smoke").measures[k] for k in ("train_risk",)},
    final={},
    times=(0.0, 10.0, 100.0, 1000.0),
    flow=simbias.Descent(0.1),
)
ds = simbias.simulate(experiment)
share = paper.interpolates(ds).mean("seed")

# %%
with style():
    axes = (figure := blank(6, 3.4)).subplots()
    if "scale" in share.dims:
        share = share.assign_coords(scale=np.log10(share["scale"]))
        grid = share.assign_coords(n=np.arange(share.sizes["n"]))
        axes.set(xlabel="samples n", ylabel="log₁₀ of the initial scale")
        heat_map(
            axes, grid, "n", "scale", limits=(0, 1), label="share that interpolate"
        )
        axes.set_xticks(grid["n"], share["n"].values)
        axes.set_yticks(share["scale"].values)
    else:
        axes.plot(share["n"], share, "o-")
        axes.set(xlabel="samples n", ylabel="share that interpolate")
    axes.set_title("who interpolates at t = 1000")
figure

# %% [markdown]
# n* is where half of the members interpolate: the median of a logistic fit, with its
# interval, for every scale.

# %%
parts = [ds] if "scale" not in ds.dims else [ds.sel(scale=s) for s in ds["scale"]]
for part in parts:
    found = threshold(paper.interpolates(part))
    print(f"scale {float(part['scale']):g}: {found.describe()}")

# %% [markdown]
# What the neurons do beyond n*: they gather near the direction of the teacher and its
# opposite. The member is integrated again from its seed; diamonds are extremal vectors.

# %%
where = {k: v for k, v in {"n": 100, "scale": 1e-8}.items() if k in ds.dims}
simbias.animate(ds, experiment, frames=4 if SMALL else 16, **where)
