"""Extremal vectors: the directions that small neurons align to, and how many each.

Small neurons do not feel each other: wⱼ' = aⱼD(wⱼ).  They end at the
critical directions of G(w) = (1/n) Σ yᵢ (w·xᵢ)₊ on the sphere, the extremal vectors.
Here a network of scale 1e-60 is followed until every neuron has arrived and f is still
1e-60: each neuron is one start of the search, and a direction found is certified by
its KKT residual.

For a linear teacher on Gaussian inputs D(w) → Σβ*/2 for every w, so all extremal
vectors gather at ±Σβ*.  To leading order the angle has independent normal coordinates:

    E tan² = 2 (d − 1)(1 + σ²)/n,   |G| → ‖Σβ*‖/2      (Σ = I, ‖β*‖ = 1)

Reference: Boursier & Flammarion (2024), arXiv:2410.02348, extremal vectors of finite
samples; the constants are ours.
"""

import itertools

import jax
import numpy as np
import xarray as xr
from jaxtyping import PRNGKeyArray
from matplotlib.axes import Axes
from matplotlib.figure import Figure

from simbias.analysis.parts import with_axes
from simbias.analysis.wilson import wilson
from simbias.claims import largest_of, statistic_of
from simbias.core import AbstractNetwork, Claim, Dataset, Experiment, Real
from simbias.datasets import gaussian_teacher
from simbias.experiment_presets import presets
from simbias.experiments._draws import samples
from simbias.figures.style import COLOURS, blank, style
from simbias.flows import ReluFlow
from simbias.losses import half_mse
from simbias.measures import AngularDeviation, NeuronWeights
from simbias.networks import balanced
from simbias.theory.extremal_residual import extremal_residual

PAPER = "Boursier & Flammarion (2024), arXiv:2410.02348"
# What the claims are about: the final time of the smallest preset at least.
LEAST_TIME = 120.0
DERIVED = "derived: central limit theorem for D(β*), see the file"
# Directions closer than this are one; what is left of a start at the end is 1e-8.
SAME = 1e-5


def make(
    key: PRNGKeyArray,
    *,
    n: int,
    d: int = 2,
    sigma: Real = 0.3,
    m: int = 50,
    scale: Real = 1e-60,
) -> tuple[Dataset, AbstractNetwork]:
    """A linear teacher with noise, and m neurons in random directions."""
    key_data, key_network = jax.random.split(key)
    data = gaussian_teacher(key_data, n=n, d=d, sigma=sigma, n_test=1)
    return data, balanced(key_network, m=m, d=d, scale=scale)


experiment = presets(
    Experiment(
        name="extremal_vectors",
        make=make,
        cell={"n": (50, 400), "d": (2, 5)},
        seeds=20,
        flow=ReluFlow(rtol=1e-5),
        loss=half_mse,
        times=(0.0, 5.0, 10.0, 20.0, 40.0, 120.0),
        measures={"axis_deviation": AngularDeviation(quantile=1.0)},
        final={"neuron_weights": NeuronWeights()},
    ),
    smoke={"cell": {"n": 60, "d": 2}, "seeds": 8},
    paper={
        "cell": {
            "n": (50, 100, 200, 400, 800, 1600, 3200),
            "d": (2, 5, 20),
            "sigma": (0.3, 1.0, 3.0),
            "m": 1000,
        },
        "seeds": 100,
    },
)


# What the figure and the claims read.
AXES = ("sigma", "d", "n")
_MEMBER = (*AXES, "seed")
_SIGNS = (1, -1)
_FOUND = ("angle", "rate", "count", "share", "stray", "residual")


def extremes(ds: xr.Dataset) -> xr.Dataset:
    """What the neurons found, over (sigma, d, n, seed, sign of aⱼ); NaN if missing.

    `angle` with sign(aⱼ)β* (rad) and `rate` |G|: of the direction that most neurons
    of the sign turned to; `count` of directions; `share` of the neurons in the largest
    basin; `stray`, the share that ended on the other side; `residual`, the largest KKT
    residual.
    """
    ds = with_axes(ds, AXES)
    weights = ds["neuron_weights"].transpose(*_MEMBER, "neuron", "weight")
    found = np.full((len(_FOUND), *weights.shape[:4], len(_SIGNS)), np.nan)
    is_there = xr.apply_ufunc(np.isfinite, weights).any(["neuron", "weight"])
    for i, cell, data in samples(ds, experiment("smoke"), is_there):
        # Networks of a smaller dimension have NaN at the end of their rows.
        neurons = weights.values[i][:, : cell["d"] + 1]
        neurons = neurons[np.isfinite(neurons).all(axis=1)]
        for k, sign in enumerate(_SIGNS):
            mine = neurons[sign * neurons[:, -1] > 0, :-1]
            if len(mine):
                found[(slice(None), *i, k)] = _basins(data, mine, sign)
    axes = (*_MEMBER, "sign")
    variables = {k: (axes, v) for k, v in zip(_FOUND, found, strict=True)}
    return xr.Dataset(
        variables, {k: ds[k].values for k in _MEMBER} | {"sign": [*_SIGNS]}
    )


def law(n: np.ndarray, d: float, sigma: float) -> np.ndarray:
    """Root mean square of the tangent of the angle with ±β*, to leading order."""
    return np.sqrt(2 * (d - 1) * (1 + sigma**2) / n)


def figure(ds: xr.Dataset) -> Figure:
    """Angle with ±β* against n with its law, and how the neurons spread over basins."""
    found = extremes(ds)
    with style():
        whole = blank(9.0, 3.8)
        angle, basin = whole.subplots(1, 2)
        cells = _cells(found)
        for i, (sigma, d) in enumerate(cells):
            part = found.sel(sigma=sigma, d=d).stack(start=("seed", "sign"))
            n, colour = part["n"].values, COLOURS[i % len(COLOURS)]
            label = f"d = {d:g}, σ = {sigma:g}"
            shift = n * 1.04 ** (i - len(cells) / 2)
            dots = {"marker": ".", "ls": "", "ms": 4, "alpha": 0.6, "color": colour}
            angle.plot(shift, part["angle"].transpose("n", "start").values, **dots)
            angle.plot(n, law(n, d, sigma), "-", lw=1, color=colour, label=label)
            basin.plot(shift, part["share"].transpose("n", "start").values, **dots)
            beside = n * 1.04 ** (i + 2)
            counts = part["count"].transpose("n", "start").values
            _one_basin(basin, beside, counts, colour)
        angle.set_yscale("log")
        angle.set_title("angle of extremal vectors with ±β*; line: law (rms)")
        angle.legend()
        basin.set_title(
            "dots: share of a sign's neurons in the largest basin;\n"
            "line: share of signs with one basin only, 95 %"
        )
        basin.set_ylim(0, 1.05)
        for axes in (angle, basin):
            axes.set_xscale("log")
            axes.set_xticks(found["n"].values, [f"{v:g}" for v in found["n"].values])
            axes.minorticks_off()
            axes.set_xlabel("samples n")
    return whole


def _one_basin(axes: Axes, n: np.ndarray, counts: np.ndarray, colour: str) -> None:
    """Share of the starts of which all neurons turn to one direction, with Wilson's."""
    known = [row[np.isfinite(row)] for row in counts]
    kept = [i for i, row in enumerate(known) if len(row)]
    seen = [wilson(int((known[i] == 1).sum()), len(known[i])) for i in kept]
    value = np.array([e.value for e in seen])
    ends = np.array([[e.low, e.high] for e in seen]).reshape(-1, 2).T
    axes.errorbar(
        n[kept], value, np.abs(ends - value), color=colour, fmt="-", lw=1, capsize=3
    )


def claims(ds: xr.Dataset) -> list[Claim]:
    """Certified, near ±Σβ*, and at the predicted distance."""
    found = extremes(ds)
    definition = f"definition of extremal vectors, {PAPER}"
    text = "KKT residual of a direction, largest"
    out = [largest_of(text, found["residual"], (0.0, SAME), definition)]
    for sigma, d in _cells(found):
        part = found.sel(sigma=sigma, d=d)
        out += _claims_of_law(part.sortby("n"), sigma, d)
    return out


def _cells(found: xr.Dataset) -> list[tuple[float, float]]:
    """(σ, d) of every curve."""
    each = itertools.product(found["sigma"].values, found["d"].values)
    return [(float(sigma), float(d)) for sigma, d in each]


def _claims_of_law(part: xr.Dataset, sigma: float, d: float) -> list[Claim]:
    """Bands: three standard errors of as many independent normal coordinates."""
    n, starts = part["n"].values.astype(float), part.sizes["seed"] * len(_SIGNS)
    tangent = np.tan(part["angle"].transpose("n", "seed", "sign").values)
    rms = np.sqrt((tangent**2).mean(axis=(1, 2)))
    ratio, error = rms / law(n, d, sigma), 3 / np.sqrt(2 * (d - 1) * starts)
    where = f"d = {d:g}, σ = {sigma:g}, n = {n[-1]:g}"
    last = part.isel(n=-1)
    rate = float(last["rate"].mean(skipna=False))
    middle = 0.5 + (d - 1) * (1 + sigma**2) / (2 * n[-1])
    wide = 3 * np.sqrt(((3 + sigma**2) / 2 - 0.25) / n[-1] / starts)
    angle = f"angle with ±β* (rms of tan) over its law, {where}"
    stray = f"neurons that end on the side of the other sign, share, {where}"
    out = [
        statistic_of(angle, ratio[-1], (1 - error, 1 + error), DERIVED),
        statistic_of(
            f"growth rate |G|, mean, {where}",
            rate,
            (middle - wide, middle + wide),
            DERIVED,
        ),
        largest_of(stray, last["stray"], (0.0, 0.0), PAPER),
    ]
    if len(n) > 1:
        centred = np.log(n) - np.log(n).mean()
        slope = float(centred @ np.log(rms) / (centred @ centred))
        error = float(error / np.sqrt(centred @ centred))
        text = f"exponent of n in the angle, d = {d:g}, σ = {sigma:g}"
        out.append(statistic_of(text, slope, (-0.5 - error, -0.5 + error), PAPER))
    return out


def _basins(data: Dataset, w: np.ndarray, sign: int) -> np.ndarray:
    """In the order of `_FOUND`, for the neurons of one sign."""
    size = np.abs(w).max(axis=1, keepdims=True)
    u = w / size / np.linalg.norm(w / size, axis=1, keepdims=True)
    distinct, counts = _distinct(u)
    residual = max(extremal_residual(data, v) for v in distinct)
    top, beta = distinct[np.argmax(counts)], np.asarray(data.features)[0]
    cosines = sign * u @ beta
    angle = 2 * np.arctan2(
        np.linalg.norm(top - sign * beta), np.linalg.norm(top + sign * beta)
    )
    heights = np.maximum(np.asarray(data.x) @ top, 0)
    rate = abs(np.mean(heights * np.asarray(data.y)[:, 0]))
    share, stray = counts.max() / counts.sum(), np.mean(cosines < 0)
    return np.array([angle, rate, len(counts), share, stray, residual])


def _distinct(u: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Directions that are further apart than `SAME`, and how many neurons have each."""
    kept, counts = [], []
    while len(u):
        is_same = np.linalg.norm(u - u[0], axis=1) < SAME
        kept.append(u[0])
        counts.append(int(is_same.sum()))
        u = u[~is_same]
    return np.array(kept), np.array(counts)
