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
# # Quickstart: where do wide networks stop interpolating?
#
# Two-layer ReLU networks, far wider than the sample is large, are trained from a small
# initialisation on a linear teacher with noise. We run 48 of them together,
# look at the figure, change one thing, and look again.

# %%
import dataclasses
import os

import simbias
from simbias.analysis.threshold import threshold
from simbias.experiments import threshold as experiment_file

seeds = 4 if "SIMBIAS_QUICK" in os.environ else 16  # few, for a test
experiment = experiment_file.experiment("smoke", n=(8, 20, 60), seeds=seeds, pad_to=64)
experiment

# %% [markdown]
# An experiment is plain data: what is drawn (`make` and its `cell`), how it moves
# (`flow`, `loss`, `times`), and what is written down (`measures`). A tuple in the cell
# is an axis of the grid. `simulate` trains every member and returns an xarray Dataset.

# %%
ds = simbias.simulate(experiment)
ds

# %%
experiment_file.figure(ds)

# %% [markdown]
# Each claim of the paper is a number with a band and a source.

# %%
for claim in simbias.check(experiment_file, ds):
    print(f"{claim.verdict:14s} {claim.statement}: {claim.estimate.value:.4g}")

# %% [markdown]
# ## Change one thing
#
# More noise. The rest of the cell stays as it was, so only σ differs.

# %%
noisier = dataclasses.replace(experiment, cell={**experiment.cell, "sigma": 0.6})
ds_noisier = simbias.simulate(noisier)
experiment_file.figure(ds_noisier)

# %%
for name, result in (("σ = 0.3", ds), ("σ = 0.6", ds_noisier)):
    print(name, "-", threshold(experiment_file.interpolates(result)).describe())

# %% [markdown]
# ## Look inside
#
# The result is labelled, so a question is one line. How many groups of parallel
# neurons carry the network at the end, and how does the alignment with the
# least-squares direction grow?

# %%
ds["effective_width"].median("seed").to_series()

# %%
ds["alignment"].median("seed").plot.line(x="time", xscale="log")
