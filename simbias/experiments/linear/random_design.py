"""Random design: the spectrum of the sample, and the least-squares peak at d = n.

For n samples of d independent N(0, 1) inputs, the eigenvalues of XᵀX/n follow the law
of Marchenko and Pastur.  At d = n this law reaches 0 and gradient descent is slowest:
the smallest eigenvalue of XXᵀ is of order 1/n.  There the interpolator of least norm
amplifies the noise most, and its excess risk has a peak.  For larger d the risk falls
and then rises to that of w = 0.  Ridge regression with the best penalty has no peak.

Nothing is trained here: all measures are properties of X, taken at time 0.

Reference: Hastie, Montanari, Rosset & Tibshirani (2022), arXiv:1903.08560; Edelman
(1988), Eigenvalues and condition numbers of random matrices; Barak (2021), Harvard CS
229br, lecture 2.
"""

import functools

import jax.numpy as jnp
import numpy as np
import xarray as xr
from jaxtyping import PRNGKeyArray

from simbias.analysis.at import at
from simbias.analysis.jackknife_interval import jackknife_interval
from simbias.analysis.mean_interval import mean_interval
from simbias.analysis.median_shares import median_shares
from simbias.claims import Claims, difference_of, estimate_of, median_of, statistic_of
from simbias.core import AbstractNetwork, Claim, Dataset, Experiment, Real
from simbias.datasets import gaussian_design
from simbias.experiment_presets import presets
from simbias.experiments.linear._spectra import (
    best_ridge,
    kolmogorov,
    least_eigenvalues,
    least_norm_risk,
    members,
    spectrum,
)
from simbias.figures import AxisEnd, Curves, Histogram, Law, Panels
from simbias.flows import Descent
from simbias.losses import half_mse
from simbias.measures import GramEigenvalues, RidgeRisk
from simbias.networks import DeepLinear
from simbias.theory.random_matrices import (
    least_eigenvalue,
    marchenko_pastur,
    ridgeless_risk,
)

AXES = ("n", "d")
# d/n at which the spectrum is shown.
RATIOS = (0.5, 1.0, 2.0)
# Samples from which the spectrum is one of a large matrix.
LARGE = 200
SIGMA = 0.5
NOISE = "noise, σ > 0"
_INPUTS = (4, 8, 16, 24, 32, 38, 40, 42, 48, 80, 100, 200, 400)
# Penalties over d, 0 first; the best one is σ², which is among them.
_PENALTIES = (0.0, *(float(s) for s in SIGMA**2 * 4.0 ** np.arange(-4, 5)))
_SPECTRUM = "Marchenko & Pastur (1967); band ours"
_RISK = "mean of the inverse Wishart matrix; band ours"
# Level of the range in which the median over the seeds lies.
_LEVEL = 0.99


def make(
    key: PRNGKeyArray,
    *,
    n: int = 40,
    d: Real = 40.0,
    width: int = 400,
    sigma: Real = SIGMA,
) -> tuple[Dataset, AbstractNetwork]:
    """A linear teacher of norm 1 on N(0, I), and an untrained linear model.

    Args:
        key: random key.
        n: samples.
        d: inputs, a whole number.  No shape depends on it: one program serves all d.
        width: columns of the array of inputs, d or more; the others are 0.
        sigma: standard deviation of the noise.
    """
    data = gaussian_design(key, n=n, d=d, width=width, sigma=sigma)
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
        }
    },
)


def _spectrum(ratio: float) -> Histogram:
    """Density of the eigenvalues that are not 0, at the largest n, beside the law."""
    edges = np.linspace(0, 1.05 * (1 + ratio**0.5) ** 2, 64)
    x = np.linspace(0, edges[-1], 2000)[1:]
    density, share = marchenko_pastur(x, ratio=ratio)[0], min(1, 1 / ratio)

    def seen(part: xr.Dataset) -> xr.DataArray:
        values = spectrum(part).ravel()
        height = np.histogram(values, edges)[0] / len(values) / np.diff(edges) * share
        return xr.DataArray(height, {"λ": (edges[1:] + edges[:-1]) / 2}, "λ")

    return Histogram(
        seen,
        of=lambda ds: members(ds, int(ds["n"].max()), ratio),
        x=lambda part: seen(part)["λ"],
        xlabel="λ" if share == 1 else f"λ, and {1 - share:.0%} at λ = 0",
        title=f"spectrum of XᵀX/n, n = {{n}}, d/n = {ratio:g}",
        ylim=(0, 1.15 * min(2.0, density.max())),
        laws=(
            Law(
                lambda _: xr.DataArray(density, {"λ": x}, "λ"),
                "Marchenko–Pastur",
                line="-",
                colour="black",
            ),
        ),
    )


def _risks(part: xr.Dataset) -> xr.DataArray:
    names = xr.DataArray(["least norm", "best ridge"], dims="of")
    return xr.concat([least_norm_risk(part), best_ridge(part)], names)


def _law_of_risk(part: xr.Dataset) -> xr.DataArray:
    n, sigma = int(part["n"]), float(part["sigma"])
    first, last = map(float, part["d"].values[[0, -1]])
    grid = np.unique(np.geomspace(first, last, 400).astype(int))
    law = [sum(ridgeless_risk(n, d, sigma=sigma)) for d in grid.tolist()]
    return xr.DataArray(law, {"d": grid}, "d")


def _least(ds: xr.Dataset) -> xr.DataArray:
    """n·λmin(XXᵀ) at d = n, sorted: by n and the share of seeds below."""
    seen = [np.sort(least_eigenvalues(ds.sel(n=n)).values) for n in ds["n"].values]
    share = (np.arange(ds.sizes["seed"]) + 0.5) / ds.sizes["seed"]
    return xr.DataArray(seen, {"n": ds["n"].values, "share": share}, ("n", "share"))


def _edelman(_: xr.Dataset) -> xr.DataArray:
    share = np.linspace(0, 0.999, 500)[1:]
    return xr.DataArray(least_eigenvalue(share), {"share": share}, "share")


figure = Panels(
    *map(_spectrum, RATIOS),
    Curves(
        _risks,
        facet="n",
        x="d",
        colour="of",
        mark="o",
        title="excess risk",
        xlabel="inputs d",
        xscale="log",
        yscale="log",
        laws=(Law(_law_of_risk, "least norm: law of the mean"),),
        # With infinitely many inputs nothing is learned: w = 0, and ‖β*‖ = 1.
        beyond=(AxisEnd(lambda _: xr.DataArray(1.0), "∞"),),
    ),
    Curves(
        _least,
        x=lambda ds: _least(ds)["share"],
        colour="n",
        first_colour=2,
        title="d = n: smallest n·λ(XXᵀ)",
        xlabel="share of draws below",
        yscale="log",
        ylim=(1e-5, 30),
        laws=(Law(_edelman, "Edelman", colour="black"),),
    ),
    across=3,
)


def claims(ds: xr.Dataset) -> list[Claim]:
    """The law of the spectrum, the risk on both sides of the peak, and ridge."""
    rows, largest_n = [], int(ds["n"].max())
    for ratio in RATIOS:
        part = members(ds, largest_n, ratio)
        text = f"d/n = {ratio:g}: Kolmogorov distance to Marchenko–Pastur"
        law = functools.partial(kolmogorov, ratio=ratio)
        seen, source = jackknife_interval(law, spectrum(part)), _SPECTRUM
        row = estimate_of(text, seen, (0, 0.02), source, of=[part["spectrum"]])
        rows.append(row.given(largest_n >= LARGE, f"n ≥ {LARGE}"))
    for n in map(int, ds["n"].values):
        is_noisy = {NOISE: float(ds["sigma"]) > 0}
        rows += _of_the_least(ds.sel(n=n), n, Claims(is_noisy))
        rows += _of_risk(ds.sel(n=n), n, Claims(is_noisy))
        rows += _of_the_peak(ds, n, Claims(is_noisy))
    return rows


def _of_the_least(ds: xr.Dataset, n: int, noisy: Claims) -> list[Claim]:
    """Medians of the smallest eigenvalue at d = n, and of the risk."""
    seen, part = least_eigenvalues(ds), at(ds, "d", n)
    law = float(least_eigenvalue(np.array([0.5]))[0])
    text = f"n = {n}, d = n: median of n·λmin(XXᵀ), 0.2967 by the law"
    low, high = least_eigenvalue(np.array(median_shares(seen.size, level=_LEVEL)))
    source = f"Edelman (1988); band of sampling, {_LEVEL:.0%}"
    # Without noise there is no risk to compare.
    alone = float(ds["sigma"]) ** 2 * n / law or np.nan
    over = f"n = {n}, d = n: median risk over σ²n/0.2967, of the least eigenvalue alone"
    risk = least_norm_risk(part) / alone
    return [
        statistic_of(text, seen.median(skipna=False), (low, high), source),
        *noisy.rows(median_of(over, risk, (1, np.inf), "Edelman (1988)")),
    ]


def _of_risk(ds: xr.Dataset, n: int, noisy: Claims) -> list[Claim]:
    """Mean risk over its law on either side, where mean and variance exist."""
    rows, sides = [], {"d < n": [], "d > n": []}
    sigma = float(ds["sigma"])
    for d in map(int, ds["d"].values):
        if abs(d - n) <= 3:
            continue
        # Without noise the law is 0 for d < n.
        law = sum(ridgeless_risk(n, d, sigma=sigma)) or np.nan
        over = least_norm_risk(ds.sel(d=d)) / law
        sides["d < n" if d < n else "d > n"].append(mean_interval(over))
    for side, seen in sides.items():
        reach = [max(abs(1 - one.low), abs(1 - one.high)) for one in seen]
        if seen:
            text = f"n = {n}, {side}: mean risk over its law, the d farthest from 1"
            farthest = seen[int(np.argmax(reach))]
            row = estimate_of(text, farthest, (0.9, 1.1), _RISK)
            rows += [row] if side == "d > n" else noisy.rows(row)
    return rows


def _of_the_peak(ds: xr.Dataset, n: int, noisy: Claims) -> list[Claim]:
    """Risk at d = n and at d = 2n, of least norm and of the best ridge."""
    peak, beyond = members(ds, n, 1.0), members(ds, n, 2.0)
    text = f"n = {n}: risk at d = n over that at d = 2n, median of pairs"
    ratio = least_norm_risk(peak) / least_norm_risk(beyond)
    ridge = best_ridge(peak), best_ridge(beyond)
    control = f"control, n = {n}: best ridge, risk at d = n less that at d = 2n"
    return [
        *noisy.rows(median_of(text, ratio, (2, np.inf), "ours")),
        difference_of(control, *ridge, (-np.inf, 0), "arXiv:1903.08560, section 5"),
    ]
