"""Where data are dense a frequency is learned sooner: the time is k²/p.

The sample covers three arcs of the circle with densities p in the ratios 1 : r : r².
The target is the same everywhere; of a wide two-layer ReLU network with biases that
trains its first layer, the part of frequency k in an arc of density p is learned after
a time ∝ k²/p.

Reference: Basri, Galun, Geifman, Jacobs, Kasten & Kritchman (2020), Frequency bias in
neural networks for input of non-uniform density, arXiv:2003.04560.
"""

from typing import Any, ClassVar

import jax
import jax.numpy as jnp
import numpy as np
import xarray as xr
from jaxtyping import Array, Float, PRNGKeyArray
from matplotlib.figure import Figure

from simbias.analysis.first_passage import first_passage
from simbias.checks.values import positive, positive_integer
from simbias.claims import mean_of
from simbias.core import (
    AbstractMeasure,
    AbstractNetwork,
    Claim,
    Dataset,
    Experiment,
    Real,
)
from simbias.errors import BadInput
from simbias.experiments.spectrum._circle import kernel_network, on_circle
from simbias.figures.band import band
from simbias.figures.laws import law_line
from simbias.figures.style import COLOURS, blank, style
from simbias.flows.descent import Descent
from simbias.introspection.outputs import outputs
from simbias.losses import half_mse
from simbias.presets import presets
from simbias.theory.circle_kernel import circle_eigenvalues

AXES = ("ratio",)
BASRI = "Basri et al. (2020), arXiv:2003.04560"
RATE = 8.0
ARCS = 3
# From which width on the law is claimed.
WIDE = 8192
# Two periods of a third of the circle, three, …: all orthogonal on every arc.
FREQUENCIES = (6, 9, 12)


class ArcShares(AbstractMeasure):
    """Amplitude of frequency k in y − f over that in y, on each of three arcs."""

    dims: ClassVar[tuple[str, ...]] = ("arc", "frequency")

    def coords(self) -> dict[str, np.ndarray]:
        """Arcs in the order of the angle, the thinnest first; periods of the circle."""
        return {"arc": np.arange(ARCS), "frequency": np.asarray(FREQUENCIES)}

    def __call__(self, network: Any, data: Dataset) -> Float[Array, "arc frequency"]:
        """Without units; 1 for f = 0."""
        angle = jnp.arctan2(data.x[:, 1], data.x[:, 0]) % (2 * jnp.pi)
        arc = jnp.floor(angle * ARCS / (2 * jnp.pi))
        is_in = arc[None] == jnp.arange(ARCS, dtype=arc.dtype)[:, None]
        turn = jnp.asarray(FREQUENCIES, angle.dtype)[:, None] * angle[None]
        # Padding lies at the origin, on no arc.
        is_in = is_in & (data.weight > 0)[None]
        left = (data.y - outputs(network, data.x))[:, 0]
        waves = [wave(turn).T for wave in (jnp.cos, jnp.sin)]
        parts = lambda v: jnp.where(is_in, v[None], 0)
        amplitude = lambda v: jnp.hypot(*(parts(v) @ wave for wave in waves))
        return amplitude(left) / amplitude(data.y[:, 0])


def make(
    key: PRNGKeyArray,
    *,
    ratio: int = 2,
    m: int = 8192,
    n: int = 168,
    size: Real = 0.05,
) -> tuple[Dataset, AbstractNetwork]:
    """Sample of y = A Σ sin(kθ + φ_k), k = 6, 9, 12, and a net with f = 0.

    Args:
        key: random key, of the phases and of the network.
        ratio: r; the densities of the arcs are as 1 : r : r².
        m: width, even.
        n: points, a multiple of 1 + r + r², equally spaced on each arc, of which the
            thinnest has more than eight.
        size: A.

    Raises:
        ValueError: for a size or number out of range.
    """
    for name, value in (("ratio", ratio), ("n", n)):
        positive_integer(name, value)
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
        times=(0.0, *(RATE * np.unique(np.geomspace(5, 875, 40).round())).tolist()),
        measures={"left": ArcShares()},
    ),
    smoke={"cell": {"m": 512, "n": 84, "ratio": (1,)}, "seeds": 6},
    paper={"cell": {"ratio": (1, 2, 3), "n": 546, "m": 32768}, "seeds": 20},
)


def densities(ratio: int) -> Float[np.ndarray, " arc"]:
    """The density p of every arc, 1 in the mean."""
    parts = float(ratio) ** np.arange(ARCS)
    return parts / parts.mean()


def half_times(ds: xr.Dataset) -> xr.DataArray:
    """When half of a frequency is learned on an arc; NaN if it is not."""
    return first_passage(-xr.ufuncs.log(ds["left"].clip(min=1e-300)), float(np.log(2)))


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


def figure(ds: xr.Dataset) -> Figure:
    """What is left of a frequency on the three arcs; times to half against k²/p."""
    ratios = ds["ratio"].values
    k = np.asarray(FREQUENCIES)
    with style():
        whole = blank(4.4 * (1 + len(ratios)), 3.8)
        *panels, last = whole.subplots(1, 1 + len(ratios))
        for axes, ratio, marker in zip(panels, ratios, "osD^", strict=False):
            part, p = ds.sel(ratio=ratio), densities(int(ratio))
            middle = FREQUENCIES[1]
            for i, colour in zip(range(ARCS), COLOURS, strict=False):
                left = part["left"].sel(arc=i, frequency=middle)
                # Time 0 has no place on an axis of logarithms.
                left = left.isel(time=slice(1, None))
                label = f"p = {p[i]:.2f}"
                band(axes, left["time"].values, left, colour=colour, label=label)
                times = half_times(part).sel(arc=i)
                named = f"1 : {ratio} : {ratio**2}" if i == 0 else None
                x = k**2 / p[i]
                band(last, x, times, marker, colour=colour, label=named, ms=5)
            axes.set(xscale="log", xlabel="time", ylabel="share left", ylim=(0, 1.1))
            axes.set_title(f"k = {middle}, densities 1 : {ratio} : {ratio**2}")
            axes.legend()
        x = np.geomspace(k.min() ** 2 / 2, k.max() ** 2 * 3, 20)
        law_line(last, x, np.log(2) * 2 * np.pi**2 * x, "ln 2 · 2π² k²/p")
        last.set(xscale="log", yscale="log", xlabel="k²/p", ylabel="time to half")
        last.set_xticks([20, 50, 100, 200, 400], ["20", "50", "100", "200", "400"])
        last.set_yticks([300, 1000, 3000], ["300", "1000", "3000"])
        last.minorticks_off()
        last.legend()
    return whole


def claims(ds: xr.Dataset) -> list[Claim]:
    """Both exponents; where the density is uniform all arcs take the same time."""
    out = []
    is_wide, wide = int(ds["m"]) >= WIDE, f"a width of {WIDE}"
    for ratio in ds["ratio"].values:
        part = ds.sel(ratio=ratio)
        times, where = half_times(part), f"densities 1 : {ratio} : {ratio**2}"
        along_k, along_p = exponents(times, int(ratio))
        text = f"{where}: time to half, exponent in k"
        found = [mean_of(text, along_k, (1.8, 2.2), f"{BASRI}; band ours")]
        if ratio > 1:
            text = f"{where}: time to half, exponent in p"
            found.append(mean_of(text, along_p, (-1.2, -0.8), f"{BASRI}; band ours"))
        else:
            found += _uniform(times, where)
        out += [claim.given(is_wide, wide) for claim in found]
    return out


def _uniform(times: xr.DataArray, where: str) -> list[Claim]:
    """Arcs of one density."""
    logs = xr.ufuncs.log(times).mean("frequency", skipna=False)
    apart = xr.ufuncs.exp(logs.isel(arc=0) - logs.isel(arc=-1))
    law = np.log(2) / circle_eigenvalues(np.asarray(FREQUENCIES), True)
    late = (times / xr.DataArray(law, dims="frequency")).mean(
        ["arc", "frequency"], skipna=False
    )
    text = f"control, {where}: time of the first arc over that of the last"
    return [
        mean_of(text, apart, (0.9, 1.1), "symmetry; band ours"),
        mean_of(
            f"{where}: time to half over ln 2/λ_k, mean",
            late,
            (0.9, 1.1),
            f"{BASRI}; band ours",
        ),
    ]
