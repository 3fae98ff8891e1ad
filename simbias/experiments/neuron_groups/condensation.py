"""Condensation: distance of neurons from their early limit, against the scale r.

A network with balanced initialisation σθ₀, σ = r^(1+κ), is observed at T₁ = (1/λ)
ln(r/σ).  Its fastest neurons then have the scale r.  While outputs are small, every
neuron turns to an extremum of the landscape G and grows at the rate |G| there; λ is the
largest rate.  By the theorem the neurons of this rate, the prominent set P, are within
o(r) of r u*ⱼ, and all others have the size o(r).  So the network has few directions, at
every width.  From the scale r to a constant scale ε the clusters stay together.

`theory.early_limit` computes λ, P and u* of every network exactly.  So the errors are
numbers, and their exponents in r are fitted.  λ₂ is the rate of the fastest of the
other neurons.  From the terms that the theorem neglects we derive

    |u − r u*|/r ~ r^min(κ, 2) in P,   |u|/r ~ r^{κ(1 − λ₂/λ)} elsewhere

if the extremum of G lies inside a cell of the hyperplanes w·xᵢ = 0.  If it lies on a
hyperplane, neurons reach this hyperplane in finite time, slide on it and grow exactly
like e^{λt}.  Then only the interaction of the neurons remains, and the first exponent
is 2 for every κ.

In two of the three datasets the classes are mirror images, so the largest |G| is taken
at two opposite directions.  In the third, "generic", it is taken at one.

A seed is an initialisation θ₀, the same for all r, κ and m.

Reference: Tsoy & Konstantinov (2024), arXiv:2405.17299, theorems of the first phase.
The exponents and their bands are ours.  A band is ±0.05; over the r of "quick" this is
a factor of 1.2 in an error.
"""

import dataclasses
import functools
import itertools
from typing import Any

import jax.numpy as jnp
import numpy as np
import xarray as xr
from jaxtyping import PRNGKeyArray

from simbias.claims import Claims, farthest_of, slope_of
from simbias.core import AbstractNetwork, Claim, Dataset, Experiment, Real
from simbias.experiment_presets import presets
from simbias.experiments.neuron_groups._phases import AXES as AXES
from simbias.experiments.neuron_groups._phases import (
    DIRECTIONS,
    Extremum,
    errors,
    first_phase,
    rates,
    sample,
    second_phase,
)
from simbias.figures import Law, Panels, Points
from simbias.flows import ReluFlow
from simbias.losses import logistic
from simbias.measures import EffectiveWidth, NeuronWeights
from simbias.networks import balanced

PAPER = "Tsoy & Konstantinov (2024), arXiv:2405.17299"
DERIVED = f"orders of the terms left out by the theorem of {PAPER}; band ours"
WHERE = {
    "cell": "extremum inside a cell",
    "kink": "extremum on a hyperplane",
    "generic": "extremum inside a cell, generic",
}
# What the ends of the phases depend on.
PHASED = ("extremum", "kappa", "r")


def make(
    key: PRNGKeyArray,
    *,
    r: Real,
    kappa: Real = 1.5,
    m: int = 100,
    extremum: Extremum = "cell",
) -> tuple[Dataset, AbstractNetwork]:
    """The fixed sample, and a balanced network of scale r^(1 + κ).

    Args:
        key: random key of the network.
        r: scale at which the network is observed.
        kappa: κ; the initialisation scale is r^(1 + κ).
        m: width: neurons of a hidden layer.
        extremum: where the largest |G| lies: inside a cell ("cell") or on a hyperplane
            ("kink"), both with a mirror image, or inside a cell and alone ("generic").
    """
    scale = jnp.asarray(r, jnp.float64) ** (1 + jnp.asarray(kappa, jnp.float64))
    return sample(extremum), balanced(key, m=m, d=2, scale=scale)


_sizes = presets(
    Experiment(
        name="condensation",
        make=make,
        cell={
            "extremum": ("cell", "kink", "generic"),
            "kappa": (0.5, 1.5, 3.0),
            "m": (30, 120),
            "r": (0.01, 0.003, 1e-3, 3e-4),
        },
        seeds=3,
        shared=("r", "kappa", "m", "extremum"),
        flow=ReluFlow(rtol=1e-9),
        loss=logistic,
        times=(1.0,),
        measures={
            "neuron_weights": NeuronWeights(),
            "effective_width": EffectiveWidth(share=1e-2),
        },
    ),
    smoke={
        "cell": {"extremum": "cell", "kappa": 1.5, "m": 30, "r": (0.01, 0.003, 0.001)},
        "seeds": 2,
    },
    paper={
        "cell": {"kappa": (0.5, 1.0, 3.0), "m": (50, 2000), "r": (0.01, 1e-3, 1e-4)},
        "seeds": 5,
    },
)


def experiment(preset: str = "quick", **changes: Any) -> Experiment:
    """The experiment; keywords replace values of its cell, or its fields.

    The times are the ends of both phases, for every cell of the grid.  Claims about
    cells that are added later are inconclusive.
    """
    whole = _sizes(preset, **changes)
    if "times" in changes:
        return whole
    as_tuple = lambda v: v if isinstance(v, tuple) else (v,)
    times = {0.0}
    for of in itertools.product(*(as_tuple(whole.cell[k]) for k in PHASED)):
        times |= {first_phase(*of), second_phase(*of)}
    return dataclasses.replace(whole, times=tuple(sorted(times)))


def expected(extremum: Extremum, kappa: float) -> dict[str, float]:
    """Exponents of the terms that the theorem neglects; none for a spread of 0."""
    largest, second = rates(extremum)
    slow = 1 - second / largest
    laws = {
        "prominent": 2.0 if extremum == "kink" else min(kappa, 2.0),
        "others": kappa * slow,
        "others_late": (1 + kappa) * slow,
    }
    return laws | ({} if extremum == "kink" else {"spread": 1 + kappa})


NAMES = {
    "prominent": "|u − r u*|/r in P at T₁",
    "others": "|u|/r of the others at T₁",
    "others_late": "others over P at scale ε",
    "spread": "angle inside a cluster at scale ε",
}


def law_of(name: str, part: xr.Dataset) -> xr.DataArray:
    """R^law through the largest median, for each κ."""
    extremum, seen = part["extremum"].item(), part[name]
    rows: list[xr.DataArray] = []
    for kappa in part["kappa"].values:
        law, r = expected(extremum, float(kappa))[name], part["r"] / part["r"].max()
        rows.append(float(seen.sel(kappa=kappa).median(["seed", "m"]).max()) * r**law)
    return xr.concat(rows, part["kappa"])


def _error(name: str) -> Points:
    """An error against r, the median of each width."""
    return Points(
        lambda part: part[name].median("seed"),
        colour="kappa",
        has_median=False,
        yscale="log",
        title=NAMES[name],
        laws=(Law(functools.partial(law_of, name), "slope of the law", ":"),),
    )


figure = Panels(
    *map(_error, ("prominent", "others")),
    rows="extremum",
    of=errors,
    x="r",
    xlabel="scale r",
    xscale="log",
    names={"extremum": WHERE, "kappa": "κ"},
    size=(5.0, 3.2),
)


def claims(ds: xr.Dataset) -> list[Claim]:
    """The exponents of every error at every width, and the number of directions."""
    found, rows = errors(ds), []
    middle = np.log(found.median("seed", skipna=False))
    x = np.log(found["r"])
    for extremum, kappa, m in itertools.product(
        *(found[k].values for k in ("extremum", "kappa", "m"))
    ):
        where = f"{extremum}, κ = {kappa:g}, m = {m}"
        part = middle.sel(extremum=extremum, kappa=kappa, m=m)
        for name, law in expected(extremum, float(kappa)).items():
            text = f"exponent in r of {NAMES[name]}, {where}"
            band = (law - 0.05, law + 0.05)
            rows.append(slope_of(text, x, part[name], band, DERIVED))
    several = Claims(needs={"two values of r": x.size > 1})
    return [*several.rows(*rows), *_few_directions(ds)]


def _few_directions(ds: xr.Dataset) -> list[Claim]:
    """At scale ε, for the smallest r and the largest κ of the grid."""
    ds = ds.isel(r=0, kappa=-1)
    r, kappa, rows = float(ds["r"]), float(ds["kappa"]), []
    for of in ds["extremum"].values:
        law, late = DIRECTIONS[of], second_phase(of, kappa, r)
        counts = ds["effective_width"].sel(extremum=of)
        counts = counts.sel(time=late, method="nearest")
        text = f"directions at scale ε, any width, {of}, farthest from {law}, "
        text += f"r = {r:g}, κ = {kappa:g}"
        rows.append(farthest_of(text, counts, law, (law, law), PAPER))
    return Claims(needs={"r ≤ 0.01": r <= 0.01}).rows(*rows)
