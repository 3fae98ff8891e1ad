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
# # Your own dataset, network and measure
#
# Two half moons, a network of another library, and a number that nobody has measured
# before. First the picture: one member as it learns.

# %%
import os

import equinox as eqx
import jax
import jax.numpy as jnp
import optax

import simbias
from simbias.figures.band import band
from simbias.figures.style import COLOURS, blank, style
from simbias.losses import logistic

SMALL = "SIMBIAS_QUICK" in os.environ  # the smallest form, for a test


def moons(key, *, n: int = 60, noise: simbias.Real = 0.1):
    """Two half circles that interlock; the label says which."""
    key_turn, key_noise = jax.random.split(key)
    t = jnp.pi * jax.random.uniform(key_turn, (n,), jnp.float64)
    y = jnp.where(jnp.arange(n) % 2 == 0, 1.0, -1.0)[:, None]
    upper = jnp.stack([jnp.cos(t), jnp.sin(t) - 0.25], axis=1)
    lower = jnp.stack([1 - jnp.cos(t), 0.25 - jnp.sin(t)], axis=1)
    x = jnp.where(y > 0, upper, lower) - jnp.array([[0.5, 0.0]])
    x = x + noise * jax.random.normal(key_noise, (n, 2), jnp.float64)
    return simbias.Dataset(x, y, jnp.ones(n), mean=y, features=jnp.eye(2))


def make(key, *, n: int = 60, m: int = 64, noise: simbias.Real = 0.1):
    key_data, key_network = jax.random.split(key)
    network = eqx.nn.MLP(2, 1, m, depth=1, activation=jax.nn.relu, key=key_network)
    return moons(key_data, n=n, noise=noise), network


# %% [markdown]
# A measure is a function of a network and a sample: a number, or a small array. This one
# asks how much of the answer a line explains, 1 for a network that is one.


# %%
def linearity(network, data):
    """r² of f with the best affine function of x."""
    f = jax.vmap(network)(data.x)
    rows = jnp.concatenate([data.x, jnp.ones_like(data.x[:, :1])], axis=1)
    rows, f = (data.weight[:, None] * v for v in (rows, f))  # padding has weight 0
    rest = f - rows @ jnp.linalg.lstsq(rows, f)[0]
    mean = jnp.sum(f) / jnp.sum(data.weight)
    return 1 - jnp.sum(rest**2) / jnp.sum(data.weight[:, None] * (f - mean) ** 2)


def accuracy(network, data):
    right = jnp.sign(jax.vmap(network)(data.x)) == data.y
    return jnp.sum(right[:, 0] * data.weight) / jnp.sum(data.weight)


experiment = simbias.Experiment(
    name="moons",
    make=make,
    cell={"m": (8,) if SMALL else (8, 64)},
    seeds=2 if SMALL else 10,
    flow=simbias.Descent(0.01, optimiser=optax.adam),
    loss=logistic,
    times=[0.1 * i for i in range(41)],
    measures={"linearity": linearity, "accuracy": accuracy},
    keep=[0.1 * i for i in range(41)],
)
ds = simbias.simulate(experiment)
ds[["linearity", "accuracy", "status"]]

# %%
last = int(ds["m"][-1])
simbias.animate(ds, experiment, kind="boundary", m=last, frames=8 if SMALL else 16)

# %% [markdown]
# All members: a line first, then the bend. Bands are 10 to 90 % of the seeds.

# %%
with style():
    panels = (figure := blank(9, 3.2)).subplots(1, 2)
    for panel, name in zip(panels, ("linearity", "accuracy"), strict=False):
        for m, colour in zip(ds["m"].values, COLOURS, strict=False):
            values = ds[name].sel(m=m)
            band(panel, ds["time"], values, colour=colour, label=f"m = {m}")
        panel.set(xlabel="time (steps × rate)", title=name)
    panels[0].legend()
figure

# %% [markdown]
# ## From here
#
# * A file of yours in place of `moons`: `simbias.datasets.Npz("mine.npz")` and
#   `DrawnFrom(law, network)`; on the command line `--data mine.npz`.
# * Another optimiser: any of optax. The flow itself: `simbias.GradientFlow()` for smooth
#   networks, `simbias.ReluFlow()` for two-layer ReLU networks.
# * As a command with figure and claims: `simbias new mine`.
