"""A network learns the slope of a wavy line first."""

import jax
import jax.numpy as jnp

import simbias
from simbias.claims import largest_of
from simbias.figures.band import band
from simbias.figures.style import COLOURS, blank
from simbias.losses import half_mse
from simbias.networks import balanced

AXES = ("wave",)  # used by figure and claims; any other axis gives one figure per value


def make(key, *, n: int = 40, m: int = 20, wave: float = 0.3, scale: float = 0.03):
    """A sample and a network.  All of n, m, … are options: --cell.wave 0 0.1 0.3."""
    key_x, key_network = jax.random.split(key)
    x = jax.random.uniform(key_x, (n, 1), jnp.float64, -1, 1)
    y = x + wave * jnp.sin(6 * x)
    data = simbias.Dataset(x, y, jnp.ones(n), mean=y, features=jnp.ones((1, 1)))
    return data, balanced(key_network, m=m, d=1, scale=scale, activation="tanh")


class Bend(simbias.AbstractMeasure):
    """1 − r² of the function with a line: a number of one network on one sample."""

    dims = ()  # a number has no axes

    def __call__(self, network, data):
        x, f = data.x[:, 0], jax.vmap(network)(data.x)[:, 0]
        dot = lambda u, v: jnp.sum(data.weight * u * v)  # the weight of padding is 0
        return 1 - dot(x, f) ** 2 / (dot(x, x) * dot(f, f))


def experiment():
    return simbias.Experiment(
        name="mine",
        make=make,
        cell={"wave": (0.0, 0.3)},  # several values: an axis
        seeds=10,
        flow=simbias.Descent(rate=0.1),
        loss=half_mse,
        times=tuple(50.0 * i for i in range(41)),
        measures={"bend": Bend()},
    )


def figure(ds):  # an xarray Dataset over wave, seed and time
    (axes := blank().subplots()).set(xlabel="time", ylabel="1 − r², median and 10–90 %")
    for w, colour in zip(ds["wave"].values, COLOURS, strict=False):
        band(axes, ds["time"], ds["bend"].sel(wave=w), colour=colour, label=f"wave {w}")
    axes.legend(loc="lower left", bbox_to_anchor=(0, 1), ncols=2)  # above the curves
    return axes.figure


def claims(ds):
    early = ds["bend"].sel(time=50.0, method="nearest")
    return [largest_of("bend, t near 50", early, (0, 0.05), "a line first")]
