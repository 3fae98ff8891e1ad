"""Infinitely many samples: how far a network is from the population flow.

A ReLU network is trained on n samples of a linear teacher with noise, y = β*·x + σ η.
The same network from the same start is trained on n = ∞: over Gaussian inputs the loss
and its gradient have a closed form.  So has the distance E (fₙ(x) − f_∞(x))² at every
time.

Where a central limit theorem holds, the distance is C(t)/n.  At t = ∞ the constant is
known for networks that end as two least-squares regressions: f_∞ is the teacher, and
the distance is the excess risk 2dσ²/(n − 2d − 2).  A network that interpolates its
noisy sample must be farther away: below the optimisation threshold n* the distance is
above the law.

Reference: derived here; the population loss of two-layer networks is due to Saad &
Solla (1995), for ReLU to Cho & Saul (2009).  Theorem 2 of Boursier & Flammarion (2024),
arXiv:2410.02348, gives the two regressions.
"""

import functools
from collections.abc import Callable

import equinox as eqx
import jax
import jax.numpy as jnp
import numpy as np
import xarray as xr
from jaxtyping import Array, Float, PRNGKeyArray

from simbias.analysis.at import at
from simbias.analysis.slope_along import slope_in_log
from simbias.claims import Claims, largest_of, mean_of, median_of
from simbias.core import AbstractNetwork, Claim, Dataset, Experiment, Real
from simbias.datasets import gaussian_teacher
from simbias.experiment_presets import presets
from simbias.figures import AxisEnd, Curves, Law, Panels
from simbias.flows import ReluFlow
from simbias.losses import half_mse
from simbias.measures import NeuronWeights, TrainRisk
from simbias.networks import balanced
from simbias.numerics.exact_numerics import exact_numerics
from simbias.stops import Stationary
from simbias.theory.population import (
    Neurons,
    population_distance,
    population_flow,
)
from simbias.theory.two_group import two_group_law

AXES = ("n",)
# By then the population flow has learned the teacher.
EARLY, PLATEAU, END = (12.0, 15.0, 20.0), 40.0, 400.0
LAW = "two regressions, theory.two_group_law; tolerance ours"
CLT = "central limit theorem; tolerance ours"


def make(
    key: PRNGKeyArray,
    *,
    n: int,
    d: int = 5,
    m: int = 20,
    sigma: Real = 0.3,
    scale: Real = 1e-3,
) -> tuple[Dataset, AbstractNetwork]:
    """A linear teacher with noise, and a network that is the same for all n.

    Args:
        key: random key.
        n: samples to train on.
        d: entries of an input.
        m: width: neurons of the hidden layer.
        sigma: standard deviation of the noise of the targets.
        scale: scale of the initial weights.
    """
    key_data, key_network = jax.random.split(key)
    data = gaussian_teacher(key_data, n=n, d=d, sigma=sigma, n_test=1)
    return data, balanced(key_network, m=m, d=d, scale=scale)


TIMES = (0.0, 1.0, 2.0, 4.0, 6.0, 8.0, 10.0, 12.0, 15.0, 20.0, 30.0, PLATEAU)
experiment = presets(
    Experiment(
        name="population",
        make=make,
        cell={"n": (10, 20, 40, 80, 160, 320)},
        seeds=30,
        shared=("n",),
        flow=ReluFlow(rtol=1e-4),
        loss=half_mse,
        times=(*TIMES, 60.0, 100.0, 200.0, END),
        measures={"weights": NeuronWeights(), "train_risk": TrainRisk()},
        stop=Stationary(),
        pad_to=320,
    ),
    smoke={
        "cell": {"n": (10, 40), "m": 8, "d": 2},
        "seeds": 3,
        "times": TIMES,
        "pad_to": 0,
    },
    paper={
        "cell": {"n": (10, 20, 40, 80, 160, 320, 640, 1280), "m": 100, "scale": 1e-6},
        "seeds": 100,
        "times": (*TIMES, 60.0, 100.0, 200.0, END, 1000.0, 3000.0),
        "pad_to": 0,
    },
)


def numbers(ds: xr.Dataset) -> xr.Dataset:
    """Distances to the population flow from the same start, and to the teacher.

    E (fₙ − f_∞)², E (fₙ − f*)² and E (f_∞ − f*)² over x ~ N(0, I), each at its time.
    """
    w = ds["weights"].transpose("n", "seed", "time", "neuron", "weight").values
    with exact_numerics():
        times, d = jnp.asarray(ds["time"].values), w.shape[-1] - 1
        teacher = (jnp.full((1, d), d**-0.5), jnp.ones((1, 1)), 1.0)
        found = [_of_a_seed(jnp.asarray(w[:, i]), times, teacher) for i in ds["seed"]]
    each = ("seed", "n", "time")
    values = {"distance": each, "excess": each, "left": ("seed", "time")}
    columns = (np.stack(one) for one in zip(*found, strict=True))
    found = dict(zip(values, columns, strict=True))
    coords = {k: ds[k] for k in ds.coords if k != "status"}
    return xr.Dataset({k: (dims, found[k]) for k, dims in values.items()}, coords)


@eqx.filter_jit
def _of_a_seed(
    w: Float[Array, "n t m e"], times: Float[Array, " t"], teacher: Neurons
) -> tuple[Float[Array, "n t"], Float[Array, "n t"], Float[Array, " t"]]:
    incoming, outgoing = w[..., :-1], w[..., -1:]
    start = (incoming[0, 0], outgoing[0, 0], 0.0)
    limit = population_flow(start, teacher, times)
    relu = lambda w, a: (w, a, 0.0)
    apart = lambda w, a, v, b: population_distance(relu(w, a), relu(v, b))
    along = jax.vmap(jax.vmap(apart), (0, 0, None, None))
    left = jax.vmap(lambda w, a: population_distance(relu(w, a), teacher))
    apart = along(incoming, outgoing, *limit)
    return apart, jax.vmap(left)(incoming, outgoing), left(*limit)


def law(ds: xr.Dataset) -> xr.DataArray:
    """The excess risk of two regressions, 2dσ²/(n − 2d − 2), along n."""
    d, variance = int(ds["d"]), float(ds["sigma"]) ** 2
    risk = two_group_law(ds["n"].values.astype(float), d, variance)[1] - variance
    return xr.DataArray(risk, {"n": ds["n"]}, ("n",))


def late(ds: xr.Dataset) -> xr.Dataset:
    """The plateau and the last time."""
    last = float(ds["time"][-1])
    return ds.sel(time=sorted({min(PLATEAU, last), last}))


def early(ds: xr.Dataset) -> xr.Dataset:
    """Times before the plateau at which the limit has not learned everything."""
    return ds.sel(time=[t for t in EARLY if t in ds["time"]])


figure = Panels(
    Curves(
        "distance",
        colour="n",
        is_graded=True,
        spread="none",
        xscale="log",
        yscale="log",
        xlim=(4, None),
        ylim=(1e-5, None),
        xlabel="time t",
        ylabel="distance to n = ∞",
        of=lambda ds: ds.isel(time=slice(1, None)),
    ),
    Curves(
        "distance",
        x="n",
        colour="time",
        first_colour=1,
        xscale="log",
        yscale="log",
        xlabel="samples n",
        ylabel="distance to n = ∞",
        of=late,
        laws=(Law(law, "two regressions, 2dσ²/(n − 2d − 2)"),),
    ),
    Curves(
        "excess",
        x="n",
        colour="time",
        first_colour=3,
        mark="o",
        xscale="log",
        xlabel="samples n",
        ylabel="distance to the teacher",
        of=early,
        beyond=(AxisEnd("left", "∞"),),
    ),
    names={"time": "t", "n": "n"},
    of=numbers,
)


def claims(ds: xr.Dataset) -> list[Claim]:
    """The law of the distance in n, and its control."""
    seen, last = numbers(ds), float(ds["time"][-1])
    d, ratio = int(ds["d"]), seen["distance"] / law(ds)
    is_large = ds["n"] >= 8 * d
    few = functools.partial(at, dim="n", value=4 * d)
    rows = []
    for time in (PLATEAU, END):
        now, when = functools.partial(at, dim="time", value=time), f"t = {time:g}"
        exponent = functools.partial(_exponent, when=now, is_large=is_large)
        rows += [
            mean_of(
                f"exponent of the distance over the law in n ≥ 8d, {when}",
                exponent(ratio),
                (-0.2, 0.2),
                LAW,
            ),
            mean_of(
                f"exponent of the distance in n ≥ 8d, without − 2d − 2, {when}",
                exponent(seen["distance"]),
                (-1.2, -0.8),
                CLT,
            ),
            mean_of(
                f"distance over the law at the largest n, {when}",
                at(now(ratio), "n", max),
                (0.7, 1.3),
                LAW,
            ),
            median_of(
                f"control: the same at n = 4d, where networks interpolate, {when}",
                few(now(ratio)),
                (2, np.inf),
                "derived: they fit the noise",
            ),
        ]
    text = f"squared distance of n = ∞ to the teacher at t = {PLATEAU:g}, largest"
    rows.append(
        largest_of(text, at(seen["left"], "time", PLATEAU), (0, 1e-3), "derived")
    )
    return Claims(
        needs={
            "three sizes n ≥ 8d": int(is_large.sum()) > 2,
            f"t ≥ {END:g}": last >= END,
        }
    ).rows(*rows)


def _exponent(
    values: xr.DataArray, when: Callable[..., xr.DataArray], is_large: xr.DataArray
) -> xr.DataArray:
    return slope_in_log(xr.ufuncs.log(when(values).sel(n=is_large)), "n")
