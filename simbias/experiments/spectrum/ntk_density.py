"""Tangent kernel and density: frequencies are learned sooner where data are dense.

The sample covers three arcs of the circle with densities p in the ratios 1 : r : r².
The target is the same everywhere.  A wide two-layer ReLU network with biases trains its
first layer.  It learns the part of frequency k in an arc of density p in a time ∝ k²/p.

Reference: Basri, Galun, Geifman, Jacobs, Kasten & Kritchman (2020), Frequency bias in
neural networks for input of non-uniform density, arXiv:2003.04560.
"""

import jax
import jax.numpy as jnp
import numpy as np
import xarray as xr
from jaxtyping import Float, PRNGKeyArray

from simbias.analysis.half_time import half_time
from simbias.claims import Claims, mean_of
from simbias.core import AbstractNetwork, Claim, Dataset, Experiment, Real
from simbias.errors import BadInput
from simbias.experiment_presets import presets
from simbias.experiments._times import log_steps
from simbias.experiments.spectrum._circle import kernel_network, on_circle
from simbias.figures import Curves, Law, Panels, Points
from simbias.flows import Descent
from simbias.losses import half_mse
from simbias.measures import ArcShares
from simbias.theory.circle_kernel import circle_eigenvalues
from simbias.validation.values import positive, positive_integers

AXES = ("ratio",)
BASRI = "Basri et al. (2020), arXiv:2003.04560"
RATE = 8.0
ARCS = 3
# From which width on the law is claimed.
WIDE = 8192
# Two periods of a third of the circle, three, …: all orthogonal on every arc.
FREQUENCIES = (6, 9, 12)
IN_K = "time to half, exponent in k"
IN_P = "time to half, exponent in p"


def make(
    key: PRNGKeyArray, *, ratio: int = 2, m: int = 8192, n: int = 168, size: Real = 0.05
) -> tuple[Dataset, AbstractNetwork]:
    """Sample of y = A Σ sin(kθ + φ_k), k = 6, 9, 12, and a net with f = 0.

    Args:
        key: random key, of the phases and of the network.
        ratio: r; the densities of the arcs are as 1 : r : r².
        m: width, even.
        n: points, a multiple of 1 + r + r², equally spaced on each arc, of which the
            thinnest has more than eight.
        size: A.
    """
    positive_integers(ratio=ratio, n=n)
    positive("size", size)
    parts = [ratio**i for i in range(ARCS)]
    least, rest = divmod(n, sum(parts))
    if rest or least * ARCS <= 2 * FREQUENCIES[-1]:
        raise BadInput(
            f"`n` must be a multiple of 1 + r + r² = {sum(parts)} with more than "
            f"{2 * FREQUENCIES[-1] // ARCS} points on the first arc, got {n}."
        )
    key_phase, key_network = jax.random.split(key)
    count = len(FREQUENCIES)
    phase = jax.random.uniform(key_phase, (count,), jnp.float64, maxval=2 * jnp.pi)
    places = [(i + _middles(least * part)) / ARCS for i, part in enumerate(parts)]
    angle = jnp.asarray(2 * np.pi * np.concatenate(places))
    k = jnp.asarray(FREQUENCIES, jnp.float64)
    waves = jnp.sin(k[:, None] * angle[None, :] + phase[:, None])
    data = on_circle(angle, size * jnp.sum(waves, axis=0))
    return data, kernel_network(key_network, m=m, has_bias=True)


def _middles(count: int) -> np.ndarray:
    return (np.arange(count) + 0.5) / count


experiment = presets(
    Experiment(
        name="ntk_density",
        make=make,
        cell={"ratio": (1, 2)},
        seeds=20,
        flow=Descent(rate=RATE),
        loss=half_mse,
        times=log_steps(RATE, 5, 875, 40),
        measures={"left": ArcShares(FREQUENCIES, ARCS)},
    ),
    smoke={"cell": {"m": 512, "n": 84, "ratio": (1,)}, "seeds": 6},
    paper={"cell": {"ratio": (1, 2, 3), "n": 546, "m": 32768}, "seeds": 20},
)


def densities(ratio: int) -> Float[np.ndarray, " arc"]:
    """The density p of every arc, 1 in the mean."""
    parts = float(ratio) ** np.arange(ARCS)
    return parts / parts.mean()


def half_times(ds: xr.Dataset) -> xr.DataArray:
    """Times at which half of a frequency is learned on an arc; NaN if never."""
    return half_time(ds["left"])


def exponents(times: xr.DataArray, ratio: int) -> tuple[xr.DataArray, xr.DataArray]:
    """Exponents of t ∝ kᵃ pᵇ by least squares; b is NaN for r = 1."""
    logs = xr.ufuncs.log(times)
    k = np.log(times["frequency"])
    k = k - k.mean()
    p = xr.DataArray(np.log(densities(ratio)), dims="arc")
    p = p - p.mean()
    # The two are orthogonal: every frequency is on every arc.
    both = ["arc", "frequency"]
    along_k = (k * logs).sum(both, skipna=False) / (ARCS * float((k**2).sum()))
    spread = len(FREQUENCIES) * float((p**2).sum())
    along_p = (p * logs).sum(both, skipna=False) / (spread or np.nan)
    return along_k, along_p


def middle_left(ds: xr.Dataset) -> xr.DataArray:
    """Remaining amplitude of the middle frequency; without time 0, for logarithms."""
    return ds["left"].sel(frequency=FREQUENCIES[1]).isel(time=slice(1, None))


def k2_over_p(ds: xr.Dataset) -> xr.DataArray:
    """k²/p of each arc and frequency, for one ratio of densities."""
    p = xr.DataArray(densities(int(ds["ratio"])), dims="arc")
    return ds["frequency"] ** 2 / p


def law_of_times(ds: xr.Dataset) -> xr.DataArray:
    """Ln 2 · 2π² k²/p, the time to half of a wide network."""
    places = k2_over_p(ds)
    x = np.geomspace(float(places.min()) / 1.5, 1.5 * float(places.max()), 20)
    return xr.DataArray(np.log(2) * 2 * np.pi**2 * x, {"place": x}, "place")


ARC_NAMES = {0: "thinnest arc", 1: "middle arc", 2: "densest arc"}
figure = Panels(
    Curves(
        middle_left,
        colour="arc",
        x=lambda ds: middle_left(ds)["time"],
        xlabel="time",
        ylabel=f"share left of k = {FREQUENCIES[1]}",
        ylim=(0, 1.1),
    ),
    Points(
        half_times,
        colour="arc",
        x=k2_over_p,
        xlabel="k²/p",
        yscale="log",
        ylabel="time to half",
        laws=(Law(law_of_times, "ln 2 · 2π² k²/p"),),
    ),
    columns="ratio",
    xscale="log",
    names={"ratio": {r: f"densities 1 : {r} : {r**2}" for r in (1, 2, 3)}}
    | {"arc": ARC_NAMES},
    size=(4.4, 3.8),
)


def claims(ds: xr.Dataset) -> list[Claim]:
    """Both exponents; with uniform density all arcs take the same time."""
    out, source = [], f"{BASRI}; band ours"
    wide = {f"a width of {WIDE}": int(ds["m"]) >= WIDE}
    for ratio in ds["ratio"].values:
        where = f"densities 1 : {ratio} : {ratio**2}"
        times = half_times(ds.sel(ratio=ratio))
        along_k, along_p = exponents(times, int(ratio))
        rows = [mean_of(f"{where}: {IN_K}", along_k, (1.8, 2.2), source)]
        if ratio > 1:
            rows.append(mean_of(f"{where}: {IN_P}", along_p, (-1.2, -0.8), source))
        else:
            rows += _uniform(times, where)
        out += Claims(wide).rows(*rows)
    return out


def _uniform(times: xr.DataArray, where: str) -> list[Claim]:
    """Arcs of one density."""
    logs = xr.ufuncs.log(times).mean("frequency", skipna=False)
    apart = xr.ufuncs.exp(logs.isel(arc=0) - logs.isel(arc=-1))
    law = np.log(2) / circle_eigenvalues(np.asarray(FREQUENCIES), True)
    late = times / xr.DataArray(law, dims="frequency")
    late = late.mean(["arc", "frequency"], skipna=False)
    control = f"control, {where}: time of the first arc over that of the last"
    text, band = f"{where}: time to half over ln 2/λ_k, mean", (0.9, 1.1)
    return [
        mean_of(control, apart, band, "symmetry; band ours"),
        mean_of(text, late, band, f"{BASRI}; band ours"),
    ]
