"""Number of extremal vectors of one sign in the plane: 1 + σ/π.

The extremal vectors of a linear teacher with noise gather at ±β*, but they do not
merge.  On the scale of 1/n, on which the hyperplanes w·x_k = 0 follow one another, the
slope of G near ±β* is a random walk with a drift, and it passes 0 more than once:

    E = 1 + κ,   κ = (σ/π)·(1 − α)/(1 + α)      (‖β*‖ = 1, activation max(z, αz))

One of them lies between hyperplanes, the others on one each, for any n that is large.
The number itself has a law, too; of the noise only E|ε| matters for the mean, and
without noise there is one more in 4/(π√(πn)) of an extremal vector.

Nothing is trained: a member is a sample, of which all extrema are found by sorting
angles, also for a leaky ReLU (α = ½) and with ±σ for noise.  Without a ReLU, α = 1,
G = w·D has one maximum.

Reference: Boursier & Flammarion (2024), arXiv:2410.02348, extremal vectors of finite
samples; the laws are ours, derived in docs/alignment/extremal_count.md.
"""

import dataclasses
import math

import jax
import jax.numpy as jnp
import numpy as np
import xarray as xr
from jaxtyping import PRNGKeyArray
from matplotlib.axes import Axes
from matplotlib.figure import Figure

from simbias.analysis.mean_interval import mean_interval
from simbias.claims import estimate_of, mean_of, share_of
from simbias.core import AbstractNetwork, Claim, Dataset, Experiment, Real
from simbias.datasets import gaussian_teacher
from simbias.experiment_presets import presets
from simbias.experiments.alignment._plane_counts import SLOPES, PlaneCounts
from simbias.figures import law_line
from simbias.figures.style import COLOURS, blank, style
from simbias.flows import Descent
from simbias.losses import half_mse
from simbias.networks import balanced
from simbias.theory.extremal_count import (
    extremal_chance,
    extremal_count,
    extremal_count_at,
    extremal_spread,
)

# What the figure and the claims read.
AXES = ("sigma", "n")
DERIVED = "derived in docs/alignment/extremal_count.md; band ours"
# Samples from which a number is that of the limit to 2 %.
LARGE = 1000
MANY = f"n ≥ {LARGE}"
NAMES = {"relu": "ReLU", "leaky": "α = ½", "signs": "noise ±σ"}


def make(
    key: PRNGKeyArray, *, n: int, sigma: Real = 0.3
) -> tuple[Dataset, AbstractNetwork]:
    """A linear teacher in the plane, and a neuron with nothing to do.

    The second target has noise ±σ, of the sign that the noise of the first has.
    """
    key_data, key_network = jax.random.split(key)
    data = gaussian_teacher(key_data, n=n, d=2, sigma=sigma, n_test=1)
    signs = data.mean + sigma * jnp.sign(data.y - data.mean)
    y = jnp.concatenate([data.y, signs], axis=1)
    clean = jnp.concatenate([data.mean, data.mean], axis=1)
    data = dataclasses.replace(data, y=y, mean=clean, test=None)
    return data, balanced(key_network, m=1, d=2, k=2)


experiment = presets(
    Experiment(
        name="extremal_count",
        make=make,
        cell={"n": (50, 400, 2000), "sigma": (0.0, 0.3, 1.0, 3.0)},
        seeds=3000,
        flow=Descent(),
        loss=half_mse,
        times=(0.0,),
        measures={"extrema": PlaneCounts()},
    ),
    smoke={"cell": {"n": LARGE, "sigma": (0.0, 1.0)}, "seeds": 300},
    paper={
        "cell": {
            "n": (25, 50, 100, 200, 400, 800, 1600, 3200, 6400, 12800),
            "sigma": (0.0, 0.1, 0.3, 1.0, 3.0, 10.0),
        },
        "seeds": 10000,
    },
)


def number(ds: xr.Dataset, case: str = "relu") -> xr.DataArray:
    """Extrema at which neurons can end, over (sigma, n, seed, sign)."""
    return _kind(ds, case, "inside") + _kind(ds, case, "on_kinks")


def law(sigma: float, case: str = "relu") -> float:
    """Mean of the number, n → ∞; of the noise ε it sees E|ε| only."""
    size = sigma * math.sqrt(math.pi / 2) if case == "signs" else sigma
    return extremal_count(2, size, slope=SLOPES[case])


def figure(ds: xr.Dataset) -> Figure:
    """The mean against n and against σ, the law of the number, and the angles."""
    with style():
        whole = blank(10.0, 7.4)
        panels = whole.subplots(2, 2)
        _draw_sizes(panels[0, 0], ds)
        _draw_cases(panels[0, 1], ds)
        _draw_numbers(panels[1, 0], ds)
        _draw_spread(panels[1, 1], ds)
    return whole


def claims(ds: xr.Dataset) -> list[Claim]:
    """The mean number, of what it is made, its law, and cases with other laws."""
    out = []
    for sigma in map(float, ds["sigma"].values):
        out += _with_noise(ds, sigma) if sigma else _without_noise(ds)
    return out


def _with_noise(ds: xr.Dataset, sigma: float) -> list[Claim]:
    """Of one σ > 0."""
    n = int(ds["n"][-1])
    last = ds.sel(sigma=sigma).isel(n=-1)
    where, seen = f"σ = {sigma:g}, n = {n}", number(last)
    kappa, chance = law(sigma) - 1, extremal_chance(2, sigma)
    more = 1 - chance[1] / (1 - chance[0])
    text = f"extremal vectors per sign over 1 + σ/π = {1 + kappa:.4f}, {where}"
    out = [_over(text, seen, 1 + kappa, 0.03)]
    text = f"of these between hyperplanes, over 1, {where}"
    out.append(_over(text, _kind(last, "relu", "inside"), 1.0, 0.03))
    text = f"of these on one, over σ/π = {kappa:.4f}, {where}"
    out.append(_over(text, _kind(last, "relu", "on_kinks"), kappa, 0.15))
    single = 1 - float(chance[0])
    text = f"signs with two or more, {single:.4f} by the law, {where}"
    out.append(share_of(text, seen > 1, (single - 0.03, single + 0.03), DERIVED))
    several = (seen > 2).values[seen.values > 1]
    text = f"of these with three or more, {more:.4f} by the law, {where}"
    out.append(share_of(text, several, (more - 0.1, more + 0.1), DERIVED))
    for case in ("leaky", "signs"):
        expected = law(sigma, case)
        text = f"{NAMES[case]}: extremal vectors per sign over {expected:.4f}, {where}"
        out.append(_over(text, number(last, case), expected, 0.03))
    spread = _kind(last, "relu", "spread").values
    expected = extremal_spread(sigma) * math.pi / n
    text = f"angle from the first to the last over {expected:.3g}, {where}"
    out.append(mean_of(text, spread[spread > 0] / expected, (0.85, 1.15), DERIVED))
    return [claim.given(n >= LARGE, MANY) for claim in out]


def _without_noise(ds: xr.Dataset) -> list[Claim]:
    """σ = 0: what is more than one goes to 0, and how fast."""
    off = []
    for n in map(int, ds["n"].values):
        extra = number(ds.sel(sigma=0.0, n=n)).mean("sign", skipna=False) - 1
        off.append(mean_interval(extra.values / (extremal_count_at(n, 0.0) - 1)))
    farthest = max(off, key=lambda one: max(1 - one.low, one.high - 1))
    text = "control, σ = 0: mean number less 1 over 4/(π√(πn)), the n farthest from 1"
    return [estimate_of(text, farthest, (0.5, 1.5), DERIVED)]


def _over(text: str, seen: xr.DataArray, expected: float, width: float) -> Claim:
    """Mean over signs, then seeds, in units of the law."""
    ratio = seen.mean("sign", skipna=False) / expected
    return mean_of(text, ratio.values, (1 - width, 1 + width), DERIVED)


def _kind(ds: xr.Dataset, case: str, kind: str) -> xr.DataArray:
    seen = ds["extrema"].isel(time=0).sel(case=case, kind=kind)
    return seen.drop_vars(["case", "kind", "time"], errors="ignore")


def _interval(seen: xr.DataArray) -> tuple[float, float]:
    """Mean and 1.96 standard errors."""
    values = seen.mean("sign").values
    values = values[np.isfinite(values)]
    return float(values.mean()), 1.96 * float(values.std(ddof=1)) / len(values) ** 0.5


def _dots(axes: Axes, x: np.ndarray, seen: list, **options) -> None:
    middle, reach = np.array(seen).T
    looks = {"fmt": "o", "ms": 4, "capsize": 2, "lw": 1}
    axes.errorbar(x, middle, reach, **{**looks, **options})


def _draw_sizes(axes: Axes, ds: xr.Dataset) -> None:
    n = ds["n"].values
    grid = np.geomspace(n[0] / 1.5, n[-1] * 1.5, 60)
    for i, sigma in enumerate(map(float, ds["sigma"].values)):
        colour = COLOURS[i % len(COLOURS)]
        seen = [_interval(number(ds.sel(sigma=sigma, n=one))) for one in n]
        _dots(axes, n, seen, color=colour, label=f"σ = {sigma:g}")
        finite = [extremal_count_at(round(one), sigma) for one in grid]
        law_line(axes, grid, finite, colour=colour)
        axes.axhline(law(sigma), color=colour, ls=":", lw=0.8)
    axes.plot([], [], "--", color="grey", lw=1, label="law at n")
    axes.plot([], [], ":", color="grey", lw=1, label="1 + σ/π")
    axes.set_xscale("log")
    axes.set_xlabel("samples n")
    axes.set_title("extremal vectors per sign, mean, d = 2")
    axes.legend(ncols=2)


def _draw_cases(axes: Axes, ds: xr.Dataset) -> None:
    ds = ds.isel(n=-1)
    sigma = ds["sigma"].values
    grid = np.linspace(0, 1.05 * float(sigma.max()) + 0.05, 50)
    for i, (case, name) in enumerate(NAMES.items()):
        seen = [_interval(number(ds.sel(sigma=one), case)) for one in sigma]
        _dots(axes, sigma, seen, color=COLOURS[i], label=name)
        law_line(axes, grid, [law(one, case) for one in grid], colour=COLOURS[i])
    axes.set_xlabel("noise σ")
    axes.set_title(f"the same at n = {int(ds['n'])}, three cases; lines: laws")
    axes.legend()


def _draw_numbers(axes: Axes, ds: xr.Dataset) -> None:
    ds = ds.isel(n=-1)
    most = int(number(ds).max())
    counts = np.arange(1, most + 1)
    for i, sigma in enumerate(map(float, ds["sigma"].values)):
        colour = COLOURS[i % len(COLOURS)]
        seen = number(ds.sel(sigma=sigma)).values
        shares = np.array([np.mean(seen == count) for count in counts])
        there = shares > 0
        axes.plot(counts[there], shares[there], "o", ms=4, color=colour)
        if sigma:
            law_line(axes, counts, extremal_chance(most, sigma), colour=colour)
    axes.set_yscale("log")
    axes.set_ylim(0.2 / number(ds).isel(sigma=0).size, 2)
    axes.set_xlabel("extremal vectors of a sign")
    axes.set_title(f"share of the signs, n = {int(ds['n'])}; lines: law")


def _draw_spread(axes: Axes, ds: xr.Dataset) -> None:
    n, top = ds["n"].values, float(ds["sigma"].max())
    for i, sigma in enumerate(map(float, ds["sigma"].values)):
        if sigma:
            spread = _kind(ds.sel(sigma=sigma), "relu", "spread")
            several = spread.where(spread > 0).mean(["seed", "sign"])
            colour = COLOURS[i % len(COLOURS)]
            axes.plot(
                n, several.values, "o", ms=4, color=colour, label=f"σ = {sigma:g}"
            )
            law_line(axes, n, extremal_spread(sigma) * np.pi / n, colour=colour)
    away = np.sqrt(2 * (1 + top**2) / n)
    law_line(axes, n, away, f"to ±β*, σ = {top:g}", line=":", colour="black")
    axes.set_xscale("log")
    axes.set_yscale("log")
    axes.set_xlabel("samples n")
    axes.set_title("angle from first to last of a sign (rad), mean; lines: law")
    axes.legend()
