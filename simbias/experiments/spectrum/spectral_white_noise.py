"""White noise in the labels is learned last: the test error has its minimum before.

White noise has the same power at every frequency.  The network fits a target of low
frequencies before most of the noise.  Its excess risk is smallest when it has fitted
the target and little of the noise.

Reference: Rahaman et al. (2019), On the spectral bias of neural networks,
arXiv:1806.08734; on wrong labels Zhang, Xiong & Wu (2021), arXiv:2004.13954.
"""

from itertools import pairwise

import jax
import jax.numpy as jnp
import numpy as np
import xarray as xr
from jaxtyping import PRNGKeyArray

from simbias.analysis.at import at
from simbias.analysis.rank_correlation import rank_correlation
from simbias.claims import Claims, difference_of, mean_of, smallest_of
from simbias.core import (
    AbstractMeasure,
    AbstractNetwork,
    Claim,
    Dataset,
    Experiment,
    Real,
)
from simbias.experiment_presets import presets
from simbias.experiments._times import by_step, log_steps
from simbias.experiments.spectrum._waves import RAHAMAN, places, times_to
from simbias.figures import Curves, Law, Panels
from simbias.flows import Descent
from simbias.losses import mse
from simbias.measures import ExcessRisk, HighShare, OctaveBands, TrainRisk
from simbias.networks import torch_default
from simbias.numerics.spectrum import check_octaves
from simbias.validation.values import not_negative

AXES = ("noise",)
RATE = 1e-3
ZHANG = "Zhang, Xiong & Wu (2021), arXiv:2004.13954"
# Waves of the target, k = 1, …: what is above is noise; and the points of the test grid
# for each of the sample.
COUNT, FINER = 3, 4
HIGH = f"share of f above k = {COUNT}"
# Steps from which on noise is claimed to be learned.
LONG = 16_000
# Of σ², below which noise counts as fitted; of a peak, below which an error has fallen.
FITTED, FALLEN = 0.05, 0.8


def make(
    key: PRNGKeyArray, *, noise: Real = 0.5, m: int = 64, depth: int = 5, n: int = 64
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
    """
    check_octaves("n", n, COUNT)
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


def _measures(n: int) -> dict[str, AbstractMeasure]:
    bands, high = OctaveBands(n, COUNT, FINER), HighShare(COUNT)
    return {"bands": bands, "high": high, "train": TrainRisk(), "excess": ExcessRisk()}


experiment = presets(
    Experiment(
        name="spectral_white_noise",
        make=make,
        cell={"noise": (0.0, 0.5)},
        seeds=20,
        flow=Descent(rate=RATE, optimiser="adam"),
        loss=mse,
        times=log_steps(RATE, 4, LONG, 60),
        measures=_measures(64),
        dtype="float32",
    ),
    smoke={
        "cell": {"m": 32, "depth": 2, "n": 32},
        "seeds": 6,
        "times": log_steps(RATE, 4, 1000, 15),
        "measures": _measures(32),
    },
    paper={
        "cell": {"noise": (0.0, 0.25, 0.5, 1.0), "m": 256},
        "times": log_steps(RATE, 4, 4 * LONG, 80),
    },
)


def share_learned(ds: xr.Dataset) -> xr.DataArray:
    """Learned part of the labels in every octave; without noise only the first."""
    bands = ds["bands"]
    if float(ds["noise"]) == 0:
        bands = bands.isel(octave=[0])
    return bands.sel(part="learned", drop=True) / bands.sel(part="whole", drop=True)


def share_of_noise(ds: xr.Dataset) -> xr.DataArray:
    """Share of the labels' part above the target's frequencies that is learned."""
    above = ds["bands"].isel(octave=slice(1, None)).sum("octave", skipna=False)
    return above.sel(part="learned", drop=True) / above.sel(part="whole", drop=True)


def best_time(ds: xr.Dataset) -> int:
    """Index of the record with the least mean excess risk over seeds."""
    return int(ds["excess"].mean("seed").argmin("time"))


def of_interpolation() -> float:
    """Excess risk over σ² of linear interpolation of the labels, for a smooth target.

    (1 − u)² + u² at the fraction u between two inputs, mean over the test inputs.
    """
    u = (np.arange(FINER) + 0.5) / FINER
    return float(((1 - u) ** 2 + u**2).mean())


def variance(ds: xr.Dataset) -> xr.DataArray:
    """σ²; NaN without noise, for logarithmic axes."""
    return (ds["noise"] ** 2).where(ds["noise"] > 0)


def interpolated(ds: xr.Dataset) -> xr.DataArray:
    """Excess risk of linear interpolation of the labels."""
    return of_interpolation() * variance(ds)


def errors(ds: xr.Dataset) -> xr.DataArray:
    """Mean squares: to the labels in training, and to E[y | x] on the test inputs."""
    return ds[["train", "excess"]].to_dataarray("error")


figure = Panels(
    Curves(share_learned, colour="octave", ylabel="share learned", ylim=(-0.1, 1.2)),
    Curves(
        errors,
        colour="error",
        first_colour=4,
        ylabel="mean square",
        yscale="log",
        laws=(
            Law(variance, "σ²", ":", "black"),
            Law(interpolated, "lines from label to label", "-."),
        ),
    ),
    Curves("high", first_colour=6, ylabel=HIGH, ylim=(0, None)),
    columns="noise",
    # Step 0 has no place on an axis of logarithms.
    of=lambda ds: by_step(ds, RATE).isel(time=slice(1, None)),
    xlabel="step",
    xscale="log",
    names={
        "noise": "σ",
        "octave": "k",
        "error": {"train": "error to the labels", "excess": "error to the law, test"},
    },
)


def claims(ds: xr.Dataset) -> list[Claim]:
    """The order of octaves, the minimum before noise is learned; without noise none."""
    out, ds = [], by_step(ds, RATE)
    long = {f"{LONG} steps": ds["time"].values[-1] >= LONG}
    noisy = [ds.sel(noise=v) for v in ds["noise"].values if v > 0]
    for part in noisy:
        where = f"σ = {float(part['noise']):g}"
        out += Claims(where=where).rows(*_one_by_one(part))
        out += Claims(long, where).rows(*_with_noise(part), _second_descent(part))
    clean, place = at(ds, "noise", 0.0), best_time(noisy[0]) if noisy else 0
    end, then = clean.isel(time=-1), clean.isel(time=place)
    text = "excess risk at the end less that at the same step"
    band, source = (-np.inf, 0), "ours: the target alone"
    flat = difference_of(text, end["excess"], then["excess"], band, source)
    return out + Claims(long, "control, no noise").rows(
        flat.given(bool(noisy), "a run with noise"),
        mean_of(f"{HIGH} at the end", end["high"], (0, 0.01), "ours"),
    )


def _one_by_one(part: xr.Dataset) -> list[Claim]:
    """Each octave after the previous one."""
    when, out = xr.ufuncs.log2(places(share_learned(part))), []
    for before, after in pairwise(when["octave"].values):
        text = f"log₂ of the time to half, k = {after} less k = {before}"
        late, early = (when.sel(octave=v, drop=True) for v in (after, before))
        source = f"{RAHAMAN}; band ours"
        out.append(difference_of(text, late, early, (0, np.inf), source))
    return out


def _with_noise(part: xr.Dataset) -> list[Claim]:
    variance, place = float(part["noise"]) ** 2, best_time(part)
    best, end = part.isel(time=place), part.isel(time=-1)
    step = f"step {int(best['time'])}"
    rho = rank_correlation(places(share_learned(part)), "octave")
    order = "rank correlation of octave and the time to half, least of all nets"
    late = times_to(share_of_noise(part)) / times_to(share_learned(part)).isel(octave=0)
    ratio = f"excess risk at its least, {step}, over that at the end"
    lowest = best["excess"] / end["excess"]
    rest, half = best["train"] / variance, "ours: half of it is not learned"
    grown, zhang = f"{HIGH}, end less {step}", f"{ZHANG}; band ours"
    text, law = "excess risk over σ² at the end", (of_interpolation(), 1)
    lines = "lines from label to label, and waves up to Nyquist's"
    is_fitted = float(end["train"].mean()) < FITTED * variance
    fitted = mean_of(text, end["excess"] / variance, law, lines)
    return [
        smallest_of(order, rho, (0, 1), "ours: no net is turned"),
        mean_of("time to half, noise over target", late, (2, np.inf), "ours"),
        mean_of(ratio, lowest, (0, 0.5), "ours"),
        mean_of(f"training error over σ² at {step}", rest, (0.5, 1), half),
        difference_of(grown, end["high"], best["high"], (0, 1), zhang),
        fitted.given(is_fitted, f"a training error below {FITTED:g} σ²"),
    ]


def _second_descent(part: xr.Dataset) -> Claim:
    """Less power above the target's frequencies, if the test error falls again."""
    later = part.isel(time=slice(best_time(part), None))
    error = later["excess"].mean("seed", skipna=False)
    peak = int(error.argmax("time"))
    ratio = later["high"].isel(time=-1) / later["high"].isel(time=peak)
    text, source = f"{HIGH}, end over that at the second peak", f"{ZHANG}; band ours"
    is_falling = float(error[-1]) < FALLEN * float(error[peak])
    found = mean_of(text, ratio, (0, 0.95), source)
    return found.given(is_falling, "a second descent of the test error")
