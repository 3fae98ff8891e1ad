"""White noise in labels is learned last: the test error has its minimum before.

White noise has as much power at every frequency.  A target of low frequencies is fitted
before most of it is, and the network is nearest to the law when it knows the target and
little of the noise.

Reference: Rahaman et al. (2019), On the spectral bias of neural networks,
arXiv:1806.08734; on wrong labels Zhang, Xiong & Wu (2021), arXiv:2004.13954.
"""

from itertools import pairwise
from typing import Any

import jax
import jax.numpy as jnp
import numpy as np
import xarray as xr
from jaxtyping import PRNGKeyArray
from matplotlib.figure import Figure

from simbias.analysis.rank_correlation import rank_correlation
from simbias.checks.values import not_negative
from simbias.claims import difference_of, mean_of, smallest_of
from simbias.core import AbstractNetwork, Claim, Dataset, Experiment, Real
from simbias.experiments.spectrum._octaves import (
    COUNT,
    FINER,
    Bands,
    check_points,
    high_share,
)
from simbias.experiments.spectrum._waves import (
    RAHAMAN,
    places,
    times_to,
)
from simbias.figures.band import band
from simbias.figures.laws import law_level
from simbias.figures.style import COLOURS, blank, style
from simbias.flows.descent import Descent
from simbias.losses import mse
from simbias.measures.risk.excess_risk import ExcessRisk
from simbias.measures.risk.train_risk import TrainRisk
from simbias.networks.dense.mlp_init import torch_default
from simbias.presets import presets

AXES = ("noise",)
RATE = 1e-3
ZHANG = "Zhang, Xiong & Wu (2021), arXiv:2004.13954"
# Steps from which on noise is claimed to be learned.
LONG = 16_000
# Of σ², below which noise counts as fitted; of a peak, below which an error has fallen.
FITTED, FALLEN = 0.05, 0.8


def make(
    key: PRNGKeyArray,
    *,
    noise: Real = 0.5,
    m: int = 64,
    depth: int = 5,
    n: int = 64,
) -> tuple[Dataset, AbstractNetwork]:
    """The sample y = Σ sin(2πkx + φ_k) + σ ξ at x = i/n, k = 1, 2, 3, and a net.

    The test sample has four points for each of these, at x = (i + ½)/4n, and noise of
    its own.

    Args:
        key: random key, of the phases, the noise and the network.
        noise: σ, the deviation of the noise; ξ ~ N(0, 1).
        m: width.
        depth: hidden layers.
        n: points, even, more than 16.

    Raises:
        ValueError: for a size or number out of range.
    """
    check_points("n", n)
    not_negative("noise", noise)
    key_phase, key_noise, key_network = jax.random.split(key, 3)
    phase = jax.random.uniform(key_phase, (COUNT,), jnp.float64, maxval=2 * jnp.pi)
    k = jnp.arange(1.0, COUNT + 1)

    def sample(key, x, test=None):
        angle = 2 * jnp.pi * x[:, None] * k[None, :] + phase[None, :]
        target = jnp.sin(angle).sum(axis=1, keepdims=True)
        y = target + noise * jax.random.normal(key, target.shape, jnp.float64)
        one = jnp.ones(len(x))
        return Dataset(x[:, None], y, one, target, jnp.eye(1), test)

    key_train, key_test = jax.random.split(key_noise)
    grid = lambda n, start: (jnp.arange(n, dtype=jnp.float64) + start) / n
    test = sample(key_test, grid(FINER * n, 0.5))
    data = sample(key_train, grid(n, 0.0), test)
    return data, torch_default(key_network, d=1, m=m, depth=depth)


def _times(steps: int, count: int) -> tuple[float, ...]:
    every = np.unique(np.round(np.geomspace(4, steps, count)))
    return (0.0, *(RATE * every).tolist())


def _measures(n: int) -> dict[str, Any]:
    return {
        "bands": Bands(n),
        "high": high_share,
        "train": TrainRisk(),
        "excess": ExcessRisk(),
    }


experiment = presets(
    Experiment(
        name="spectral_white_noise",
        make=make,
        cell={"noise": (0.0, 0.5)},
        seeds=20,
        flow=Descent(rate=RATE, optimiser="adam"),
        loss=mse,
        times=_times(LONG, 60),
        measures=_measures(64),
        dtype="float32",
    ),
    smoke={
        "cell": {"m": 32, "depth": 2, "n": 32},
        "seeds": 6,
        "times": _times(1000, 15),
        "measures": _measures(32),
    },
    paper={
        "cell": {"noise": (0.0, 0.25, 0.5, 1.0), "m": 256},
        "times": _times(4 * LONG, 80),
    },
)


def share_learned(ds: xr.Dataset) -> xr.DataArray:
    """Of the labels' part in every octave; without noise there is the first alone."""
    bands = ds["bands"]
    if float(ds["noise"]) == 0:
        bands = bands.isel(octave=[0])
    return bands.sel(part="learned", drop=True) / bands.sel(part="whole", drop=True)


def share_of_noise(ds: xr.Dataset) -> xr.DataArray:
    """Share of the labels' part above the target's frequencies that is learned."""
    above = ds["bands"].isel(octave=slice(1, None)).sum("octave", skipna=False)
    return above.sel(part="learned", drop=True) / above.sel(part="whole", drop=True)


def best_time(ds: xr.Dataset) -> int:
    """Place of the record at which the mean excess risk over the seeds is least."""
    return int(ds["excess"].mean("seed").argmin("time"))


def of_interpolation() -> float:
    """Excess risk over σ² of the line from label to label, beside the target's own.

    (1 − u)² + u² at the share u of the way, mean over the test inputs.
    """
    u = (np.arange(FINER) + 0.5) / FINER
    return float(((1 - u) ** 2 + u**2).mean())


def _by_step(ds: xr.Dataset) -> xr.Dataset:
    """Over numbers of steps in the place of time."""
    return ds.assign_coords(time=np.round(ds["time"].values / RATE))


def figure(ds: xr.Dataset) -> Figure:
    """What is learned of every octave, errors with noise and without, high shares."""
    # Step 0 has no place on an axis of logarithms.
    ds = _by_step(ds).isel(time=slice(1, None))
    x, levels = ds["time"].values, ds["noise"].values
    noisy = ds.isel(noise=-1)
    with style():
        whole = blank(4.2 * (2 + len(levels)), 3.8)
        first, *others, last = whole.subplots(1, 2 + len(levels))
        seen = share_learned(noisy)
        for name, colour in zip(seen["octave"].values, COLOURS, strict=False):
            share = seen.sel(octave=name)
            band(first, x, share, colour=colour, label=f"k = {name}")
        first.set(ylim=(-0.1, 1.2))
        first.set_title(f"σ = {levels[-1]:g}: share of the labels learned")
        for axes, noise, colour in zip(others, levels, COLOURS, strict=False):
            part = ds.sel(noise=noise)
            for name, line in (("train", "--"), ("excess", "-")):
                band(axes, x, part[name], line, colour=colour, label=_ERRORS[name])
            if noise > 0:
                law_level(axes, noise**2, "σ²")
                law = of_interpolation() * noise**2
                law_level(axes, law, "lines from label to label", ls="-.")
            axes.set(yscale="log")
            axes.set_title(f"σ = {noise:g}: errors")
            label = f"σ = {noise:g}"
            band(last, x, part["high"], colour=colour, label=label)
        last.set(ylim=(0, None))
        last.set_title(f"share of f above k = {COUNT}")
        for axes in (first, *others, last):
            axes.set(xscale="log", xlabel="step")
            axes.legend()
    return whole


_ERRORS = {"train": "to the labels, in training", "excess": "to the law, on the test"}


def claims(ds: xr.Dataset) -> list[Claim]:
    """The order of octaves, the minimum before noise is learned; without noise none."""
    out, ds = [], _by_step(ds)
    is_long, long = ds["time"].values[-1] >= LONG, f"{LONG} steps"
    noisy = [ds.sel(noise=v) for v in ds["noise"].values if v > 0]
    for part in noisy:
        out += _one_by_one(part, f"σ = {float(part['noise']):g}")
        out += [c.given(is_long, long) for c in _with_noise(part)]
    for part in (ds.sel(noise=v) for v in ds["noise"].values if v == 0):
        place = best_time(noisy[0]) if noisy else 0
        text = "control, no noise: excess risk at the end less that at the same step"
        then, source = part["excess"].isel(time=place), "ours: the target alone"
        found = difference_of(text, _end(part["excess"]), then, (-np.inf, 0), source)
        out.append(found.given(bool(noisy), "a run with noise").given(is_long, long))
        text = f"control, no noise: share of f above k = {COUNT} at the end"
        out.append(
            mean_of(text, _end(part["high"]), (0, 0.01), "ours").given(is_long, long)
        )
    return out


def _with_noise(part: xr.Dataset) -> list[Claim]:
    sigma = float(part["noise"])
    where, place = f"σ = {sigma:g}", best_time(part)
    best, end = part.isel(time=place), part.isel(time=-1)
    at = f"step {int(best['time'])}"
    rho = rank_correlation(places(share_learned(part)), "octave")
    late = times_to(share_of_noise(part)) / times_to(share_learned(part)).isel(octave=0)
    order = f"{where}: rank correlation of octave and the time to half"
    ratio = f"{where}: excess risk at its least, {at}, over that at the end"
    rest = f"{where}: training error over σ² at {at}"
    grown = f"{where}: share of f above k = {COUNT}, end less {at}"
    out = [
        smallest_of(
            f"{order}, least of all nets", rho, (0, 1), "ours: no net is turned"
        ),
        mean_of(f"{where}: time to half, noise over target", late, (2, np.inf), "ours"),
        mean_of(ratio, best["excess"] / end["excess"], (0, 0.5), "ours"),
        mean_of(
            rest, best["train"] / sigma**2, (0.5, 1), "ours: half of it is not learned"
        ),
        difference_of(grown, end["high"], best["high"], (0, 1), f"{ZHANG}; band ours"),
    ]
    text = f"{where}: excess risk over σ² at the end"
    found = mean_of(
        text,
        end["excess"] / sigma**2,
        (of_interpolation(), 1),
        "lines from label to label, and waves up to Nyquist's",
    )
    is_fitted = float(end["train"].mean()) < FITTED * sigma**2
    out.append(found.given(is_fitted, f"a training error below {FITTED:g} σ²"))
    return [*out, _second_descent(part, where, place)]


def _one_by_one(part: xr.Dataset, where: str) -> list[Claim]:
    """Every octave after the one before."""
    when = xr.ufuncs.log2(places(share_learned(part)))
    out = []
    for before, after in pairwise(when["octave"].values):
        text = f"{where}: log₂ of the time to half, k = {after} less k = {before}"
        later = when.sel(octave=after, drop=True), when.sel(octave=before, drop=True)
        out.append(difference_of(text, *later, (0, np.inf), f"{RAHAMAN}; band ours"))
    return out


def _second_descent(part: xr.Dataset, where: str, place: int) -> Claim:
    """Above the target's frequencies less again, if the test error falls again."""
    later = part.isel(time=slice(place, None)).mean("seed", skipna=False)
    peak = int(later["excess"].argmax("time"))
    is_falling = float(later["excess"][-1]) < FALLEN * float(later["excess"][peak])
    text = f"{where}: share of f above k = {COUNT}, end over that at the second peak"
    ratio = _end(part["high"]) / part["high"].isel(time=place + peak)
    found = mean_of(text, ratio, (0, 0.95), f"{ZHANG}; band ours")
    return found.given(is_falling, "a second descent of the test error")


def _end(values: xr.DataArray) -> xr.DataArray:
    return values.isel(time=-1)
