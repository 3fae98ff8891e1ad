"""Number of extremal vectors of one sign beyond the plane: (1 + σ/π)^{d − 1}.

Near ±β* and on the scale of 1/n, G is a paraboloid with creases along a Poisson process
of hyperplanes.  A maximum lies in a cell or on j of the hyperplanes, all of them
concave.  Levels of the gradient can be counted in every dimension:

    E = Σⱼ C(d − 1, j) (σ/π)ʲ = (1 + σ/π)^{d − 1}      (n → ∞, ‖β*‖ = 1)

Nothing is trained.  For each dataset, maxima are searched from random initial
directions.  The search may miss some, so the numbers are lower bounds.  If an interval
ends below the law, either the search missed some or the law is too large; the claims
cannot decide which.  For d = 3, `benchmarks/extremal_restarts.py` has complete lists.

Reference: Boursier & Flammarion (2024), arXiv:2410.02348, extremal vectors of finite
samples; the law is ours, derived in docs/alignment/extremal_count.md.
"""

import itertools

import jax
import numpy as np
import xarray as xr
from jaxtyping import PRNGKeyArray

from simbias.claims import Claims, mean_of
from simbias.core import AbstractNetwork, Claim, Dataset, Experiment, Real
from simbias.datasets import gaussian_teacher
from simbias.experiment_presets import presets
from simbias.experiments._draws import samples
from simbias.figures import Curves, Estimates, Law, Panels, means
from simbias.flows import Descent
from simbias.losses import half_mse
from simbias.measures import TrainRisk
from simbias.networks import balanced
from simbias.theory.extremal_count import extremal_count, extremal_count_at
from simbias.theory.extremal_vectors import extremal_vectors

AXES = ("sigma", "d", "n")
DERIVED = "derived in docs/alignment/extremal_count.md; band ours"
# Random starts of the search, fixed so that a stored check can be repeated.
STARTS = 200


def make(
    key: PRNGKeyArray, *, n: int = 400, d: int = 3, sigma: Real = 0.3
) -> tuple[Dataset, AbstractNetwork]:
    """A linear teacher with noise, and one neuron that is not used."""
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


def found(ds: xr.Dataset) -> xr.DataArray:
    """Number of maxima found from 200 initial directions; NaN if missing.

    Over (sigma, d, n, seed, sign of aⱼ).
    """
    axes = (*AXES, "seed")
    is_there = ds["train_risk"].isel(time=0).transpose(*axes).notnull()
    seen = (
        xr.full_like(is_there, np.nan, float).expand_dims(sign=[1, -1], axis=-1).copy()
    )
    for place, _, data in samples(ds, experiment("smoke"), is_there):
        listed = extremal_vectors(data, samples=STARTS)
        seen[place] = [
            ((listed.kind == sign) & (sign * listed.value > 0)).sum()
            for sign in (1, -1)
        ]
    return seen.drop_vars("time", errors="ignore")


def drawn(ds: xr.Dataset) -> xr.Dataset:
    """Mean numbers and their distribution at the largest n, and the laws."""
    seen = found(ds).isel(n=-1)
    d, sigma, n = seen["d"].values.tolist(), seen["sigma"].values, int(seen["n"])
    noise = np.linspace(0, 1.05 * float(sigma.max()) + 0.05, 60)
    at_n = [[extremal_count_at(n, one, d=k) for one in noise] for k in d]
    limit = [[extremal_count(k, one) for one in noise] for k in d]
    last = seen.isel(sigma=-1).stack(each=("seed", "sign"), create_index=False)
    counts = np.arange(int(last.max()) + 1)
    shares = [(last == k).sum("each") / last.notnull().sum("each") for k in counts]
    return xr.Dataset(
        {
            "mean": means(seen.mean("sign", skipna=False)),
            "shares": xr.concat(shares, "number"),
            "at_n": (("d", "noise"), at_n),
            "limit": (("d", "noise"), limit),
        },
        {"number": counts, "noise": noise, "largest": n, "most": sigma[-1]},
    )


figure = Panels(
    Estimates(
        "mean",
        colour="d",
        title="extremal vectors found per sign, mean, n = {largest}",
        x="sigma",
        xlabel="noise σ",
        laws=(Law("at_n", "law at n"), Law("limit", "(1 + σ/π)^(d − 1)", ":")),
    ),
    Curves(
        "shares",
        colour="d",
        mark="o",
        title="share of the signs with so many, σ = {most:g}",
        x="number",
        xlabel="extremal vectors found of a sign",
    ),
    of=drawn,
)


def claims(ds: xr.Dataset) -> list[Claim]:
    """The mean number found over its law, at every d and σ."""
    seen, out = found(ds).isel(n=-1), []
    n = int(seen["n"])
    for d, sigma in itertools.product(seen["d"].values, seen["sigma"].values):
        count = seen.sel(d=d, sigma=sigma).mean("sign", skipna=False)
        expected = extremal_count_at(n, float(sigma), d=int(d))
        text = f"extremal vectors per sign over {expected:.4f}, d = {d}, "
        text += f"σ = {sigma:g}, n = {n}, a lower bound"
        text = text if sigma else f"control, {text}"
        out.append(mean_of(text, count / expected, (0.85, 1.15), DERIVED))
    return Claims({"n ≥ 400": n >= 400}).rows(*out)
