"""What is claimed of deep linear networks, one function per phenomenon and depth."""

from itertools import pairwise

import numpy as np
import xarray as xr

from simbias.analysis.first_passage import first_passage
from simbias.claims import farthest_of, largest_of, smallest_of
from simbias.core import Claim
from simbias.experiments.linear._deep_linear import STRENGTHS
from simbias.theory.mode_strength import mode_time

# The texts of the papers could not be read but for their abstracts; the laws are
# derived on the page.
SAXE = "Saxe, McClelland & Ganguli (2014), arXiv:1312.6120 (?)"
ARORA = "Arora, Cohen & Hazan (2018), arXiv:1802.06509 (?)"
STEPS = "Arora, Cohen, Hu & Luo (2019), arXiv:1905.13655 (?); the band is ours"
OURS = "ours"
# Share of s from which the rise of a mode of more than two layers is timed.
FROM = 0.1


def chosen(ds: xr.Dataset, start: str, depth: int) -> xr.Dataset | None:
    """The members of one start and depth, over `seed`; None if they are not there."""
    if start not in ds["start"].values or depth not in ds["depth"].values:
        return None
    return ds.sel(start=start, depth=depth)


def levels() -> list[float]:
    """Effective rank of the matrix of the first, the first two, … modes."""
    out = []
    for count in range(1, len(STRENGTHS) + 1):
        p = np.array(STRENGTHS[:count]) / sum(STRENGTHS[:count])
        out.append(float(np.exp(-np.sum(p * np.log(p)))))
    return out


def modes(ds: xr.Dataset, depth: int) -> list[Claim]:
    """When modes escape from a small start: by the law, and the largest first."""
    part = chosen(ds, "small", depth)
    if part is None:
        return []
    half = passages(part, 0.5)
    # Modes that are there from the beginning have no order.
    ratio = half[1:] / np.where(half[:-1] > 0, half[:-1], np.nan)
    name = f"N = {depth}, small start"
    if depth == 1:
        text = (
            f"{name} (control): ratio of the next mode's escape time, farthest from 1"
        )
        return [farthest_of(text, ratio, 1, (0.99, 1.01), SAXE)]
    s = np.array(STRENGTHS)[:, None]
    if depth == 2:
        u0 = part["early_strengths"].isel(time=0).transpose("mode", "seed").values
        text, law = f"{name}: escape time over (τ/2s) ln(s/u₀)", np.log(s / u0) / 2 / s
        seen = half
    else:
        text, seen = f"{name}: time from s/10 to s/2 over quadrature", half
        seen = half - passages(part, FROM)
        law = np.array(
            [[mode_time(v / 2, FROM * v, v, depth)] for v in STRENGTHS], np.float64
        )
    return [
        farthest_of(
            f"{text}, farthest",
            seen / law,
            1,
            (0.95, 1.05),
            f"{SAXE}; the band is ours",
        ),
        smallest_of(
            f"{name}: ratio of the next mode's escape time, smallest",
            ratio,
            (1, np.inf),
            SAXE,
        ),
    ]


def steps(ds: xr.Dataset, depth: int) -> list[Claim]:
    """The effective rank of the product rests at that of the modes learned so far."""
    part = chosen(ds, "small", depth)
    if part is None:
        return []
    rank, time = part["effective_rank"].transpose("seed", "time").values, part["time"]
    name = f"N = {depth}, small start"
    if depth == 1:
        text = f"{name} (control): effective rank from t = 0.1 on, farthest"
        last = levels()[-1]
        seen = rank[:, time.values >= 0.1]
        return [farthest_of(text, seen, last, (last - 0.05, last + 0.05), STEPS)]
    ends = [*passages(part, 0.5), np.full(len(rank), np.inf)]
    gaps = []
    for level, (begin, end) in zip(levels(), pairwise(ends), strict=True):
        inside = (time.values > begin[:, None]) & (time.values < end[:, None])
        far = np.where(inside, abs(rank - level) / level, np.inf)
        # Of a member that failed nothing is known.
        gaps.append(np.where(np.isnan(rank).any(axis=1), np.nan, far.min(axis=1)))
    text = f"{name}: how near the effective rank comes to each step, relative, largest"
    return [largest_of(text, gaps, (0, 0.05), STEPS)]


def without_balance(ds: xr.Dataset, depth: int) -> list[Claim]:
    """The law of the product of balanced layers is not that of others."""
    part = chosen(ds, "unbalanced", depth)
    if part is None or depth == 1:
        return []
    worst = part["end_to_end"].sel(law="velocity").max("time")
    text = f"N = {depth}, unbalanced start (control): |Ẇ + ψ(∇)|/|Ẇ| at its most"
    return [smallest_of(f"{text}, least member", worst, (0.05, np.inf), OURS)]


def same_minimum(ds: xr.Dataset) -> Claim:
    """Where the linear model ends, N = 1, all end."""
    last = ds["train_loss"].isel(time=-1)
    text = (
        "every start and depth: |W − M| at the end, M that of the linear model, largest"
    )
    return largest_of(text, np.sqrt(2 * last), (0, 1e-6), ARORA)


def passages(part: xr.Dataset, level: float) -> np.ndarray:
    """Times at which each mode reaches a share of its strength, (mode, seed).

    Between records ln u/(s − u) is taken as linear, which it is for two layers.
    """
    out = []
    for i, s in enumerate(STRENGTHS):
        u = part["strengths"].isel(mode=i)
        # Rounding takes a mode past s, and a random start below 0.
        share = u.clip(np.finfo(float).tiny, s * (1 - np.finfo(float).eps)) / s
        logit = share.copy(data=np.log(share.values / (1 - share.values)))
        found = first_passage(logit, float(np.log(level / (1 - level))))
        out.append(found.transpose("seed").values)
    return np.stack(out)
