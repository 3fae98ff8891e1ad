"""Directions that neurons turn to before the loss moves."""

from typing import NamedTuple

import numpy as np
import scipy
from jaxtyping import Float, Int

from simbias.core import Dataset
from simbias.theory._circle import critical_on_circle
from simbias.theory._one_output import check_one_output
from simbias.theory._sphere import critical_on_sphere
from simbias.validation.values import positive_integer

# A sliding neuron is on its hyperplane to rounding; others pass by far wider.
_ON = 1e-9


class ExtremalVectors(NamedTuple):
    """Critical directions of G on the unit sphere, largest |G| first.

    Attributes:
        direction: unit vectors w.
        value: G(w); a neuron that points there grows like exp(|G| t).
        kind: 1 for a local maximum, −1 for a local minimum, 0 for neither: a
            direction that holds neurons on one side and lets go of those on the other.
        found: number of random starts, followed along the alignment flow, that ended
            there; 1 where there are no starts.
    """

    direction: Float[np.ndarray, "v d"]
    value: Float[np.ndarray, " v"]
    kind: Int[np.ndarray, " v"]
    found: Int[np.ndarray, " v"]


def extremal_vectors(
    data: Dataset, *, samples: int = 200, seed: int = 0
) -> ExtremalVectors:
    """KKT points of maximising and of minimising G over the unit sphere.

    G(w) = Σ ω_k y_k (w·x_k)₊ / Σ ω_k,   w ∝ ±D for some D ∈ ∂G(w),   D ≠ 0

    ReLU neurons of small initialisation ascend G where aⱼ > 0 and descend it where
    aⱼ < 0.  G is linear on the cells between the hyperplanes w·x_k = 0, with a convex
    kink at those with y_k > 0 and a concave one at those with y_k < 0, so an extremum
    lies at ±D inside a cell, or on hyperplanes, where the subgradient is set-valued.

    d = 2: exact and complete, by sorting the angles of the hyperplanes.
    Otherwise: those at which neurons grow (maxima with G > 0, minima with G < 0),
    exact each, and complete as far as the random starts reach.

    The scale of G and its clock are those of `half_mse`; `mse` has twice, `logistic`
    half of it, and the directions agree.  Where nothing is active G is flat; that cell
    is not listed.  A linear teacher on x with the law of −x has G(w) → ½ w·Σβ*, which
    leaves ±Σβ* only; the gap closes like √(d/n).  In NumPy, not to be traced.

    Args:
        data: the sample, with one output; padded rows do not count.
        samples: random starts, for d ≠ 2.
        seed: seed of the starts.

    Raises:
        ValueError: if there are several outputs, or no start.

    Reference: Maennel, Bousquet & Gelly (2018), arXiv:1803.08367; Boursier & Flammarion
    (2024), arXiv:2401.10791, extremal vectors.
    """
    check_one_output(data)
    positive_integer("samples", samples)
    x, weight = np.asarray(data.x, float), np.asarray(data.weight, float)
    pull = weight * np.asarray(data.y, float)[:, 0] / weight.sum()
    # A sample without a pull has no kink.
    has_kink = (pull != 0) & (x != 0).any(axis=1)
    x, pull = x[has_kink], pull[has_kink]
    if x.shape[1] == 2:
        direction, kind, found = critical_on_circle(x, pull)
    else:
        starts = np.random.default_rng(seed).normal(size=(samples, x.shape[1]))
        direction, kind, found = critical_on_sphere(x, pull, starts)
    value = np.maximum(direction @ x.T, 0) @ pull
    order = np.argsort(-np.abs(value), kind="stable")
    return ExtremalVectors(direction[order], value[order], kind[order], found[order])


def extremal_residual(data: Dataset, w: Float[np.ndarray, " d"]) -> float:
    """Tangent of the smallest angle between the line of w and a subgradient of G.

    min over D ∈ ∂G(w) of ‖D − (D·ŵ) ŵ‖ / |G(ŵ)|,   G(w) = Σ ω_k y_k (w·x_k)₊ / Σ ω_k

    0 exactly at the extremal vectors with G ≠ 0, in every dimension: the certificate of
    a search.  On a hyperplane (|ŵ·x_k| ≤ 1e-9 ‖x_k‖) the subgradient is an interval,
    and D·ŵ = G(ŵ) for all of it.  Infinite where G(ŵ) = 0.  In NumPy.

    Args:
        data: the sample, with one output; padded rows do not count.
        w: a direction, of any length but 0.

    Raises:
        ValueError: if there are several outputs.

    Reference: Boursier & Flammarion (2024), arXiv:2401.10791, extremal vectors.
    """
    check_one_output(data)
    x, weight = np.asarray(data.x, float), np.asarray(data.weight, float)
    parts = (weight * np.asarray(data.y, float)[:, 0] / weight.sum())[:, None] * x
    unit = w / np.linalg.norm(w)
    side = x @ unit
    is_on = np.abs(side) <= _ON * np.linalg.norm(x, axis=1)
    drive = parts[(side > 0) & ~is_on].sum(axis=0)
    value = float(drive @ unit)
    if value == 0:
        return float("inf")
    across = drive - value * unit
    kinks = parts[is_on & (parts != 0).any(axis=1)]
    if len(kinks):
        size = np.linalg.norm(kinks)
        fit = scipy.optimize.lsq_linear(
            kinks.T / size, -across / size, (0, 1), tol=1e-14
        )
        across = across + fit.x @ kinks
    return float(np.linalg.norm(across) / abs(value))
