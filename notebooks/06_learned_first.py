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
# # What is learned first
#
# Two answers to one question. In a deep linear network the modes of the target are
# learned in the order of their size, each in a step of its own. A classifier of images or
# points first knows what a line knows, and keeps it.

# %%
import os

import simbias
from simbias.experiments import deep_linear, simple_first

SMALL = "SIMBIAS_QUICK" in os.environ  # the smallest form, for a test
experiment = deep_linear.experiment("smoke", seeds=1 if SMALL else 3)
modes = simbias.simulate(experiment)
(figure,) = simbias.draw(deep_linear, modes).values()
figure

# %% [markdown]
# From a small start every mode waits for its turn, e^{st} for the strength s; the claims
# put numbers to it.

# %%
for claim in simbias.check(deep_linear, modes):
    print(f"{claim.verdict:14s} {claim.statement}: {claim.estimate.value:.4g}")

# %% [markdown]
# ## A line first
#
# A network of two hidden layers under SGD on a disc that is cut by a sine, with a tenth of
# the labels wrong. How many bits of the class does it know, and how many of these does the
# best line on the same sample know, too?

# %%
sizes = {"n": 100, "m": 8, "seeds": 2} if SMALL else {"n": 500, "seeds": 4}
first = simple_first.experiment("smoke", **sizes)
bits = simbias.simulate(first)
(figure,) = simbias.draw(simple_first, bits).values()
figure

# %% [markdown]
# The boundary of one member, which begins as a line and is bent from there.

# %%
simbias.animate(bits, first, kind="boundary", frames=4 if SMALL else 12)
