"""Stragglers: neurons that alignment leaves behind, their number, size and delay.

A small neuron that starts near the opposite of where it is pulled turns away from there
by tan(ψ/2)' = tan(ψ/2) ½(1 − V), and V, what the others have fitted, leaves a pull of
−½ ln V₀ in all, V₀ = λ²(d + 1)/8.  Who is not past ψ = π/2 by then is left behind, on
the other side of the teacher.  For n → ∞, with v = tan(ψ/2) when the pull has ended:

    number     m·P,  P = ½ I_{sin²ψ*}((d − 1)/2, ½) ≈ C_d λ^(d−1),  tan²(ψ*/2) = V₀
    place      v^(d−1) is uniform on (0, 1)
    size       ‖w‖ = ‖w(0)‖ √V₀ (1 + v²), of order λ²/√m
    waiting    the residual is noise of which regressions are taken, of order σ/√n, and
               so is the rate at which stragglers grow: with a rate γσ/√n they have a
               share q of the mass, now s, after (√n/2γσ) ln(q/s)

All but γ is derived.  Width and scale enter by m·λ^(d−1), and by a logarithm.  Control:
without noise nothing pulls at those that are left, and they stay for ever.

Reference: Boursier & Flammarion (2024), arXiv:2410.02348, early alignment of all
neurons in the limit λ → 0; the laws of those that it leaves are ours.
"""

from collections.abc import Callable
from typing import Any

import numpy as np
import xarray as xr
from matplotlib.axes import Axes

from simbias.analysis.interval import present
from simbias.analysis.jackknife_interval import jackknife_interval
from simbias.claims import Band, Claims, estimate_of, mean_of
from simbias.core import Claim, Experiment
from simbias.experiment_presets import presets
from simbias.experiments._noisy_teacher import SHARED, noisy_teacher
from simbias.experiments._times import log_times
from simbias.figures import Drawing, Panels, colour_of, law_line
from simbias.flows import Descent, ReluFlow
from simbias.losses import half_mse
from simbias.measures import NeuronWeights
from simbias.theory.straggler_share import straggler_share

AXES = ("sigma", "d", "n", "m", "scale")
# Marks of the largest size and of the smallest; others have dots.
_LAST, _FIRST, _OTHER = "o", "x", "."
DERIVED = "derived in docs/alignment/stragglers.md; band ours"
# 1 − V when stragglers are counted is e^−REST, and for how long they are followed then,
# in units of √n/σ.
REST, WINDOW = 5.0, 8.0

experiment = presets(
    Experiment(
        name="stragglers",
        make=noisy_teacher,
        cell={
            "sigma": (0.0, 0.5),
            "d": (2, 3),
            "n": (50, 200),
            "m": (32, 96),
            "scale": (0.2, 0.4),
            "n_test": 1,
        },
        seeds=40,
        shared=SHARED,
        # No sample of this root had been seen when the claims were written.
        root=2000,
        # The flow's number to 2 % (d = 2) and 4 % (d = 3): steps turn too many.
        flow=Descent(rate=0.05),
        loss=half_mse,
        times=log_times(7.0, 240.0, 20),
        measures={"neuron_weights": NeuronWeights()},
    ),
    smoke={
        "cell": {"d": 3, "n": (25, 100), "m": 32, "scale": (0.2, 0.4)},
        "seeds": 12,
        "times": log_times(7.0, 180.0, 12),
        "flow": Descent(rate=0.1),
    },
    paper={
        "cell": {
            "sigma": (0.0, 0.25, 0.5, 1.0),
            "d": (2, 3, 5),
            "n": (100, 400, 1600),
            "m": (50, 200, 800),
            "scale": (0.03, 0.1, 0.3),
        },
        "seeds": 200,
        "times": log_times(7.0, 1400.0, 30),
        "flow": ReluFlow(rtol=1e-5),
    },
)


def left_behind(ds: xr.Dataset) -> xr.Dataset:
    """Of every neuron that is, over (sigma, d, n, m, scale, seed, neuron), else NaN.

    `place` v^(d−1); `size` over its law; `growth` rate of ln ‖w‖ from then on, NaN if
    the run is too short.  `number` of them over (…, seed), and its `law`, without.
    """
    weights = ds["neuron_weights"].transpose(*AXES, "seed", "time", "neuron", "weight")
    noise, cells = float(ds["sigma"].max()), weights.shape[: len(AXES)]
    found = np.full((3, *cells, ds.sizes["seed"], weights.sizes["neuron"]), np.nan)
    law = np.zeros(cells)
    for at in np.ndindex(*cells):
        here = weights[at]
        cell = {k: here[k].item() for k in AXES}
        found[(slice(None), *at)] = _of_cell(here, cell, cell["sigma"] or noise)
        law[at] = cell["m"] * float(straggler_share(cell["scale"], cell["d"]))
    names, each = ("place", "size", "growth"), (*AXES, "seed", "neuron")
    values = {k: (each, v) for k, v in zip(names, found, strict=True)}
    number = np.isfinite(found[0]).sum(axis=-1)
    coords = {k: ds[k].values for k in (*AXES, "seed")}
    return xr.Dataset(
        {**values, "number": (each[:-1], number), "law": (AXES, law)}, coords
    )


def _of_cell(here: xr.DataArray, cell: dict[str, Any], noise: float) -> np.ndarray:
    """Place, size and growth over (seed, neuron)."""
    d, n, time = int(cell["d"]), cell["n"], here["time"].values
    w, a = here.values[..., :d], here.values[..., d]
    fitted = cell["scale"] ** 2 * (d + 1) / 8
    first = REST - np.log(fitted)
    last = first + WINDOW * n**0.5 / noise if noise else np.inf
    i, j = np.searchsorted(time, (first, last))
    if i == len(time):
        return np.full((3, len(w), w.shape[2]), np.nan)
    size = np.linalg.norm(w, axis=-1)
    along = w[:, i].sum(axis=-1) / d**0.5 * np.sign(a[:, i]) / size[:, i]
    tangent = np.sqrt((1 + along) / (1 - along))
    is_left = along < 0
    law = size[:, 0] * fitted**0.5 * (1 + tangent**2)
    out = np.stack([tangent ** (d - 1), size[:, i] / law, np.full_like(along, np.nan)])
    if j < len(time):
        out[2] = np.log(size[:, j] / size[:, i]) / (time[j] - time[i])
    return np.where(is_left, out, np.nan)


def _draw_numbers(axes: Axes, found: xr.Dataset) -> None:
    """Means over seeds and σ, of every n, m and λ."""
    for i, d in enumerate(found["d"].values):
        for j, mark in ((-1, _LAST), (0, _FIRST)):
            here = found.sel(d=d).isel(n=j).stack(cell=["m", "scale"])
            number, law = here["number"].mean("sigma"), here["law"].isel(sigma=0)
            reach = 1.96 * number.std("seed") / number.sizes["seed"] ** 0.5
            dots = {"fmt": mark, "ms": 4, "lw": 1, "color": colour_of(i)}
            dots["label"] = f"d = {d}, n = {int(here['n'])}"
            axes.errorbar(law, number.mean("seed"), reach, **dots)
    span = np.array([found["law"].min(), found["law"].max()])
    law_line(axes, span, span, "law", line=":")


def _draw_places(axes: Axes, found: xr.Dataset) -> None:
    """Their distribution."""
    for i, d in enumerate(found["d"].values):
        values = np.sort(present(found["place"].sel(d=d)))
        share = np.arange(1, len(values) + 1) / max(len(values), 1)
        axes.plot(values, share, color=colour_of(i), lw=1)
    unit = np.array([0.0, 1.0])
    law_line(axes, unit, unit, line=":")


def _draw_growth(axes: Axes, found: xr.Dataset) -> None:
    """Means over stragglers of all seeds; a line through 0 for the largest n."""
    x = found["sigma"] / found["n"] ** 0.5
    marks = [_FIRST, *[_OTHER] * (found.sizes["n"] - 2), _LAST][-found.sizes["n"] :]
    along = np.array([0.0, float(x.max())])
    for i, d in enumerate(found["d"].values):
        seen = found["growth"].sel(d=d).transpose("seed", "sigma", "n", "m", "neuron")
        rate = seen.mean(["seed", "m", "neuron"]).values
        for j, mark in enumerate(marks):
            of_size = seen.isel(n=j).transpose("sigma", ...).values
            dots = {"fmt": mark, "ms": 4, "lw": 1, "color": colour_of(i)}
            axes.errorbar(x.isel(n=j), rate[:, j], list(map(_reach, of_size)), **dots)
        law = along * rate[-1, -1] / float(x[-1, -1])
        label = None if i else "∝ σ/√n, through the largest n"
        law_line(axes, along, law, label, line="--", colour=colour_of(i))


def _reach(values: np.ndarray) -> float:
    """Of the 95 % interval over seeds."""
    seen = jackknife_interval(_mean, values)
    return seen.high - seen.value if np.isfinite(seen.high) else 0.0


figure = Panels(
    Drawing(
        _draw_numbers,
        title="stragglers of a network, mean",
        xlabel="m·P",
        xscale="log",
        yscale="log",
    ),
    Drawing(
        _draw_places,
        of=lambda found: found.isel(n=-1, scale=-1, sigma=-1),
        title="share below, n = {n}, λ = {scale:g}",
        xlabel="tan(ψ/2)^(d − 1)",
    ),
    Drawing(
        _draw_growth,
        of=lambda found: found.isel(scale=-1),
        title="rate of ln‖w‖, mean, λ = {scale:g}",
        xlabel="σ/√n",
    ),
    of=left_behind,
    size=(4.0, 4.4),
    legend=6,
)


def claims(ds: xr.Dataset) -> list[Claim]:
    """Number, exponent of λ, networks without any, place, size, growth; the control."""
    found = left_behind(ds)
    return [c for d in found["d"].values for c in _of_dimension(found.sel(d=d))]


def _of_dimension(found: xr.Dataset) -> list[Claim]:
    d, n = int(found["d"]), int(found["n"][-1])
    where, last = f"d = {d}, n = {n}", found.isel(n=-1)
    number, law = (last[k].sum(["sigma", "m"]) for k in ("number", "law"))
    none = ((last["number"] == 0) - np.exp(-last["law"])).mean(["sigma", "m", "scale"])
    ends = last.isel(scale=-1, sigma=-1)
    place, size = (ends[k].transpose("seed", ...).values for k in ("place", "size"))
    text = f"number of stragglers over m·P, λ = {{:g}}, {where}"
    place_text = f"place tan(ψ/2)^(d−1), uniform by the law, mean, {where}"
    size_text = f"size over ‖w(0)‖ √V₀ (1 + tan²(ψ/2)), geometric mean, {where}"
    apart = f"share of networks without any, less e^(−m·P), {where}"
    return [
        *(
            mean_of(text.format(v), (number / law).sel(scale=v), (0.85, 1.15), DERIVED)
            for v in found["scale"].values
        ),
        *_exponent(number, law, where),
        mean_of(apart, none, (-0.05, 0.05), DERIVED),
        _of_all(place_text, _mean, place, (0.42, 0.58)),
        _of_all(size_text, lambda v: np.exp(_mean(np.log(v))), size, (0.85, 1.15)),
        *_of_growth(found.isel(scale=-1), d),
    ]


def _exponent(number: xr.DataArray, law: xr.DataArray, where: str) -> list[Claim]:
    """Of λ in the number, and what the law has for it."""
    wide = _width(law["scale"])
    steep = float(np.log(law[-1] / law[0])) / wide if wide else np.nan
    ends = number.isel(scale=[0, -1]).transpose("seed", "scale").values.astype(float)
    text = f"exponent of λ in the number, {steep:.2f} by the law, {where}"
    slope = lambda v: _slope(v.sum(axis=0), wide)
    return Claims(needs={"two values of λ": wide > 0}).rows(
        _of_all(text, slope, ends, (steep - 0.3, steep + 0.3))
    )


def _of_growth(found: xr.Dataset, d: int) -> list[Claim]:
    """Like σ/√n, and none without noise."""
    rate = found["growth"].transpose("seed", "sigma", "n", "m", "neuron")
    ends, wide = rate.isel(sigma=-1, n=[0, -1]).values, _width(found["n"])
    pair = rate.isel(n=-1, sigma=[0, -1]).values
    where = f"d = {d}, λ = {float(found['scale']):g}"
    slope = lambda v: _slope(np.nanmean(v, axis=(0, 2, 3)), wide)
    ratio = lambda v: float(np.divide(*np.nanmean(v, axis=(0, 2, 3))))
    text = f"exponent of n in the rate at which stragglers grow, {where}"
    control = f"control, σ = 0: this rate over that with noise, {where}, "
    control += f"n = {found['n'].values[-1]}"
    is_there = float(found["sigma"][0]) == 0 and found.sizes["sigma"] > 1
    return Claims(needs={"a longer run": np.isfinite(ends).any()}).rows(
        *Claims(needs={"two sizes": wide > 0}).rows(
            _of_all(text, slope, ends, (-0.75, -0.25))
        ),
        *Claims(needs={"σ = 0 and another σ": is_there}).rows(
            _of_all(control, ratio, pair, (-0.1, 0.1))
        ),
    )


def _of_all(
    text: str, statistic: Callable[[np.ndarray], float], values: np.ndarray, band: Band
) -> Claim:
    """Of the neurons of all seeds, one seed after another left out."""
    return estimate_of(text, jackknife_interval(statistic, values), band, DERIVED)


def _mean(values: np.ndarray) -> float:
    return float(np.nanmean(values))


def _width(axis: xr.DataArray) -> float:
    """Of an axis, in logarithms."""
    return float(np.log(axis[-1] / axis[0]))


def _slope(ends: np.ndarray, wide: float) -> float:
    """Between the ends of an axis, in logarithms."""
    low, high = ends
    return float(np.log(high / low)) / wide if low * high > 0 and wide else np.nan
