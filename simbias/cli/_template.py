"""A network learns the slope of a wavy line first."""

import jax
import jax.numpy as jnp

import simbias
from simbias.analysis.at import at
from simbias.claims import Claims, difference_of, mean_of
from simbias.figures import Curves, Panels
from simbias.losses import half_mse
from simbias.measures import TrainRisk
from simbias.networks import balanced

AXES = ("wave",)  # used by figure and claims; any other axis gives one figure per value


def make(key, *, n: int = 40, m: int = 20, wave: float = 0.3, scale: float = 0.03):
    """A sample and a network.  All of n, m, … are options: --cell.wave 0 0.1 0.3."""
    key_x, key_network = jax.random.split(key)
    x = jax.random.uniform(key_x, (n, 1), jnp.float64, -1, 1)
    y = x + wave * jnp.sin(6 * x)
    network = balanced(key_network, m=m, d=1, scale=scale, activation="tanh")
    return simbias.Dataset(x, y), network


def bend(network, data):  # a measure: a number of one network on one sample
    """1 − r² of the function with a line."""
    x, f = data.x[:, 0], jax.vmap(network)(data.x)[:, 0]
    dot = lambda u, v: jnp.sum(data.weight * u * v)  # the weight of padding is 0
    return 1 - dot(x, f) ** 2 / (dot(x, x) * dot(f, f))


experiment = simbias.presets(
    simbias.Experiment(
        name="mine",
        make=make,
        cell={"wave": (0.0, 0.3)},  # several values: an axis
        seeds=10,
        shared=("wave",),  # all waves have the same x and initial weights
        flow=simbias.Descent(rate=0.1),
        loss=half_mse,
        times=tuple(50.0 * i for i in range(41)),
        measures={"loss": TrainRisk(), "bend": bend},
    ),
    smoke={"seeds": 2, "times": (0.0, 50.0, 100.0)},  # fields that differ
    paper={"seeds": 100, "cell": {"wave": (0.0, 0.1, 0.3)}},
)

figure = Panels(
    Curves("loss", colour="wave", ylabel="train loss", yscale="log"),
    Curves("bend", colour="wave", ylabel="nonlinearity 1 − r²"),
    xlabel="time",
)


def claims(ds):  # an xarray Dataset over wave, seed and time
    needs = {"t ≥ 2000": float(ds["time"].max()) >= 2000}
    wavy, straight = at(ds["bend"], "wave", 0.3), at(ds["bend"], "wave", 0.0)
    early, last = wavy.sel(time=50, method="nearest"), wavy.isel(time=-1)
    control = straight.isel(time=-1)
    return Claims(needs).rows(
        mean_of("wave 0.3: bend at t = 50", early, (0, 0.02), "a line first"),
        difference_of("wave 0.3: bend, last − t = 50", last, early, (0.02, 1), "later"),
        mean_of("wave 0: last bend", control, (0, 0.02), "control: a line always"),
    )
