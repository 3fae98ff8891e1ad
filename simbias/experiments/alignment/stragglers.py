"""Neurons left behind at alignment: how many, where, how small, and how long they wait.

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

from typing import Any

import numpy as np
import xarray as xr
from matplotlib.axes import Axes
from matplotlib.figure import Figure

from simbias.analysis.jackknife_interval import jackknife_interval
from simbias.analysis.parts import with_axes
from simbias.claims import estimate_of, mean_of
from simbias.core import Claim, Experiment
from simbias.experiments._shared_sample import shared_sample
from simbias.experiments._times import log_times
from simbias.figures import law_line, legend_below
from simbias.figures.style import COLOURS, blank, style
from simbias.flows import Descent, ReluFlow
from simbias.losses import half_mse
from simbias.measures import NeuronWeights
from simbias.presets import presets
from simbias.theory.straggler_share import straggler_share

# What the figure and the claims read.
AXES = ("sigma", "d", "n", "m", "scale", "draw")
_CELL = AXES[:-1]
# Marks of the largest size and of the smallest; others have dots.
_LAST, _FIRST, _OTHER = "o", "x", "."
DERIVED = "derived in docs/alignment/stragglers.md; band ours"
# 1 − V when stragglers are counted is e^−REST, and for how long they are followed then,
# in units of √n/σ.
REST, WINDOW = 5.0, 8.0
# Draws that had not been run when the claims were written.
FRESH = 2000

experiment = presets(
    Experiment(
        name="stragglers",
        make=shared_sample,
        cell={
            "sigma": (0.0, 0.5),
            "d": (2, 3),
            "n": (50, 200),
            "m": (32, 96),
            "scale": (0.2, 0.4),
            "draw": tuple(range(FRESH, FRESH + 40)),
            "n_test": 1,
        },
        seeds=1,
        # The flow's number to 2 % (d = 2) and 4 % (d = 3): steps turn too many.
        flow=Descent(rate=0.05),
        loss=half_mse,
        times=log_times(7.0, 240.0, 20),
        measures={"neuron_weights": NeuronWeights()},
    ),
    smoke={
        "cell": {
            "d": 3,
            "n": (25, 100),
            "m": 32,
            "scale": (0.2, 0.4),
            "draw": tuple(range(12)),
        },
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
            "draw": tuple(range(FRESH, FRESH + 200)),
        },
        "times": log_times(7.0, 1400.0, 30),
        "flow": ReluFlow(rtol=1e-5),
    },
)


def left_behind(ds: xr.Dataset) -> xr.Dataset:
    """Of every neuron that is, over (sigma, d, n, m, scale, draw, neuron), else NaN.

    `place` v^(d−1); `size` over its law; `growth` rate of ln ‖w‖ from then on, NaN if
    the run is too short.  `number` of them and its `law`, without the axis `neuron`.
    """
    ds = with_axes(ds, AXES).isel(seed=0, drop=True)
    weights = ds["neuron_weights"].transpose(*AXES, "time", "neuron", "weight")
    noise = float(ds["sigma"].max())
    found = np.full((3, *weights.shape[:6], weights.sizes["neuron"]), np.nan)
    law = np.zeros(weights.shape[:6])
    for at in np.ndindex(*weights.shape[:5]):
        here = weights[at]
        cell = {k: here[k].item() for k in _CELL}
        found[(slice(None), *at)] = _of_cell(here, cell, cell["sigma"] or noise)
        law[at] = cell["m"] * float(straggler_share(cell["scale"], cell["d"]))
    each, coords = (*AXES, "neuron"), {k: ds[k].values for k in AXES}
    names = ("place", "size", "growth")
    values = {k: (each, v) for k, v in zip(names, found, strict=True)}
    number = np.isfinite(found[0]).sum(axis=-1)
    return xr.Dataset({**values, "number": (AXES, number), "law": (AXES, law)}, coords)


def _of_cell(here: xr.DataArray, cell: dict[str, Any], noise: float) -> np.ndarray:
    """Place, size and growth over (draw, neuron)."""
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


def claims(ds: xr.Dataset) -> list[Claim]:
    """Number, exponent of λ, networks without any, place, size, growth; the control."""
    found = left_behind(ds)
    return [c for d in found["d"].values for c in _of_dimension(found.sel(d=d))]


def _of_dimension(found: xr.Dataset) -> list[Claim]:
    d, n = int(found["d"]), int(found["n"][-1])
    where = f"d = {d}, n = {n}"
    last = found.isel(n=-1)
    out = []
    for scale in found["scale"].values:
        part = last.sel(scale=scale).sum(["sigma", "m"])
        text = f"number of stragglers over m·P, λ = {scale:g}, {where}"
        out.append(mean_of(text, part["number"] / part["law"], (0.85, 1.15), DERIVED))
    out.append(_exponent(last, where))
    none = (last["number"] == 0) - np.exp(-last["law"])
    text = f"share of networks without any, less e^(−m·P), {where}"
    apart = none.mean(["sigma", "m", "scale"])
    out.append(mean_of(text, apart, (-0.05, 0.05), DERIVED))
    ends = last.isel(scale=-1, sigma=-1)
    middle = lambda v: float(np.nanmean(v))
    text = f"place tan(ψ/2)^(d−1), uniform by the law, mean, {where}"
    seen = jackknife_interval(middle, _by_draw(ends["place"]))
    out.append(estimate_of(text, seen, (0.42, 0.58), DERIVED))
    text = f"size over ‖w(0)‖ √V₀ (1 + tan²(ψ/2)), geometric mean, {where}"
    seen = jackknife_interval(
        lambda v: np.exp(middle(np.log(v))), _by_draw(ends["size"])
    )
    out.append(estimate_of(text, seen, (0.85, 1.15), DERIVED))
    return out + _of_growth(found.isel(scale=-1), d)


def _exponent(last: xr.Dataset, where: str) -> Claim:
    """Of λ in the number, and what the law has for it."""
    ends = last.isel(scale=[0, -1]).sum(["sigma", "m"])
    wide = float(np.log(ends["scale"][-1] / ends["scale"][0]))
    law = ends["law"].isel(draw=0).values
    steep = float(np.log(law[-1] / law[0])) / wide if wide else np.nan
    number = ends["number"].transpose("draw", "scale").values.astype(float)
    text = f"exponent of λ in the number, {steep:.2f} by the law, {where}"

    def slope(values: np.ndarray) -> float:
        low, high = values.sum(axis=0)
        return float(np.log(high / low)) / wide if low and high and wide else np.nan

    claim = estimate_of(
        text, jackknife_interval(slope, number), (steep - 0.3, steep + 0.3), DERIVED
    )
    return claim.given(wide > 0, "two values of λ")


def _of_growth(found: xr.Dataset, d: int) -> list[Claim]:
    """Like σ/√n, and none without noise."""
    noisy, sizes = found.isel(sigma=-1), found["n"].values
    wide = float(np.log(sizes[-1] / sizes[0]))
    where = f"d = {d}, λ = {float(found['scale']):g}"
    ends = noisy["growth"].isel(n=[0, -1]).transpose("draw", "n", "m", "neuron").values

    def exponent(values: np.ndarray) -> float:
        low, high = np.nanmean(values, axis=(0, 2, 3))
        return float(np.log(high / low)) / wide if low * high > 0 and wide else np.nan

    seen = jackknife_interval(exponent, ends)
    text = f"exponent of n in the rate at which stragglers grow, {where}"
    first = estimate_of(text, seen, (-0.75, -0.25), DERIVED).given(
        wide > 0, "two sizes"
    )
    pair = found["growth"].isel(n=-1, sigma=[0, -1])
    pair = pair.transpose("draw", "sigma", "m", "neuron").values

    def ratio(values: np.ndarray) -> float:
        clean, noise = np.nanmean(values, axis=(0, 2, 3))
        return float(clean / noise)

    text = f"control, σ = 0: this rate over that with noise, {where}, n = {sizes[-1]}"
    second = estimate_of(text, jackknife_interval(ratio, pair), (-0.1, 0.1), DERIVED)
    is_there = float(found["sigma"][0]) == 0 and found.sizes["sigma"] > 1
    both = [first, second.given(is_there, "σ = 0 and another σ")]
    return [c.given(np.isfinite(ends).any(), "a longer run") for c in both]


def _by_draw(values: xr.DataArray) -> np.ndarray:
    return values.transpose("draw", ...).values


def figure(ds: xr.Dataset) -> Figure:
    """Number against m·P, places against their law, and growth against σ/√n."""
    found = left_behind(ds)
    with style():
        whole = blank(12.0, 4.4)
        number, place, growth = whole.subplots(1, 3)
        for i, d in enumerate(found["d"].values):
            part, look = found.sel(d=d), {"color": COLOURS[i], "ms": 4}
            _draw_numbers(number, part, look)
            _draw_places(place, part.isel(n=-1, scale=-1, sigma=-1), look)
            _draw_growth(growth, part.isel(scale=-1), look)
        span, unit = np.array(number.get_xlim()), np.array([0.0, 1.0])
        law_line(number, span, span, "law", line=":")
        law_line(place, unit, unit, line=":")
        law_line(growth, unit[:1], unit[:1], "∝ σ/√n, through the largest n", line="--")
        legend_below(whole, columns=6)
    return whole


def _draw_numbers(axes: Axes, part: xr.Dataset, look: dict[str, Any]) -> None:
    """Means over draws and σ, of every n, m and λ."""
    for n, mark in ((part["n"].values[-1], _LAST), (part["n"].values[0], _FIRST)):
        here = part.sel(n=n).stack(cell=["m", "scale"])
        number = here["number"].mean("sigma").transpose("draw", "cell")
        law = here["law"].isel(draw=0, sigma=0)
        reach = 1.96 * number.std("draw") / number.sizes["draw"] ** 0.5
        text = f"d = {int(part['d'])}, n = {n}"
        dots = {"fmt": mark, "lw": 1, **look, "label": text}
        axes.errorbar(law, number.mean("draw"), reach, **dots)
    axes.set_xscale("log")
    axes.set_yscale("log")
    axes.set_xlabel("m·P")
    axes.set_title("stragglers of a network, mean")


def _draw_places(axes: Axes, part: xr.Dataset, look: dict[str, Any]) -> None:
    """Their distribution."""
    values = np.sort(part["place"].values[np.isfinite(part["place"].values)])
    share = np.arange(1, len(values) + 1) / max(len(values), 1)
    axes.plot(values, share, color=look["color"], lw=1)
    axes.set_xlabel("tan(ψ/2)^(d − 1)")
    axes.set_title(f"share below, n = {int(part['n'])}, λ = {float(part['scale']):g}")


def _draw_growth(axes: Axes, part: xr.Dataset, look: dict[str, Any]) -> None:
    """Means over stragglers of all draws; a line through 0 for the largest n."""
    x = part["sigma"] / part["n"] ** 0.5
    seen = part["growth"].transpose("draw", "sigma", "n", "m", "neuron")
    rate = seen.mean(["draw", "m", "neuron"]).values
    marks = [_FIRST, *[_OTHER] * (seen.sizes["n"] - 2), _LAST][-seen.sizes["n"] :]
    for j, mark in enumerate(marks):
        reach = [_reach(one.values) for one in seen.isel(n=j).transpose("sigma", ...)]
        dots = {"fmt": mark, "lw": 1, **look}
        axes.errorbar(x.isel(n=j), rate[:, j], reach, **dots)
    along = np.array([0.0, float(x.max())])
    law = along * rate[-1, -1] / float(x[-1, -1])
    law_line(axes, along, law, line="--", colour=look["color"])
    axes.set_xlabel("σ/√n")
    axes.set_title(f"rate of ln‖w‖, mean, λ = {float(part['scale']):g}")


def _reach(values: np.ndarray) -> float:
    """Of the 95 % interval over draws."""
    seen = jackknife_interval(lambda v: float(np.nanmean(v)), values)
    return seen.high - seen.value if np.isfinite(seen.high) else 0.0
