"""Spectral bias on a winding curve: r = 1 + ½ sin 2πLz makes high frequencies easy.

The target is a sum of waves in the parameter z of a closed curve in the plane.  On a
circle they are also waves of the input.  On a flower of L petals, a slow function of
the plane can be a fast function of z.

Reference: Rahaman et al. (2019), On the spectral bias of neural networks,
arXiv:1806.08734, experiment 3.
"""

from itertools import pairwise

import jax
import jax.numpy as jnp
import numpy as np
import xarray as xr
from jaxtyping import PRNGKeyArray

from simbias.analysis.rank_correlation import rank_correlation
from simbias.claims import difference_of, mean_of
from simbias.core import AbstractNetwork, Claim, Dataset, Experiment
from simbias.errors import BadInput
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
from simbias.figures import Curves, HeatMap, Panels
from simbias.flows import Descent
from simbias.losses import mse
from simbias.networks import torch_default
from simbias.validation.values import is_number

AXES = ("petals",)
RATE = 3e-4


def make(
    key: PRNGKeyArray,
    *,
    petals: int = 0,
    m: int = 64,
    depth: int = 5,
    count: int = 10,
    spacing: int = 4,
    n: int = 512,
) -> tuple[Dataset, AbstractNetwork]:
    """The sample r(z) (cos 2πz, sin 2πz) ↦ Σ sin(2πkz + φ_k) at z = i/n, and a net.

    r(z) = 1 + ½ sin 2πLz

    Args:
        key: random key, of the phases and of the network.
        petals: L; 0 is the circle.
        m: width.
        depth: hidden layers.
        count: number of frequencies, three at least, k = s, 2s, ….
        spacing: s.
        n: points, more than twice the highest frequency and twice L; a petal has n/L.
    """
    check_waves("equal", count, spacing, n)
    if not (is_number(petals) and isinstance(petals, int) and 0 <= 2 * petals < n):
        raise BadInput(f"`petals` must be from 0 to below n/2, got {petals!r}.")
    key_phase, key_network = jax.random.split(key)
    z = np.arange(n) / n
    r = 1 + np.sin(2 * np.pi * petals * z) / 2
    curve = r[:, None] * np.stack([np.cos(2 * np.pi * z), np.sin(2 * np.pi * z)], 1)
    x = jnp.asarray(curve)
    data = waves(key_phase, x, sizes="equal", count=count, spacing=spacing)
    return data, torch_default(key_network, d=2, m=m, depth=depth)


experiment = presets(
    Experiment(
        name="spectral_petals",
        make=make,
        cell={"petals": (0, 4, 10, 16)},
        seeds=12,
        flow=Descent(rate=RATE, optimiser="adam"),
        loss=mse,
        times=step_times(RATE, 2000, 25),
        measures={"amplitudes": GRID_AMPLITUDES},
        dtype="float32",
    ),
    smoke={
        "cell": {"petals": (0, 10), "m": 32, "depth": 2, "n": 128, "spacing": 2},
        "seeds": 6,
        "times": step_times(RATE, 800, 50),
    },
    paper={
        "cell": {"m": 256, "spacing": 20, "n": 1000},
        "seeds": 20,
        "times": step_times(RATE, 10_000, 100),
    },
)


def shares_by_step(ds: xr.Dataset) -> xr.DataArray:
    """Share learned of each frequency, over steps instead of time."""
    return of_waves(by_step(ds, RATE)["amplitudes"], ds)


def learned(ds: xr.Dataset) -> xr.DataArray:
    """Share learned in the upper half of the frequencies, mean over times; by seed."""
    seen = of_waves(ds["amplitudes"], ds)
    upper = seen.isel(frequency=slice(seen.sizes["frequency"] // 2, None))
    # A frequency whose amplitude is too large is no more than learned.
    return upper.clip(max=1).mean(["frequency", "time"], skipna=False)


figure = Panels(
    HeatMap(
        lambda ds: shares_by_step(ds).median("seed").clip(0, 1),
        facet="petals",
        x=lambda ds: shares_by_step(ds)["frequency"],
        xlabel="frequency k",
        ylabel="step",
        limits=(0, 1),
        label="2|f̂(k)|/N",
    ),
    Curves(
        learned,
        x="petals",
        xlabel="petals L",
        ticks=True,
        mark="o",
        title="upper half of k: share, all times",
        ylim=(0, 1),
    ),
    names={"petals": "L"},
    size=(3.9, 3.8),
)


def claims(ds: xr.Dataset) -> list[Claim]:
    """In order only on the circle; with more petals, more of the high k is learned."""
    out, every = [], ds["petals"].values
    source = f"{RAHAMAN}, experiment 3; band ours"
    rho = rank_correlation(places(shares_by_step(ds)), "frequency")
    for petals in (every[0], every[-1]):
        text = f"L = {petals}: rank correlation of k and the time to half"
        band = (0.9, 1) if petals == 0 else (-1, 0.9)
        out.append(mean_of(text, rho.sel(petals=petals), band, source))
    share = learned(ds)
    ends = [(every[0], every[-1])] if len(every) > 2 else []
    for few, many in [*pairwise(every), *ends]:
        text = f"upper half of k: share learned, L = {many} less L = {few}"
        more, less = share.sel(petals=many), share.sel(petals=few)
        out.append(difference_of(text, more, less, (0.02, 1), source))
    return out
