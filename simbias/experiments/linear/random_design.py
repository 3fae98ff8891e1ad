"""Random inputs have a spectrum of their own, and least squares a peak at d = n.

With n samples of d independent N(0, 1) inputs the eigenvalues of XᵀX/n follow the law
of Marchenko and Pastur.  At d = n it reaches 0, where gradient descent is slowest: the
smallest eigenvalue of XXᵀ is of the order 1/n.  There the noise is inverted as well,
and the excess risk of the interpolator of least norm has a peak, falls, and rises to
that of no model at all.  Ridge regression of the best penalty has no peak.

Nothing is trained here: everything is a property of X, seen at time 0.

Reference: Hastie, Montanari, Rosset & Tibshirani (2022), arXiv:1903.08560; Edelman
(1988), Eigenvalues and condition numbers of random matrices; Barak (2021), Harvard CS
229br, lecture 2.
"""

import functools

import jax
import jax.numpy as jnp
import numpy as np
import xarray as xr
from jaxtyping import PRNGKeyArray
from matplotlib.axes import Axes
from matplotlib.figure import Figure

from simbias.analysis.jackknife_interval import jackknife_interval
from simbias.analysis.mean_interval import mean_interval
from simbias.analysis.median_shares import median_shares
from simbias.analysis.quantile_band import quantile_band
from simbias.checks.values import not_negative, positive_integer
from simbias.claims import difference_of, estimate_of, median_of, statistic_of
from simbias.core import AbstractNetwork, Claim, Dataset, Estimate, Experiment, Real
from simbias.errors import BadInput
from simbias.experiments.linear._spectra import (
    best_ridge,
    kolmogorov,
    least_norm_risk,
    members,
    risk,
    spectrum,
)
from simbias.figures.laws import law_line
from simbias.figures.style import COLOURS, blank, style
from simbias.flows.descent import Descent
from simbias.losses import half_mse
from simbias.measures.linear.gram_eigenvalues import GramEigenvalues
from simbias.measures.linear.ridge_risk import RidgeRisk
from simbias.networks.dense.deep_linear import DeepLinear
from simbias.presets import presets
from simbias.theory.least_eigenvalue import least_eigenvalue
from simbias.theory.marchenko_pastur import marchenko_pastur
from simbias.theory.ridgeless_risk import ridgeless_risk

AXES = ("n", "d")
# d/n at which the spectrum is looked at.
RATIOS = (0.5, 1.0, 2.0)
# Samples from which the spectrum is one of a large matrix.
LARGE = 200
SIGMA = 0.5
NOISE = "noise, σ > 0"
_INPUTS = (4, 8, 16, 24, 32, 38, 40, 42, 48, 80, 100, 200, 400)
# Penalties over d, 0 first; the best is σ², which is one of them.
_PENALTIES = (0.0, *(float(s) for s in SIGMA**2 * 4.0 ** np.arange(-4, 5)))
_RISK = "mean of the inverse Wishart matrix; band ours"
# Of the range in which a median of so many draws lies.
_LEVEL = 0.99


def make(
    key: PRNGKeyArray,
    *,
    n: int = 40,
    d: Real = 40.0,
    width: int = 400,
    sigma: Real = SIGMA,
) -> tuple[Dataset, AbstractNetwork]:
    """A linear teacher of norm 1 on N(0, I), and a linear model that knows nothing.

    Args:
        key: random key.
        n: samples.
        d: inputs, a whole number.  It shapes nothing, so that one program serves all.
        width: of the array that holds them, d at least; the others are 0.
        sigma: standard deviation of the noise.

    Raises:
        ValueError: for a size or number out of range.
    """
    positive_integer("n", n)
    positive_integer("width", width)
    not_negative("sigma", sigma)
    if isinstance(d, float) and d not in range(1, width + 1):
        raise BadInput(
            f"`d` must be a whole number from 1 to width={width}, got {d:g}. "
            f"Example: d={width}."
        )
    key_x, key_noise = jax.random.split(key)
    is_there = (jnp.arange(width, dtype=jnp.float64) < d).astype(jnp.float64)
    x = is_there[None] * jax.random.normal(key_x, (n, width), jnp.float64)
    teacher = is_there / jnp.sqrt(jnp.sum(is_there))
    mean = (x @ teacher)[:, None]
    y = mean + sigma * jax.random.normal(key_noise, (n, 1), jnp.float64)
    data = Dataset(x, y, jnp.ones(n, jnp.float64), mean, teacher[None])
    return data, DeepLinear((jnp.zeros((1, width), jnp.float64),))


experiment = presets(
    Experiment(
        name="random_design",
        make=make,
        cell={"n": (40, 200), "d": tuple(map(float, _INPUTS))},
        seeds=400,
        flow=Descent(),
        loss=half_mse,
        times=(0.0,),
        measures={"spectrum": GramEigenvalues(), "ridge_risk": RidgeRisk(_PENALTIES)},
    ),
    smoke={"cell": {"n": 40, "d": (8.0, 40.0, 80.0), "width": 80}, "seeds": 40},
    paper={
        "cell": {
            "n": (40, 2000),
            "d": tuple(map(float, (*_INPUTS, 1000, 2000, 4000))),
            "width": 4000,
        },
    },
)


def figure(ds: xr.Dataset) -> Figure:
    """Spectra of the largest n, the smallest eigenvalue at d = n, and risks."""
    with style():
        whole = blank(13.0, 7.0)
        panels = whole.subplots(2, 3)
        for axes, ratio in zip(panels[0], RATIOS, strict=True):
            _draw_spectrum(axes, members(ds, int(ds["n"].max()), ratio), ratio)
        sizes = ds["n"].values[[0, -1]]
        for axes, n in zip(panels[1], sizes, strict=False):
            _draw_risk(axes, ds.sel(n=n), int(n))
        _draw_least(panels[1, 2], ds)
    return whole


def claims(ds: xr.Dataset) -> list[Claim]:
    """The law of the spectrum, the risk on both sides of the peak, and ridge."""
    out, largest_n = [], int(ds["n"].max())
    for ratio in RATIOS:
        part = members(ds, largest_n, ratio) if largest_n >= LARGE else None
        text = f"d/n = {ratio:g}: Kolmogorov distance to Marchenko–Pastur"
        seen = Estimate(np.nan, -np.inf, np.inf, "not seen")
        if part is not None:
            law = functools.partial(kolmogorov, ratio=ratio)
            seen = jackknife_interval(law, spectrum(part))
        claim = estimate_of(
            text, seen, (0, 0.02), "Marchenko & Pastur (1967); band ours"
        )
        out.append(claim.given(part is not None, f"n ≥ {LARGE} and d/n = {ratio:g}"))
    for n in map(int, ds["n"].values):
        out += _of_the_least(ds, n)
        out += _of_risk(ds.sel(n=n), n)
        out += _of_the_peak(ds, n)
    return out


def _of_the_least(ds: xr.Dataset, n: int) -> list[Claim]:
    """Medians of what the smallest eigenvalue decides at d = n."""
    if (part := members(ds, n, 1.0)) is None:
        return []
    seen, law = (
        n * spectrum(part)[:, 0] * n,
        float(least_eigenvalue(np.array([0.5]))[0]),
    )
    text = f"n = {n}, d = n: median of n·λmin(XXᵀ), 0.2967 by the law"
    middle = float(np.median(seen))
    low, high = least_eigenvalue(np.array(median_shares(len(seen), level=_LEVEL)))
    source = f"Edelman (1988); band of sampling, {_LEVEL:.0%}"
    found = statistic_of(text, middle, (low, high), source)
    alone = float(part["sigma"]) ** 2 * n / law
    text = f"n = {n}, d = n: median risk over σ²n/0.2967, of the least eigenvalue alone"
    over = least_norm_risk(part) / alone if alone else []
    peak = median_of(text, over, (1, np.inf), "Edelman (1988)")
    return [found, peak.given(alone > 0, NOISE)]


def _of_risk(ds: xr.Dataset, n: int) -> list[Claim]:
    """Mean risk over its law on either side, where it has a mean and a variance."""
    out, sides = [], {"d < n": [], "d > n": []}
    sigma = float(ds["sigma"])
    for d in map(int, ds["d"].values):
        if abs(d - n) <= 3:
            continue
        law = sum(ridgeless_risk(n, d, sigma=sigma))
        # Without noise there is none for d < n, to divide by.
        over = least_norm_risk(ds.sel(d=d)) / law if law else []
        sides["d < n" if d < n else "d > n"].append(mean_interval(over))
    for side, seen in sides.items():
        reach = [max(abs(1 - one.low), abs(1 - one.high)) for one in seen]
        if seen:
            text = f"n = {n}, {side}: mean risk over its law, the d farthest from 1"
            farthest = seen[int(np.argmax(reach))]
            claim = estimate_of(text, farthest, (0.9, 1.1), _RISK)
            out.append(claim.given(sigma > 0 or side == "d > n", NOISE))
    return out


def _of_the_peak(ds: xr.Dataset, n: int) -> list[Claim]:
    """Risk at d = n and at d = 2n, of least norm and of the best ridge."""
    peak, beyond = members(ds, n, 1.0), members(ds, n, 2.0)
    if peak is None or beyond is None:
        return []
    text = f"n = {n}: risk at d = n over that at d = 2n, median of pairs"
    ratio = least_norm_risk(peak) / least_norm_risk(beyond)
    ridge = best_ridge(peak).values, best_ridge(beyond).values
    control = f"control, n = {n}: best ridge, risk at d = n less that at d = 2n"
    return [
        median_of(text, ratio, (2, np.inf), "ours").given(
            float(ds["sigma"]) > 0, NOISE
        ),
        difference_of(control, *ridge, (-np.inf, 0), "arXiv:1903.08560, section 5"),
    ]


def _draw_spectrum(axes: Axes, ds: xr.Dataset | None, ratio: float) -> None:
    axes.set_title(f"spectrum of XᵀX/n, d/n = {ratio:g}")
    if ds is None:
        return
    values = spectrum(ds).ravel()
    top = (1 + ratio**0.5) ** 2
    share = min(1, 1 / ratio)
    edges = np.linspace(0, 1.05 * top, 64)
    height = np.histogram(values, edges)[0] / len(values) / np.diff(edges) * share
    axes.stairs(height, edges, fill=True, color=COLOURS[0], alpha=0.4, label="seen")
    x = np.linspace(0, 1.05 * top, 2000)[1:]
    density, _ = marchenko_pastur(x, ratio=ratio)
    law_line(axes, x, density, "Marchenko–Pastur", line="-", colour="black")
    axes.set_ylim(0, 1.15 * min(2.0, density.max()))
    axes.set_xlabel(f"λ, n = {int(ds['n'])}")
    if share < 1:
        axes.plot([], [], " ", label=f"and {1 - share:.0%} at λ = 0")
    axes.legend()


def _draw_risk(axes: Axes, ds: xr.Dataset, n: int) -> None:
    axes.set_title(f"excess risk, n = {n}")
    d, sigma = ds["d"].values, float(ds["sigma"])
    least, ridge = risk(ds).sel(penalty=0.0), [best_ridge(ds.sel(d=one)) for one in d]
    seen = quantile_band(least)
    middle = seen["median"]
    reach = [middle - seen["low"], seen["high"] - middle]
    axes.errorbar(d, middle, reach, fmt="o", ms=3.5, lw=1, label="least norm, median")
    grid = np.unique(np.geomspace(d[0], d[-1], 400).astype(int))
    law = [sum(ridgeless_risk(n, int(one), sigma=sigma)) for one in grid]
    law_line(axes, grid, law, "law of the mean")
    means = [float(one.mean("seed")) for one in ridge]
    axes.plot(d, means, "s-", ms=3, color=COLOURS[1], label="best ridge, mean")
    axes.set_xscale("log")
    axes.set_yscale("log")
    axes.set_xlabel("inputs d")
    axes.legend(loc="upper left")


def _draw_least(axes: Axes, ds: xr.Dataset) -> None:
    axes.set_title("smallest eigenvalue at d = n")
    for i, n in enumerate(map(int, ds["n"].values)):
        if (part := members(ds, n, 1.0)) is not None:
            seen = np.sort(n * n * spectrum(part)[:, 0])
            share = (np.arange(len(seen)) + 0.5) / len(seen)
            axes.plot(seen, share, color=COLOURS[i], lw=1.4, label=f"n = {n}")
    share = np.linspace(0, 0.999, 500)[1:]
    axes.plot(least_eigenvalue(share), share, "k--", lw=0.8, label="Edelman")
    axes.set_xscale("log")
    axes.set_xlim(1e-5, 30)
    axes.set_xlabel("n·λmin(XXᵀ)")
    axes.set_ylabel("share of draws below")
    axes.legend()
