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
# # Low frequencies first
#
# A deep ReLU network on a sum of sines of equal amplitude. The measure `Amplitudes` takes
# what the network has of each frequency, at every record.

# %%
import os

import simbias
from simbias.experiments import spectral_bias
from simbias.figures.heat_map import heat_map
from simbias.figures.style import blank, style

SMALL = "SIMBIAS_QUICK" in os.environ  # the smallest form, for a test

RATE, STEPS = 1e-3, 60 if SMALL else 1500
experiment = spectral_bias.experiment(
    "smoke",
    m=8 if SMALL else 64,
    depth=2 if SMALL else 3,
    seeds=1 if SMALL else 4,
    flow=simbias.Descent(rate=RATE, optimiser="adam"),
    times=tuple(RATE * step for step in range(0, STEPS + 1, STEPS // 30)),
)
ds = simbias.simulate(experiment)
simbias.animate(ds, experiment, sizes="equal", frames=6 if SMALL else 31)

# %% [markdown]
# All members, and the other target, whose amplitudes rise with the frequency: what is
# large is not what comes first.

# %%
with style():
    panels = (figure := blank(9, 3.4)).subplots(1, 2)
    for panel, kind in zip(panels, ds["sizes"].values, strict=True):
        mean = ds["amplitudes"].sel(sizes=kind).mean("seed")[:, 1:6]  # k = 1, …, 5
        mean = mean.assign_coords(frequency=range(1, 6))
        heat_map(panel, mean, "time", "frequency", label="amplitude")
        panel.set_title(f"amplitudes of the target: {kind}")
figure

# %%
for claim in simbias.check(spectral_bias, ds):
    if claim.verdict != "not applicable":
        print(f"{claim.verdict:14s} {claim.statement}: {claim.estimate.value:.4g}")

# %% [markdown]
# The function itself, of one member that is trained again from its seed.

# %%
times = {"frames": 4 if SMALL else 16}
simbias.animate(ds, experiment, kind="function", sizes="equal", **times)
