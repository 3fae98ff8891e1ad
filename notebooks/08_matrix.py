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
# # When is each bias observed?
#
# Eleven biases of simplicity, each with a task and a number of its own, against inputs,
# activation, shape, start and optimiser. Here a handful of cells; the whole of it is
# `simbias run bias_matrix`, and its page says how to read it.

# %%
import os

import simbias
from simbias.experiments import bias_matrix

SMALL = "SIMBIAS_QUICK" in os.environ  # the smallest form, for a test

biases = ("spectral", "randomised") if SMALL else ("spectral", "principal", "width")
optimisers = ("gd",) if SMALL else ("gd", "adam")
experiment = bias_matrix.experiment(
    "smoke",
    bias=biases,
    seeds=2 if SMALL else 6,
    **{"flow.optimiser": optimisers},
)
ds = simbias.simulate(experiment)
bias_matrix.figure(ds)

# %% [markdown]
# The table behind the picture: a scalar of 0 is no bias; the verdict follows from the
# interval of the mean and from a bar that was set before the matrix was run.

# %%
table = bias_matrix.table(ds)
table

# %%
columns = [k for k in ("value", "low", "high", "verdict") if k in table]
table[columns].to_dataframe()[columns]

# %% [markdown]
# What the whole matrix found is kept with the package, as the claims of its stored check
# (`docs/matrix/bias_matrix.md` has the table).
