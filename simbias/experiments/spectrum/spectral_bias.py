"""Spectral bias: deep ReLU networks learn low frequencies first, small ones too.

The target is a sum of sines on a line.  The network fits low frequencies first, even if
the high ones have larger amplitudes.

Reference: Rahaman et al. (2019), On the spectral bias of neural networks,
arXiv:1806.08734, experiment 1.
"""

from typing import get_args

import jax
import jax.numpy as jnp
import numpy as np
import xarray as xr
from jaxtyping import PRNGKeyArray

from simbias.analysis.rank_correlation import rank_correlation
from simbias.claims import Claims, estimate_of, mean_of, median_of, smallest_of
from simbias.core import AbstractNetwork, Claim, Dataset, Experiment
from simbias.experiment_presets import presets
from simbias.experiments._times import by_step, step_times
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
from simbias.figures import Curves, HeatMap, Panels
from simbias.flows import Descent
from simbias.losses import mse
from simbias.networks import torch_default

AXES = ("sizes",)
RATE = 3e-4
NAMES = {"equal": "equal amplitudes", "rising": "amplitudes ∝ k"}
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
        seeds=80,
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
        "seeds": 20,
        "times": step_times(RATE, 60_000, 500),
    },
)


def shares_by_step(ds: xr.Dataset) -> xr.DataArray:
    """Share learned of each frequency, over steps instead of time."""
    return shares(by_step(ds, RATE))


figure = Panels(
    HeatMap(
        lambda ds: shares_by_step(ds).median("seed").clip(0, 1),
        facet="sizes",
        ylabel="step",
        limits=(0, 1),
        label="2|f̂(k)|/(N·A_k)",
    ),
    Curves(
        lambda ds: times_to(shares_by_step(ds)),
        colour="sizes",
        mark="o",
        title=f"{LEVEL:g} of the amplitude reached",
        ylabel="step",
        yscale="log",
    ),
    x=lambda ds: shares(ds)["frequency"],
    xlabel="frequency k",
    names={"sizes": NAMES},
    size=(4.6, 3.8),
)


def claims(ds: xr.Dataset) -> list[Claim]:
    """The order, for both kinds of amplitudes, and the published times."""
    kinds = [ds.sel(sizes=kind) for kind in ds["sizes"].values]
    out = []
    for part in kinds:
        kind, seen = str(part["sizes"].item()), shares_by_step(part)
        out += Claims(where=NAMES[kind]).rows(*_order(seen))
        if kind == "equal":
            sizes = {"m": 256, "depth": 5, "spacing": 5, "count": 10, "n": 200}
            is_paper = all(int(ds[name]) == value for name, value in sizes.items())
            rows = Claims({"the sizes of the paper": is_paper}, NAMES[kind])
            out += rows.rows(*_published(seen))
    return out


def _order(seen: xr.DataArray) -> list[Claim]:
    when, source = places(seen), f"{RAHAMAN}; band ours"
    rho, medians = rank_correlation(when, "frequency"), order_of_medians(when)
    text = f"rank correlation of k and the time to {LEVEL:g} of its amplitude"
    turned = "ours: no net is turned"
    return [
        estimate_of(f"{text}, median of nets", medians, (0.9, 1), source),
        mean_of(f"{text}, mean of single nets", rho, (0.9, 1), source),
        smallest_of(f"{text}, least of all nets", rho, (0, 1), turned),
    ]


def _published(seen: xr.DataArray) -> list[Claim]:
    out, source = [], f"{RAHAMAN}, figure 1; read off"
    for k, steps in PUBLISHED.items():
        text = f"steps to 0.95 at k = {k} over those published"
        of_k = seen.isel(frequency=seen["frequency"] == k)
        # Never, which is no reason to leave a net out.
        is_known = of_k.isel(time=-1).notnull()
        late = times_to(of_k, 0.95).fillna(np.inf).where(is_known)
        out.append(median_of(text, late / steps, (0.7, 1.3), source))
    return out
