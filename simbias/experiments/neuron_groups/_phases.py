"""The datasets of `condensation`, and the ends of its two phases."""

import dataclasses
import functools
from typing import Literal

import jax
import numpy as np

from simbias.core import Dataset
from simbias.datasets import xor_clusters
from simbias.numerics.exact_numerics import exact_numerics
from simbias.theory.extremal_vectors import extremal_vectors

# The scale at which the second phase is observed.
EPSILON = 0.3
Extremum = Literal["cell", "kink", "generic"]
# Seed of the sample whose largest |G| lies inside a cell, or on a hyperplane; of the
# generic ones the first with it inside a cell.
_SAMPLES: dict[str, int] = {"cell": 2, "kink": 6, "generic": 2}
# How many directions have the largest |G|: mirror images make two of one.
DIRECTIONS: dict[str, int] = {"cell": 2, "kink": 2, "generic": 1}


def sample(extremum: Extremum) -> Dataset:
    """16 points in four loose clusters at 60°, the same for every network.

    Opposite clusters are mirror images, so G(−w) = G(w).  In the generic dataset they
    are not: each cluster has its own noise.
    """
    key = jax.random.key(_SAMPLES[extremum])
    draw = functools.partial(xor_clusters, key, angle=np.pi / 3, sigma=0.3, clip=0.6)
    if extremum != "generic":
        return draw(n=16)
    # Of four clusters with the same 16 points each has four that no other has.
    whole, cluster = draw(n=64), np.arange(16) // 4
    own = np.arange(16) + 16 * cluster
    rows = {k: getattr(whole, k)[own] for k in ("x", "y", "weight", "mean")}
    return dataclasses.replace(whole, **rows)


@functools.cache
def rates(extremum: Extremum) -> tuple[float, float]:
    """λ and λ₂, the two largest values of |G| at which neurons grow, for logistic."""
    with exact_numerics():
        found = extremal_vectors(sample(extremum))
    # The values are those of half_mse; −ℓ'(0) = ½.
    grown = np.unique(np.abs(found.value[found.kind * found.value > 0] / 2).round(12))
    return float(grown[-1]), float(grown[-2])


def first_phase(extremum: Extremum, kappa: float, r: float) -> float:
    """T₁ = (1/λ) ln(r/σ), σ = r^(1 + κ): the fastest neurons have the scale r."""
    return float(kappa * np.log(1 / r) / rates(extremum)[0])


def second_phase(extremum: Extremum, kappa: float, r: float) -> float:
    """T₂ = (1/λ) ln(ε/σ): the fastest neurons have the scale ε, `EPSILON`."""
    log = kappa * np.log(1 / r) + np.log(EPSILON / r)
    return float(log / rates(extremum)[0])
