"""Laws of the modes of deep linear networks, and the claims on them."""

from itertools import pairwise

import numpy as np
import xarray as xr

from simbias.analysis.first_passage import first_passage
from simbias.claims import farthest_of, largest_of, smallest_of
from simbias.core import Claim
from simbias.experiments.linear._deep_linear import STRENGTHS
from simbias.theory.mode_strength import mode_strength, mode_time

# Only the abstracts of the papers could be read; the laws are derived on the page.
SAXE = "Saxe, McClelland & Ganguli (2014), arXiv:1312.6120 (?)"
STEPS = "Arora, Cohen, Hu & Luo (2019), arXiv:1905.13655 (?); the band is ours"
S = xr.DataArray(np.array(STRENGTHS), dims="mode")
# Share of s from which the rise of a mode of more than two layers is timed.
FROM = 0.1


def levels() -> list[float]:
    """Effective rank of the matrix of the first, the first two, … modes."""
    out = []
    for count in range(1, len(STRENGTHS) + 1):
        p = np.array(STRENGTHS[:count]) / sum(STRENGTHS[:count])
        out.append(float(np.exp(-np.sum(p * np.log(p)))))
    return out


def passages(part: xr.Dataset, level: float) -> xr.DataArray:
    """Times at which each mode reaches a share of its strength, by mode and seed.

    Between records ln u/(s − u) is interpolated linearly, exact for two layers.
    """
    # Rounding can take a mode past s; a random initialisation can be below 0.
    u = part["strengths"].clip(np.finfo(float).tiny, S * (1 - np.finfo(float).eps))
    share = u / S
    logit = xr.ufuncs.log(share / (1 - share))
    return first_passage(logit, float(np.log(level / (1 - level))))


def ratios(times: xr.DataArray) -> xr.DataArray:
    """Time of each mode but the first, divided by that of the mode before it."""
    before = times.isel(mode=slice(None, -1))
    # Modes that are learned from the beginning have no order.
    return times.isel(mode=slice(1, None)) / before.where(before > 0)


def law_of_strengths(
    part: xr.Dataset, first: xr.DataArray, depth: int, clock: float = 1.0
) -> xr.DataArray:
    """Strengths over time by the law, from the median of `first` over the seeds.

    NaN for a mode that does not begin between 0 and s.
    """
    middle = first.median("seed")
    is_inside = (first.min("seed") > 0) & (middle < S)
    law = np.full((len(STRENGTHS), part.sizes["time"]), np.nan)
    for i in np.flatnonzero(is_inside.values):
        time, u0 = clock * part["time"].values, float(middle[i])
        law[i] = mode_strength(time, u0, STRENGTHS[i], depth)
    return xr.DataArray(law, {"time": part["time"].values}, ("mode", "time"))


def one_matrix(part: xr.Dataset, name: str) -> list[Claim]:
    """The control: N = 1 learns all modes at one rate."""
    last, rank = levels()[-1], part["effective_rank"]
    late = rank.isel(time=rank["time"].values >= 0.1)
    escape = f"{name} (control): ratio of the next mode's escape time, farthest from 1"
    stays = f"{name} (control): effective rank from t = 0.1 on, farthest"
    return [
        farthest_of(escape, ratios(passages(part, 0.5)), 1, (0.99, 1.01), SAXE),
        farthest_of(stays, late, last, (last - 0.05, last + 0.05), STEPS),
    ]


def layers(part: xr.Dataset, depth: int, name: str) -> list[Claim]:
    """Modes follow the law from a small initialisation, the largest first."""
    half = passages(part, 0.5)
    text, seen = f"{name}: escape time over (τ/2s) ln(s/u₀)", half
    law = xr.ufuncs.log(S / part["early_strengths"].isel(time=0)) / 2 / S
    if depth > 2:
        text = f"{name}: time from s/10 to s/2 over quadrature"
        seen = half - passages(part, FROM)
        times = [float(mode_time(s / 2, FROM * s, s, depth)) for s in STRENGTHS]
        law = S.copy(data=times)
    source = f"{SAXE}; the band is ours"
    order = f"{name}: ratio of the next mode's escape time, smallest"
    near = f"{name}: how near the effective rank comes to each step, relative, largest"
    return [
        farthest_of(f"{text}, farthest", seen / law, 1, (0.95, 1.05), source),
        smallest_of(order, ratios(half), (1, np.inf), SAXE),
        largest_of(near, _gaps(part["effective_rank"], half), (0, 0.05), STEPS),
    ]


def _gaps(rank: xr.DataArray, half: xr.DataArray) -> xr.DataArray:
    """How near the rank comes to each level between the escapes of two modes."""
    ends = [*(half.isel(mode=i) for i in range(len(STRENGTHS))), np.inf]
    gaps = []
    for level, (begin, end) in zip(levels(), pairwise(ends), strict=True):
        inside = (rank["time"] > begin) & (rank["time"] < end)
        far = (abs(rank - level) / level).where(inside, np.inf).min("time")
        # NaN for a network that failed.
        gaps.append(far.where(rank.notnull().all("time")))
    return xr.concat(gaps, "mode")  # pyright: ignore[reportReturnType]
