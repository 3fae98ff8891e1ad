"""Number of extremal vectors of one sign beyond the plane: (1 + σ/π)^{d − 1}.

Near ±β* and on the scale of 1/n, G is a paraboloid that a Poisson process of
hyperplanes creases.  A maximum lies in a cell or on j of the hyperplanes, all of them
concave, and levels of the gradient can be counted in every dimension:

    E = Σⱼ C(d − 1, j) (σ/π)ʲ = (1 + σ/π)^{d − 1}      (n → ∞, ‖β*‖ = 1)

Nothing is trained: a member is a sample, in which maxima are searched for from random
starts.  What no start reaches is not counted, so that the numbers are lower bounds: an
interval that ends below the law is the search's or the law's, and the claims cannot
tell which.  On d = 3 `benchmarks/extremal_restarts.py` has the complete lists.

Reference: Boursier & Flammarion (2024), arXiv:2410.02348, extremal vectors of finite
samples; the law is ours, derived in docs/alignment/extremal_count.md.
"""

import jax
import numpy as np
import xarray as xr
from jaxtyping import PRNGKeyArray
from matplotlib.figure import Figure

from simbias.claims import mean_of
from simbias.core import AbstractNetwork, Claim, Dataset, Experiment, Real
from simbias.datasets import gaussian_teacher
from simbias.experiment_presets import presets
from simbias.experiments._draws import samples
from simbias.figures import law_line
from simbias.figures.style import COLOURS, blank, style
from simbias.flows import Descent
from simbias.losses import half_mse
from simbias.measures import TrainRisk
from simbias.networks import balanced
from simbias.theory.extremal_count import extremal_count, extremal_count_at
from simbias.theory.extremal_vectors import extremal_vectors

# What the figure and the claims read.
AXES = ("sigma", "d", "n")
DERIVED = "derived in docs/alignment/extremal_count.md; band ours"
_MEMBER = (*AXES, "seed")
_SIGNS = (1, -1)
# Random starts of the search, fixed so that a stored check can be repeated.
STARTS = 200


def make(
    key: PRNGKeyArray, *, n: int = 400, d: int = 3, sigma: Real = 0.3
) -> tuple[Dataset, AbstractNetwork]:
    """A linear teacher with noise, and a neuron with nothing to do."""
    key_data, key_network = jax.random.split(key)
    data = gaussian_teacher(key_data, n=n, d=d, sigma=sigma, n_test=1)
    return data, balanced(key_network, m=1, d=d)


experiment = presets(
    Experiment(
        name="extremal_count_space",
        make=make,
        cell={"d": (3, 5), "sigma": (0.0, 0.3, 1.0)},
        seeds=150,
        flow=Descent(),
        loss=half_mse,
        times=(0.0,),
        measures={"train_risk": TrainRisk()},
    ),
    smoke={"cell": {"n": 100, "d": 3, "sigma": 0.3}, "seeds": 10},
    paper={
        "cell": {"n": (400, 1600), "d": (3, 5, 8), "sigma": (0.0, 0.1, 0.3, 1.0, 3.0)},
        "seeds": 1000,
    },
)


def found(ds: xr.Dataset) -> xr.Dataset:
    """`count` of maxima that 200 starts find; NaN if missing.

    Over (sigma, d, n, seed, sign of aⱼ).
    """
    is_there = ds["train_risk"].isel(time=0).transpose(*_MEMBER).notnull()
    seen = np.full((*is_there.shape, len(_SIGNS)), np.nan)
    for place, _, data in samples(ds, experiment("smoke"), is_there):
        listed = extremal_vectors(data, samples=STARTS)
        for k, sign in enumerate(_SIGNS):
            seen[(*place, k)] = (
                (listed.kind == sign) & (sign * listed.value > 0)
            ).sum()
    axes = (*_MEMBER, "sign")
    coords = {k: ds[k].values for k in _MEMBER} | {"sign": [*_SIGNS]}
    return xr.Dataset({"count": (axes, seen)}, coords)


def figure(ds: xr.Dataset) -> Figure:
    """Mean number against σ for every d, and what is rare of it."""
    seen = found(ds).isel(n=-1)
    n, sigma = int(seen["n"]), seen["sigma"].values
    grid = np.linspace(0, 1.05 * float(sigma.max()) + 0.05, 60)
    with style():
        whole = blank(9.0, 3.8)
        numbers, shares = whole.subplots(1, 2)
        for i, d in enumerate(map(int, seen["d"].values)):
            colour, part = COLOURS[i % len(COLOURS)], seen["count"].sel(d=d)
            per_draw = part.mean("sign").transpose("sigma", "seed").values
            there = np.isfinite(per_draw).sum(axis=1)
            reach = 1.96 * np.nanstd(per_draw, axis=1, ddof=1) / there**0.5
            dots = {"fmt": "o", "ms": 4, "capsize": 2, "lw": 1, "color": colour}
            middle = np.nanmean(per_draw, axis=1)
            numbers.errorbar(sigma, middle, reach, label=f"d = {d}", **dots)
            at_n = [extremal_count_at(n, one, d=d) for one in grid]
            law_line(numbers, grid, at_n, colour=colour)
            limit = [extremal_count(d, one) for one in grid]
            law_line(numbers, grid, limit, colour=colour, line=":")
            top = part.sel(sigma=sigma[-1]).values
            top = top[np.isfinite(top)].astype(int)
            share = np.bincount(top) / len(top)
            shares.plot(np.arange(len(share)), share, "o-", ms=4, lw=1, color=colour)
        numbers.plot([], [], "--", color="grey", lw=1, label="law at n")
        numbers.plot([], [], ":", color="grey", lw=1, label="(1 + σ/π)^(d − 1)")
        numbers.set_title(f"extremal vectors found per sign, mean, n = {n}")
        numbers.set_xlabel("noise σ")
        numbers.legend()
        shares.set_title(f"share of the signs with so many, σ = {sigma[-1]:g}")
        shares.set_xlabel("extremal vectors found of a sign")
    return whole


def claims(ds: xr.Dataset) -> list[Claim]:
    """The mean number that is found, over its law, at every d and σ."""
    seen, out = found(ds).isel(n=-1), []
    n = int(seen["n"])
    for d in map(int, seen["d"].values):
        for sigma in map(float, seen["sigma"].values):
            count = seen["count"].sel(d=d, sigma=sigma).mean("sign", skipna=False)
            expected = extremal_count_at(n, sigma, d=d)
            control = "" if sigma else "control, "
            text = (
                f"{control}extremal vectors per sign over {expected:.4f}, "
                f"d = {d}, σ = {sigma:g}, n = {n}, a lower bound"
            )
            claim = mean_of(text, count / expected, (0.85, 1.15), DERIVED)
            out.append(claim.given(n >= 400, "n ≥ 400"))
    return out
