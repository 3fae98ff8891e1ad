"""Claims on early alignment: its law, and how it depends on λ, m and n."""

import numpy as np
import xarray as xr

from simbias.analysis.jackknife_interval import jackknife_interval
from simbias.claims import Band, Claims, estimate_of, median_of, statistic_of
from simbias.core import Claim
from simbias.experiments.alignment._alignment import COSINES, aligned_before_exit
from simbias.theory.alignment_law import aligned_share, alignment_time

PAPER = "Boursier & Flammarion (2024), arXiv:2401.10791, early alignment"
REPLY = "authors of arXiv:2410.02348 on OpenReview: n matters through G_n only"
DERIVED = "derived: balanced neurons under a constant drive, see the file"
# |D| of the population.
RATE = 0.5


def ratio(text: str, times: xr.DataArray, axis: str, band: Band, source: str) -> Claim:
    """Ratio of two medians, over the part where it is farthest from 1."""
    values = times.transpose("seed", axis, "part", "neuron").values
    ratio = lambda v: np.divide(*np.nanmedian(v, axis=(0, 2)))
    seen = [jackknife_interval(ratio, values[:, :, i]) for i in range(values.shape[2])]
    farthest = max(seen, key=lambda e: np.nan_to_num(abs(e.value - 1), nan=np.inf))
    return estimate_of(text, farthest, band, source)


def against_law(last: xr.Dataset, where: str) -> list[Claim]:
    """Claims on laws; bands are three standard errors of mean drive, median start."""
    neurons = int(np.isfinite(last["rate"].values).sum())
    drive = _drive_error(last, int(last["n"]) * last.sizes["seed"])
    median = last["time"].isel(scale=0).median(["seed", "neuron"])
    out = []
    for cosine in COSINES:
        law = float(alignment_time(np.array([np.pi / 2]), cosine, RATE)[0])
        start = np.pi / np.sqrt(neurons) / law
        wide = 3 * float(np.hypot(drive, start))
        ratio = float(median.sel(cosine=cosine)) / law
        text = f"median time to cos {cosine} over its law, {where}"
        out.append(statistic_of(text, ratio, (1 - wide, 1 + wide), DERIVED))
    return out


def _drive_error(part: xr.Dataset, samples: int) -> float:
    """Relative standard error of |D| over so many samples, both signs together."""
    return 2 * np.sqrt(((3 + part.attrs["sigma"] ** 2) / 2 - 0.25) / samples / 2)


def against_scale(last: xr.Dataset, small: np.ndarray, where: str) -> list[Claim]:
    """Slopes in ln(1/λ), and the share aligned at the exit, at the largest n."""
    part = last.sel(scale=small, cosine=max(COSINES))
    x = np.log(1 / small)
    x = (x - x.mean()) / (((x - x.mean()) ** 2).sum() or np.nan)
    time, left = (
        part[k].transpose("seed", ..., "scale").values for k in ("time", "exit")
    )
    share = aligned_before_exit(last).sel(scale=small)
    share = share.transpose("seed", "neuron", "scale").values
    least = jackknife_interval(lambda v: float(np.nanmean(v[..., 0])), share)
    slope = jackknife_interval(lambda v: x @ np.nanmedian(v, axis=(0, 1)), time)
    speed = part["rate"].max("neuron").values
    before = f"share aligned before the exit, λ = {small[0]:g}, {where}"
    turn = f"time to cos 0.99 (median), slope in ln(1/λ), {where}"
    leave = "exit time, slope in ln(1/λ) times the largest |G|, median of seeds"
    return [
        estimate_of(before, least, (0.98, 1), PAPER),
        *Claims(needs={"two values of λ": len(small) > 1}).rows(
            estimate_of(turn, slope, (-0.02, 0.02), PAPER),
            median_of(f"{leave}, {where}", (left @ x) * speed, (0.95, 1.05), DERIVED),
        ),
        _against_share(part.isel(scale=-1), share[..., -1], where),
    ]


def _against_share(part: xr.Dataset, share: np.ndarray, where: str) -> Claim:
    """The largest λ; band: three standard errors of the drive and of the neurons."""
    n, d, left = int(part["n"]), int(part["d"]), part["exit"].values
    law = lambda rate: aligned_share(left, max(COSINES), rate, d).mean()
    neurons = int(np.isfinite(share).sum())
    chance = np.sqrt(law(RATE) * (1 - law(RATE)) / neurons)
    drive = _drive_error(part, n * part.sizes["seed"])
    wide = 3 * np.hypot(chance, law(RATE * (1 + drive)) - law(RATE))
    text = f"share aligned before the exit less its law, λ = {float(part['scale']):g}"
    apart = float(np.nanmean(share) - law(RATE))
    return statistic_of(f"{text}, {where}", apart, (-wide, wide), DERIVED)
