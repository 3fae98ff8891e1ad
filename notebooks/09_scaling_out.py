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
# # Scaling out: store, resume, grow, workers
#
# A run in a folder (or under a URL of an object store) can be stopped, resumed, enlarged
# and shared by any number of processes; the bytes are the same however it was computed.

# %%
import os
import subprocess
import sys
import tempfile


import simbias
from simbias.experiments import min_norm
from simbias.figures import Curves, Panels

SMALL = "SIMBIAS_QUICK" in os.environ  # the smallest form, for a test

folder = tempfile.mkdtemp()
run = f"{folder}/min_norm"
few = min_norm.experiment("smoke", seeds=2)
ds = simbias.simulate(few, store=f"{run}/run.zarr")

# %% [markdown]
# More seeds: what is there is not computed again.

# %%
seeds = 3 if SMALL else 12
ds = simbias.simulate(
    min_norm.experiment("smoke", seeds=seeds), store=f"{run}/run.zarr"
)
error = (ds["row_error"] ** 2).sum("mode", skipna=False) ** 0.5
Panels(
    Curves(
        "error",
        colour="flow.method",
        spread="each",
        pooled=("start",),
        title="distance from the solution of least norm, in the rows of the sample",
        yscale="log",
    ),
    xscale="log",
    size=(6, 3.2),
)(ds.assign(error=error).sel({"flow.method": ["gd", "adam"]}))

# %% [markdown]
# ## Workers
#
# On the command line `--workers 0` makes the folder ready, `simbias worker` helps from
# any machine that sees it, and `simbias resume` goes on and draws. Nobody waits for
# anybody; a worker that dies costs half a minute of its members.


# %%
def simbias_(*words):
    command = [sys.executable, "-m", "simbias", *words]
    done = subprocess.run(command, capture_output=True, text=True, cwd=folder)
    print("$ simbias", *words, "\n" + (done.stdout + done.stderr).strip()[-600:], "\n")


simbias_("run", "min_norm", "--preset", "smoke", "--workers", "0", "--out", "shared")
simbias_("worker", "shared", "--quiet")
simbias_("resume", "shared")

# %% [markdown]
# What lies in the folder opens anywhere, also while the run goes on, and says how it is
# cited:

# %%
shared = simbias.open_result(f"{folder}/shared")
print(shared.attrs["citation"])
shared["status"].to_series().value_counts()

# %% [markdown]
# A cluster: `simbias submit DIR` (Slurm), or any scheduler that starts `simbias worker`;
# an object store: `--out s3://bucket/run` (`docs/cluster.md`).
