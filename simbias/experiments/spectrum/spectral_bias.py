"""Deep ReLU networks learn low frequencies first, also those of small amplitude.

The target is a sum of sines on a line.  However large the high frequencies are, those
of a long wave are fitted first.

Reference: Rahaman et al. (2019), On the spectral bias of neural networks,
arXiv:1806.08734, experiment 1.
"""

from typing import get_args

import jax
import jax.numpy as jnp
import numpy as np
import xarray as xr
from jaxtyping import PRNGKeyArray
from matplotlib.figure import Figure

from simbias.analysis.rank_correlation import rank_correlation
from simbias.claims import estimate_of, mean_of, median_of, smallest_of
from simbias.core import AbstractNetwork, Claim, Dataset, Experiment
from simbias.experiments._times import step_times
from simbias.experiments.spectrum._waves import (
    GRID_AMPLITUDES,
    LEVEL,
    RAHAMAN,
    Sizes,
    check_waves,
    order_of_medians,
    places,
    shares,
    times_to,
    waves,
)
from simbias.figures.band import band
from simbias.figures.heat_map import heat_map
from simbias.figures.style import COLOURS, blank, style
from simbias.flows.descent import Descent
from simbias.losses import mse
from simbias.networks.dense.mlp_init import torch_default
from simbias.presets import presets

AXES = ("sizes",)
RATE = 3e-4
_NAMES = {"equal": "equal amplitudes", "rising": "amplitudes ∝ k"}
# Steps at which a frequency has 0.95 of its amplitude, read off the published figure.
PUBLISHED = {10: 7e3, 15: 13e3, 20: 30e3, 25: 40e3, 30: 50e3}


def make(
    key: PRNGKeyArray,
    *,
    sizes: Sizes = "equal",
    m: int = 64,
    depth: int = 5,
    count: int = 10,
    spacing: int = 1,
    n: int = 100,
) -> tuple[Dataset, AbstractNetwork]:
    """The sample y = Σ A_k sin(2πkx + φ_k) at x = i/n, and a net.

    Args:
        key: random key, of the phases and of the network.
        sizes: A_k = 1, "equal", or in proportion to k up to 1, "rising".
        m: width.
        depth: hidden layers.
        count: number of frequencies, three at least, k = s, 2s, ….
        spacing: s.
        n: points, more than twice the highest frequency.

    Raises:
        ValueError: for a name that is not known, or a number out of range.
    """
    check_waves(sizes, count, spacing, n)
    key_phase, key_network = jax.random.split(key)
    x = jnp.arange(n, dtype=jnp.float64)[:, None] / n
    data = waves(key_phase, x, sizes=sizes, count=count, spacing=spacing)
    return data, torch_default(key_network, d=1, m=m, depth=depth)


experiment = presets(
    Experiment(
        name="spectral_bias",
        make=make,
        cell={"sizes": get_args(Sizes), "m": 64},
        seeds=20,
        flow=Descent(rate=RATE, optimiser="adam"),
        loss=mse,
        times=step_times(RATE, 10_000, 50),
        measures={"amplitudes": GRID_AMPLITUDES},
        dtype="float32",
    ),
    smoke={
        "cell": {"m": 16, "depth": 2, "n": 64, "count": 5},
        "seeds": 6,
        "times": step_times(RATE, 300, 30),
    },
    paper={
        "cell": {"m": 256, "spacing": 5, "n": 200},
        "times": step_times(RATE, 60_000, 500),
    },
)


def figure(ds: xr.Dataset) -> Figure:
    """What is learned of each frequency by step, and when half of it is."""
    seen = _by_step(ds)
    with style():
        kinds = ds["sizes"].values
        whole = blank(4.6 * (1 + len(kinds)), 3.8)
        *maps, last = whole.subplots(1, 1 + len(kinds))
        for axes, kind, colour in zip(maps, kinds, COLOURS, strict=False):
            part = seen.sel(sizes=kind)
            axes.set(xlabel="frequency k", ylabel="step")
            shown = part.median("seed").clip(0, 1)
            label = "median of 2|f̂(k)|/(N A_k)"
            heat_map(axes, shown, "frequency", "time", limits=(0, 1), label=label)
            axes.set_title(_NAMES[str(kind)])
            name, times = _NAMES[str(kind)], times_to(part)
            k = part["frequency"].values
            band(last, k, times, "o-", colour=colour, label=name, ms=4)
        last.set(xlabel="frequency k", ylabel="step", yscale="log")
        last.set_title(f"{LEVEL:g} of the amplitude reached")
        last.legend()
    return whole


def _by_step(ds: xr.Dataset) -> xr.DataArray:
    """The shares, over numbers of steps in the place of time."""
    return shares(ds).assign_coords(time=np.round(ds["time"].values / RATE))


def claims(ds: xr.Dataset) -> list[Claim]:
    """The order, for both kinds of amplitudes, and the times that were published."""
    return [c for kind in ds["sizes"].values for c in _of_kind(ds.sel(sizes=kind))]


def _of_kind(ds: xr.Dataset) -> list[Claim]:
    where, seen = _NAMES[str(ds["sizes"].item())], _by_step(ds)
    when, source = places(seen), f"{RAHAMAN}; band ours"
    rho = rank_correlation(when, "frequency")
    text = f"{where}: rank correlation of k and the time to {LEVEL:g} of its amplitude"
    out = [
        estimate_of(
            f"{text}, median of nets", order_of_medians(when), (0.9, 1), source
        ),
        mean_of(f"{text}, mean of single nets", rho, (0.9, 1), source),
        smallest_of(
            f"{text}, least of all nets", rho, (0, 1), "ours: no net is turned"
        ),
    ]
    if str(ds["sizes"].item()) == "rising":
        return out
    sizes = {"m": 256, "depth": 5, "spacing": 5, "count": 10, "n": 200}
    is_paper = all(int(ds[name]) == value for name, value in sizes.items())
    for k, steps in PUBLISHED.items():
        text = f"{where}: steps to 0.95 at k = {k} over those published"
        at = seen.isel(frequency=seen["frequency"] == k)
        # Never, which is no reason to leave a net out.
        late = times_to(at, 0.95).fillna(np.inf).where(at.isel(time=-1).notnull())
        claim = median_of(
            text, late / steps, (0.7, 1.3), f"{RAHAMAN}, figure 1; read off"
        )
        out.append(claim.given(is_paper, "the sizes of the paper"))
    return out
