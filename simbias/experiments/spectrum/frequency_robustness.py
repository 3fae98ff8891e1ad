"""Robustness by frequency: low frequencies survive a perturbation of the weights.

The weights of a trained ReLU network are perturbed in random directions.  A low
frequency depends on few directions, so it remains when the high ones have disappeared.

Reference: Rahaman et al. (2019), On the spectral bias of neural networks,
arXiv:1806.08734, experiment 2.
"""

from typing import Literal, get_args

import equinox as eqx
import jax
import jax.numpy as jnp
import numpy as np
import xarray as xr
from jaxtyping import Array, Float, PRNGKeyArray

from simbias.analysis.rank_correlation import rank_correlation
from simbias.claims import Claims, mean_of
from simbias.core import AbstractNetwork, Claim, Dataset, Experiment
from simbias.experiment_presets import presets
from simbias.experiments.spectrum._waves import (
    RAHAMAN,
    check_waves,
    frequencies,
    of_waves,
    waves,
)
from simbias.figures import Curves, HeatMap, Panels
from simbias.flows import Descent
from simbias.losses import mse
from simbias.measures import PerturbedAmplitudes
from simbias.networks import torch_default
from simbias.validation.sample import one_of

AXES = ("network",)
RATE = 3e-4
Kind = Literal["relu", "fourier"]
NAMES = {"relu": "ReLU network", "fourier": "Fourier series"}


class FourierSeries(AbstractNetwork):
    """f(x) = Σ_k a_k cos 2πkx + b_k sin 2πkx: each weight serves one frequency."""

    cosine: Float[Array, " q"]
    sine: Float[Array, " q"]
    k: tuple[int, ...] = eqx.field(static=True)

    def __call__(self, x: Float[Array, " 1"]) -> Float[Array, " 1"]:
        """One output."""
        turn = 2 * jnp.pi * jnp.asarray(self.k, x.dtype) * x
        return (self.cosine @ jnp.cos(turn) + self.sine @ jnp.sin(turn))[None]


def make(
    key: PRNGKeyArray,
    *,
    network: Kind = "relu",
    m: int = 64,
    depth: int = 10,
    count: int = 10,
    n: int = 100,
) -> tuple[Dataset, AbstractNetwork]:
    """The sample y = Σ sin(2πkx + φ_k), k = 1, 2, …, at x = i/n, and a net.

    Args:
        key: random key, of the phases and of the network.
        network: "relu", or "fourier", which begins as the target itself.
        m: width.
        depth: hidden layers.
        count: number of frequencies, three at least.
        n: points, more than twice the highest frequency.
    """
    one_of("network", network, get_args(Kind))
    check_waves("equal", count, 1, n)
    key_phase, key_network = jax.random.split(key)
    x = jnp.asarray(np.arange(n)[:, None] / n)
    data = waves(key_phase, x, sizes="equal", count=count, spacing=1)
    if network == "relu":
        return data, torch_default(key_network, d=1, m=m, depth=depth)
    k = frequencies(count)
    turn = jnp.asarray(2 * np.pi * np.outer(k, np.arange(n) / n))
    of = lambda wave: 2 / n * (wave(turn) @ data.y[:, 0])
    return data, FourierSeries(of(jnp.cos), of(jnp.sin), k)


def _radii(end: float, count: int) -> tuple[float, ...]:
    return tuple(np.linspace(0, end, count).tolist())


def _left(radii: tuple[float, ...], pairs: int = 25) -> PerturbedAmplitudes:
    """Amplitudes of all frequencies, on the whole grid of `waves`."""
    return PerturbedAmplitudes(None, None, radii, pairs, "grid")


experiment = presets(
    Experiment(
        name="frequency_robustness",
        make=make,
        cell={"network": get_args(Kind)},
        seeds=12,
        flow=Descent(rate=RATE, optimiser="adam"),
        loss=mse,
        times=(0.0, RATE * 3000),
        measures={},
        final={"left": _left(_radii(5.0, 26))},
        dtype="float32",
    ),
    smoke={
        "cell": {"m": 32, "depth": 3, "n": 32, "count": 3},
        "seeds": 6,
        "times": (0.0, RATE * 1000),
        "final": {"left": _left(_radii(2.0, 5), 10)},
    },
    paper={
        "cell": {"m": 256, "count": 50, "n": 200},
        "seeds": 5,
        "times": (0.0, RATE * 60_000),
        "final": {"left": _left(_radii(5.0, 100), 50)},
    },
)


def kept(ds: xr.Dataset) -> xr.DataArray:
    """The amplitude at a radius over that of the network itself, of the waves."""
    left = of_waves(ds["left"], ds)
    return left / left.isel(radius=0)


def four_waves(ds: xr.Dataset) -> xr.DataArray:
    """Relative amplitudes of four frequencies, from low to high."""
    part = kept(ds)
    last = part.sizes["frequency"] - 1
    return part.isel(frequency=sorted({i * last // 3 for i in range(4)}))


figure = Panels(
    HeatMap(
        lambda ds: kept(ds).median("seed").clip(0, 1),
        facet="network",
        x=lambda ds: kept(ds)["frequency"],
        xlabel="frequency k",
        y="radius",
        ylabel="radius r",
        limits=(0, 1),
        label="amplitude over that at r = 0",
    ),
    Curves(
        four_waves,
        colour="frequency",
        x="radius",
        xlabel="radius r",
        facet="network",
        title="amplitude over that at r = 0",
        yscale="log",
        yticks=(0.25, 0.5, 1, 2, 4),
    ),
    names={"network": NAMES, "frequency": "k"},
    size=(4.6, 3.8),
)


def claims(ds: xr.Dataset) -> list[Claim]:
    """High frequencies disappear first.

    There is no claim on the Fourier series: there no perturbation lowers an amplitude.
    """
    if "relu" not in ds["network"].values:
        return []
    seen, source = kept(ds.sel(network="relu")), f"{RAHAMAN}, experiment 2; band ours"
    rho = rank_correlation(seen.mean("radius", skipna=False), "frequency")
    lowest, *_, highest = seen.isel(radius=-1).transpose("frequency", ...)
    ends = "kept at the largest radius, highest k over lowest"
    found = mean_of(ends, highest / lowest, (0, 0.5), source)
    order = "rank correlation of k and what is kept, mean over r"
    return Claims(where=NAMES["relu"]).rows(
        mean_of(order, rho, (-1, -0.9), source),
        found.given(int(ds["count"]) >= 10, "k up to 10"),
    )
