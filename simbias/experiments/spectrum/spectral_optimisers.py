"""Spectral bias by optimiser: ten layers, five waves, SGD, Adam and AdamW.

With every optimiser the low frequencies come first.

Reference: Rahaman et al. (2019), On the spectral bias of neural networks,
arXiv:1806.08734; depth and width as in a set of notes on simplicity bias.
"""

import jax
import jax.numpy as jnp
import numpy as np
import xarray as xr
from jaxtyping import Array, Float, PRNGKeyArray

from simbias.analysis.rank_correlation import rank_correlation
from simbias.claims import Claims, mean_of, smallest_of
from simbias.core import AbstractNetwork, Claim, Dataset, Experiment
from simbias.experiment_presets import presets
from simbias.experiments._times import by_step, step_times
from simbias.experiments.spectrum._waves import (
    GRID_AMPLITUDES,
    RAHAMAN,
    check_waves,
    of_waves,
    places,
    waves,
)
from simbias.figures import Curves, HeatMap, Law, Panels, Spectrum
from simbias.flows import Descent
from simbias.losses import mse
from simbias.measures import OutputsAndTargets, TrainRisk
from simbias.networks import torch_default

AXES = ("flow.optimiser",)
RATE = 3e-4
# Rate of plain descent.  Steps of Adam do not depend on a factor of the loss, those of
# plain descent are proportional to it: one rate serves both.
DESCENT = 0.1
NAMES = {"gd": "SGD", "adam": "Adam", "adamw": "AdamW"}


def magnified_mse(
    prediction: Float[Array, "n k"], target: Float[Array, "n k"], weight: Array
) -> Float[Array, ""]:
    """DESCENT/RATE times the mean squared error."""
    return DESCENT / RATE * mse(prediction, target, weight)


def make(
    key: PRNGKeyArray, *, m: int = 64, depth: int = 10, count: int = 5, n: int = 64
) -> tuple[Dataset, AbstractNetwork]:
    """The sample y = Σ sin(2πkx + φ_k), k = 1, 2, …, at x = i/n, and a net.

    Args:
        key: random key, of the phases and of the network.
        m: width.
        depth: hidden layers.
        count: number of frequencies, three at least.
        n: points, more than twice the highest frequency.
    """
    check_waves("equal", count, 1, n)
    key_phase, key_network = jax.random.split(key)
    x = jnp.asarray(np.arange(n)[:, None] / n)
    data = waves(key_phase, x, sizes="equal", count=count, spacing=1)
    return data, torch_default(key_network, d=1, m=m, depth=depth)


experiment = presets(
    Experiment(
        name="spectral_optimisers",
        make=make,
        cell={"flow.optimiser": ("gd", "adam", "adamw")},
        seeds=8,
        flow=Descent(rate=RATE, optimiser="adam", is_shared=True),
        loss=magnified_mse,
        times=step_times(RATE, 6000, 50),
        measures={"amplitudes": GRID_AMPLITUDES, "risk": TrainRisk()},
        final={"curves": OutputsAndTargets()},
        dtype="float32",
    ),
    smoke={
        "cell": {"m": 16, "depth": 2, "flow.optimiser": ("adam", "adamw")},
        "seeds": 6,
        "times": step_times(RATE, 1200, 60),
    },
    paper={"cell": {"m": 256}, "seeds": 20, "times": step_times(RATE, 20_000, 100)},
)


def first_net(ds: xr.Dataset) -> xr.DataArray:
    """The network of seed 0 at the end, over x."""
    return _over_x(ds).sel(curve=["network"])


def target(ds: xr.Dataset) -> xr.DataArray:
    """The target, over x."""
    return _over_x(ds).sel(curve="target", drop=True)


def _over_x(ds: xr.Dataset) -> xr.DataArray:
    curves = ds["curves"].isel(seed=0, drop=True)
    return curves.assign_coords(point=np.arange(curves.sizes["point"]) / len(curves.T))


def low_amplitudes(ds: xr.Dataset) -> xr.DataArray:
    """Amplitudes of seed 0 at k = 1, …, up to twice the target's highest and beyond."""
    most = min(2 * int(ds["count"]) + 2, ds.sizes["frequency"] - 1)
    seen = ds["amplitudes"].isel(seed=0, frequency=slice(1, most + 1))
    return seen.assign_coords(frequency=np.arange(1, most + 1))


def low_amplitudes_of_target(ds: xr.Dataset) -> xr.DataArray:
    """1 for the frequencies of the target, 0 for others."""
    k = low_amplitudes(ds)["frequency"]
    return (k <= int(ds["count"])).astype(float)


figure = Panels(
    Curves(
        first_net,
        colour="curve",
        x=lambda ds: first_net(ds)["point"],
        xlabel="x",
        title="target and net of seed 0",
        laws=(Law(target, "target", "-"),),
    ),
    Spectrum(
        low_amplitudes,
        x=lambda ds: low_amplitudes(ds)["frequency"],
        xlabel="frequency k",
        ylabel="2|f̂(k)|/N",
        title="their spectra",
        ticks=True,
        at=(0.05, 0.25, 1),
        unit="step",
        first_colour=1,
        laws=(Law(low_amplitudes_of_target, "target"),),
    ),
    HeatMap(
        lambda ds: of_waves(ds["amplitudes"], ds).median("seed"),
        x=lambda ds: of_waves(ds["amplitudes"], ds)["frequency"],
        xlabel="frequency k",
        ylabel="step",
        title="all nets",
        ticks=True,
        limits=(0, 1),
        label="2|f̂(k)|/N",
    ),
    Curves("risk", spread="each", title="all nets", ylabel="mean square", yscale="log"),
    rows="flow.optimiser",
    of=lambda ds: by_step(ds, RATE),
    xlabel="step",
    names={"flow.optimiser": NAMES, "curve": {"network": "net at the end"}},
    size=(3.8, 3.2),
)


def claims(ds: xr.Dataset) -> list[Claim]:
    """The order, for every optimiser, and whether it learns at all."""
    out, amplitudes = [], of_waves(by_step(ds, RATE)["amplitudes"], ds)
    order = "rank correlation of k and the time to half of its amplitude"
    least = "largest amplitude of k = 1, least of all nets"
    for kind in ds["flow.optimiser"].values:
        seen = amplitudes.sel({"flow.optimiser": kind})
        rho = rank_correlation(places(seen), "frequency")
        first = seen.isel(frequency=0).max("time", skipna=False)
        out += Claims(where=NAMES[str(kind)]).rows(
            mean_of(order, rho, (0.9, 1), f"{RAHAMAN}; band ours"),
            smallest_of(least, first, (0.5, np.inf), "ours: it learns something"),
        )
    return out
