"""Ten layers that learn five waves: one net in four panels, by SGD, Adam and AdamW.

Whatever moves the weights, the long waves come first.

Reference: Rahaman et al. (2019), On the spectral bias of neural networks,
arXiv:1806.08734; depth and width as in a set of notes on simplicity bias.
"""

from typing import Any, ClassVar

import jax
import jax.numpy as jnp
import numpy as np
import xarray as xr
from jaxtyping import Array, Float, PRNGKeyArray
from matplotlib.axes import Axes
from matplotlib.figure import Figure

from simbias.analysis.rank_correlation import rank_correlation
from simbias.claims import mean_of, smallest_of
from simbias.core import AbstractMeasure, AbstractNetwork, Claim, Dataset, Experiment
from simbias.experiments._times import step_times
from simbias.experiments.spectrum._waves import (
    GRID_AMPLITUDES,
    RAHAMAN,
    check_waves,
    of_waves,
    places,
    waves,
)
from simbias.figures.curves import curves
from simbias.figures.heat_map import heat_map
from simbias.figures.laws import law_line
from simbias.figures.legends import legend_beside
from simbias.figures.style import COLOURS, blank, style
from simbias.flows.descent import Descent
from simbias.introspection.outputs import outputs
from simbias.losses import mse
from simbias.measures.risk.train_risk import TrainRisk
from simbias.networks.dense.mlp_init import torch_default
from simbias.presets import presets

AXES = ("flow.optimiser",)
RATE = 3e-4
# Rate of plain descent.  Steps of Adam do not depend on a factor of the loss, those of
# plain descent are proportional to it: one rate serves both.
DESCENT = 0.1
_NAMES = {"gd": "SGD", "adam": "Adam", "adamw": "AdamW"}


def magnified_mse(
    prediction: Float[Array, "n k"], target: Float[Array, "n k"], weight: Array
) -> Float[Array, ""]:
    """DESCENT/RATE times the mean squared error."""
    return DESCENT / RATE * mse(prediction, target, weight)


class Curves(AbstractMeasure):
    """The network and the target on the sample, in its order."""

    dims: ClassVar[tuple[str, ...]] = ("curve", "point")

    def coords(self) -> dict[str, np.ndarray]:
        """Which is which."""
        return {"curve": np.array(["network", "target"])}

    def __call__(self, network: Any, data: Dataset) -> Float[Array, "curve point"]:
        """Values of f and y, of one output."""
        return jnp.concatenate([outputs(network, data.x), data.y], axis=1).T


def make(
    key: PRNGKeyArray,
    *,
    m: int = 64,
    depth: int = 10,
    count: int = 5,
    n: int = 64,
) -> tuple[Dataset, AbstractNetwork]:
    """The sample y = Σ sin(2πkx + φ_k), k = 1, 2, …, at x = i/n, and a net.

    Args:
        key: random key, of the phases and of the network.
        m: width.
        depth: hidden layers.
        count: number of frequencies, three at least.
        n: points, more than twice the highest frequency.

    Raises:
        ValueError: for a number out of range.
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
        measures={
            "amplitudes": GRID_AMPLITUDES,
            "risk": TrainRisk(),
        },
        final={"curves": Curves()},
        dtype="float32",
    ),
    smoke={
        "cell": {"m": 16, "depth": 2, "flow.optimiser": ("adam", "adamw")},
        "seeds": 6,
        "times": step_times(RATE, 1200, 60),
    },
    paper={"cell": {"m": 256}, "seeds": 20, "times": step_times(RATE, 20_000, 100)},
)


def _by_step(ds: xr.Dataset) -> xr.Dataset:
    """Over numbers of steps in the place of time."""
    return ds.assign_coords(time=np.round(ds["time"].values / RATE))


def figure(ds: xr.Dataset) -> Figure:
    """For every optimiser target and net, their spectra, shares by step, the loss."""
    ds = _by_step(ds)
    kinds = ds["flow.optimiser"].values
    with style():
        whole = blank(15.0, 3.2 * len(kinds))
        rows = whole.subplots(len(kinds), 4, squeeze=False)
        for panels, kind in zip(rows, kinds, strict=True):
            part = ds.sel({"flow.optimiser": kind})
            _one_net(panels[0], panels[1], part.isel(seed=0))
            seen = of_waves(part["amplitudes"], ds).median("seed")
            panels[2].set(xlabel="frequency k", ylabel="step")
            panels[2].set_xticks(seen["frequency"].values)
            label = "median of 2|f̂(k)|/N"
            x, y = "frequency", "time"
            heat_map(panels[2], seen, x, y, limits=(0, 1), label=label)
            curves(panels[3], part["risk"], colour=COLOURS[0], scale="linear")
            panels[3].set(yscale="log", xlabel="step", ylabel="mean square")
            panels[0].set_title(f"{_NAMES[str(kind)]}: target and net of seed 0")
            panels[1].set_title("their spectra")
            panels[2].set_title("all nets")
            panels[3].set_title("all nets")
    return whole


def _one_net(first: Axes, second: Axes, one: xr.Dataset) -> None:
    x = np.arange(one.sizes["point"]) / one.sizes["point"]
    law_line(first, x, one["curves"].sel(curve="target"), "target", line="-")
    first.plot(x, one["curves"].sel(curve="network"), "o", ms=3, label="at the end")
    first.set(xlabel="x")
    first.legend()
    count = int(one["count"])
    k = np.arange(1, min(2 * count + 2, one.sizes["frequency"] - 1) + 1)
    law_line(second, k, (k <= count).astype(float), "target")
    last = one.sizes["time"] - 1
    for colour, part in zip(COLOURS[1:], (0.05, 0.25, 1), strict=False):
        i = round(part * last)
        label = f"step {one['time'].values[i]:g}"
        seen = one["amplitudes"].isel(time=i, frequency=k)
        second.plot(k, seen, "o-", ms=3, color=colour, label=label)
    second.set(xlabel="frequency k", ylabel="2|f̂(k)|/N")
    second.set_xticks(k[1::2])
    legend_beside(second)


def claims(ds: xr.Dataset) -> list[Claim]:
    """The order, for every optimiser, and whether it learns at all."""
    out, ds = [], _by_step(ds)
    for kind in ds["flow.optimiser"].values:
        part, name = ds.sel({"flow.optimiser": kind}), _NAMES[str(kind)]
        seen = of_waves(part["amplitudes"], ds)
        rho = rank_correlation(places(seen), "frequency")
        text = f"{name}: rank correlation of k and the time to half of its amplitude"
        out.append(mean_of(text, rho, (0.9, 1), f"{RAHAMAN}; band ours"))
        first = seen.isel(frequency=0).max("time", skipna=False)
        text = f"{name}: largest amplitude of k = 1, least of all nets"
        out.append(smallest_of(text, first, (0.5, np.inf), "ours: it learns something"))
    return out
