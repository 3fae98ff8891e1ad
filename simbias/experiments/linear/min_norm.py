"""Of all w with Xw = y descent finds the smallest, unless it rescales coordinates.

Linear regression with fewer samples than weights has a whole space of interpolators.
From w = 0 the gradient flow, gradient descent, momentum and SGD on single rows all end
at X⁺y, the one of least norm: every gradient is a sum of samples, so that w never
leaves their span.  What a start has outside the span stays as it was.  The same point
is the limit of ridge regression, at a distance proportional to the penalty.  Adam and
sign descent rescale coordinates and leave the span.  Adam ends at an interpolator of
larger norm; sign descent at a constant rate does not come to rest.

Inside the span the error along the i-th eigenvector of XᵀX/n shrinks by 1 − ηλᵢ in a
step of gradient descent: it converges for η < 2/λ₁.  The lecture's η < 1/λ₁ is more
than needed.

Entries of X are N(0, 1), or those of column j are N(0, 1/j), a power law.  X is then
divided by a number, so that λ₁ = 100: times and rates have one unit for all samples.

Reference: Zhang, Bengio, Hardt, Recht & Vinyals (2017), arXiv:1611.03530, section 5;
Barak (2021), Harvard CS 229br, lecture 2.
"""

from typing import get_args

import jax
import jax.numpy as jnp
import numpy as np
import xarray as xr
from jaxtyping import PRNGKeyArray
from matplotlib.axes import Axes
from matplotlib.figure import Figure

from simbias.checks.values import not_negative, positive_integer
from simbias.claims import largest_of, smallest_of
from simbias.core import AbstractNetwork, Claim, Dataset, Experiment, Real
from simbias.errors import BadInput
from simbias.experiments._times import log_times
from simbias.experiments.linear._errors import (
    STEPS,
    decay,
    distance,
    leak,
    steps,
)
from simbias.experiments.linear._ways import LARGEST, RATES, Way, Ways
from simbias.figures.band import band
from simbias.figures.laws import law_line
from simbias.figures.legends import legend_below
from simbias.figures.style import COLOURS, blank, style
from simbias.losses import half_mse
from simbias.measures.linear.input_eigenvalues import InputEigenvalues
from simbias.measures.linear.least_norm import LeastNorm
from simbias.measures.linear.outside_span import OutsideSpan
from simbias.measures.linear.ridge_distance import RidgeDistance
from simbias.measures.linear.span_error import SpanError
from simbias.networks.dense.deep_linear import DeepLinear
from simbias.presets import presets

AXES = ("exponent", "start", "flow.way")
# What the claims are about: the slowest error has fallen by e^{−λ T}, λ about 1.
LEAST_TIME = 40.0
# t·λₙ from which e^{−t·λₙ} is below what claims of the end ask for.
DECAY = 20.0
WIDE = "d > n"
_PENALTIES = (1e-6, 1e-5, 1e-4, 1e-3)
_NAMES: dict[Way, str] = {
    "flow": "gradient flow",
    "gd": "GD, η = 1/λ₁",
    "gd_1.9": "GD, η = 1.9/λ₁",
    "gd_2.1": "GD, η = 2.1/λ₁",
    "momentum": "momentum",
    "sgd": "SGD, single rows",
    "adam": "Adam",
    "sign": "sign descent",
}
_COLOURS = dict(zip(_NAMES, (*COLOURS, "#999999"), strict=True))
_CONVERGING: tuple[Way, ...] = ("flow", "gd", "gd_1.9", "momentum", "sgd")
_THEOREM = "Zhang et al. (2017), arXiv:1611.03530; tolerance ours"


def make(
    key: PRNGKeyArray,
    *,
    n: int = 20,
    d: int = 50,
    exponent: Real = 0.0,
    sigma: Real = 0.5,
    start: Real = 0.0,
) -> tuple[Dataset, AbstractNetwork]:
    """A linear teacher w* ~ N(0, I) with noise, and a model that has seen nothing.

    Args:
        key: random key.
        n: samples.
        d: inputs, n at least.
        exponent: entries of column j of X are N(0, j^−exponent).
        sigma: standard deviation of the noise.
        start: standard deviation of the initial weights.

    Raises:
        ValueError: for a size or number out of range, or if X has not rank n: for n
            above d, and for an exponent with which columns are lost in rounding.
    """
    for name, size in (("n", n), ("d", d)):
        positive_integer(name, size)
    for name, value in (("sigma", sigma), ("exponent", exponent), ("start", start)):
        not_negative(name, value)
    if n > d:
        raise BadInput(
            f"`n` must be at most d, got n={n} and d={d}: X has rank {d}, and no w "
            f"interpolates. Example: n={d}."
        )
    if isinstance(exponent, float) and d ** (-exponent / 2) < 1e-6:
        raise BadInput(
            f"`exponent` must leave X of rank n, got {exponent}: the last of d={d} "
            "columns is below a millionth of the first. Example: exponent=1.0."
        )
    key_x, key_teacher, key_noise, key_start = jax.random.split(key, 4)
    deviation = jnp.arange(1, d + 1, dtype=jnp.float64) ** (-exponent / 2)
    x = deviation[None] * jax.random.normal(key_x, (n, d), jnp.float64)
    teacher = jax.random.normal(key_teacher, (d,), jnp.float64)
    x = x * jnp.sqrt(LARGEST * n) / jnp.linalg.norm(x, 2)
    mean = (x @ teacher)[:, None]
    y = mean + sigma * jax.random.normal(key_noise, (n, 1), jnp.float64)
    data = Dataset(x, y, jnp.ones(n, jnp.float64), mean, teacher[None])
    w = start * jax.random.normal(key_start, (1, d), jnp.float64)
    return data, DeepLinear((w,))


def _times(count: int) -> tuple[float, ...]:
    first = (RATES["gd"] * k for k in range(STEPS))
    return (*first, *log_times(0.3, LEAST_TIME, count)[1:])


experiment = presets(
    Experiment(
        name="min_norm",
        make=make,
        cell={
            "exponent": (0.0, 1.0),
            "start": (0.0, 1.0),
            "flow.way": tuple(get_args(Way)),
        },
        seeds=20,
        flow=Ways(),
        loss=half_mse,
        times=_times(30),
        measures={"row_error": SpanError(), "outside": OutsideSpan()},
        final={
            "eigenvalues": InputEigenvalues(),
            "least_norm": LeastNorm(),
            "ridge_distance": RidgeDistance(_PENALTIES),
        },
    ),
    smoke={
        "cell": {
            "exponent": 0.0,
            "n": 8,
            "d": 40,
            "flow.way": ("gd", "gd_2.1", "adam"),
        },
        "seeds": 2,
        "times": _times(6),
    },
    paper={"cell": {"d": (50, 200)}, "seeds": 200},
)


def figure(ds: xr.Dataset) -> Figure:
    """By law: distance to X⁺y, leak, factors of a step, distance to ridge."""
    with style():
        rows = ds.sizes["exponent"]
        whole = blank(15.0, 3.6 * rows + 0.2)
        panels = whole.subplots(rows, 4, squeeze=False)
        for i in range(rows):
            part = ds.isel(exponent=i, start=0)
            power = float(part["exponent"])
            name = f"X of variance j^−{power:g}" if power else "X of variance 1"
            _by_time(panels[i, 0], distance(part), (1e-15, 1e3))
            panels[i, 0].set_title(f"{name}: distance to X⁺y")
            # What grows for ever has a rounding that does.
            rest = leak(part).drop_sel({"flow.way": "gd_2.1"}, errors="ignore")
            _by_time(panels[i, 1], rest, (1e-17, 1e3))
            panels[i, 1].set_title("part outside the span")
            _draw_steps(panels[i, 2], ds.isel(exponent=i))
            _draw_ridge(panels[i, 3], part)
        for axes in (*panels[:, 0], *panels[:, 1], *panels[:, 3]):
            axes.set_ylabel("over ‖X⁺y‖")
        legend_below(whole, panels[0, 0], columns=8)
    return whole


def claims(ds: xr.Dataset) -> list[Claim]:
    """Who ends at X⁺y, who does not end, and who leaves the span."""
    end = ds.isel(time=[0, -1])
    far, out = distance(end).isel(time=-1), leak(end).isel(time=-1)
    found, decayed = [], decay(ds)
    # Of a run without a member that finished nothing is known, nor this.
    is_decayed, is_wide = not decayed < DECAY, int(ds["d"]) > int(ds["n"])
    is_precise = ds["row_error"].dtype == np.float64
    theorem = lambda claim: claim.given(is_precise, "float64")
    converged = lambda claim: theorem(claim).given(is_decayed, f"t·λₙ ≥ {DECAY:g}")
    for way in _CONVERGING:
        bound = 1e-6 if way == "sgd" else 1e-8
        text = f"{_NAMES[way]}: distance to X⁺y + P⊥w₀ over ‖X⁺y‖, largest"
        found.append(converged(largest_of(text, _of(far, way), (0, bound), _THEOREM)))
    text = "η = 2.1/λ₁: distance at the end over the first, smallest"
    grown = distance(end).isel(time=-1) / distance(end).isel(time=0)
    found.append(smallest_of(text, _of(grown, "gd_2.1"), (1, np.inf), "theory"))
    for way in ("adam", "sign"):
        text = f"control, {_NAMES[way]}: ‖P⊥(w − w₀)‖/‖X⁺y‖, smallest"
        claim = smallest_of(text, _of(out, way), (0.05, np.inf), "ours")
        found.append(claim.given(is_wide, WIDE))
    return found


def _of(values: xr.DataArray, way: Way) -> np.ndarray:
    """Those of a way, of all starts; none if there are none."""
    if way not in values["flow.way"].values:
        return np.zeros(0)
    return np.ravel(values.sel({"flow.way": way}))


def _by_time(axes: Axes, values: xr.DataArray, limits: tuple[float, float]) -> None:
    times = values["time"].values
    # Limits first, as zeros alone have none on it.
    axes.set_yscale("log")
    axes.set_ylim(*limits)
    for way in values["flow.way"].values:
        part = values.sel({"flow.way": way}).transpose("time", "seed")
        line = "--" if way == "sign" else "-"
        name, colour = _NAMES[way], _COLOURS[way]
        band(axes, times, part, line, colour=colour, label=name, lw=1.4)
    axes.set_xscale("symlog", linthresh=0.1)
    axes.set_xlabel("time, rate × steps")


def _draw_steps(axes: Axes, ds: xr.Dataset) -> None:
    """Every factor that is seen between two records one step apart."""
    axes.set_title("factor of an error in a step")
    for way in RATES:
        if way not in ds["flow.way"]:
            continue
        seen, _, count = steps(ds, way)
        share = RATES[way] * ds["eigenvalues"].sel({"flow.way": way})
        x, y = (v.values.ravel() for v in xr.broadcast(share, seen.where(count == 1)))
        axes.plot(x, y, ".", ms=3, color=_COLOURS[way], label=_NAMES[way])
    law_line(axes, np.array([0, 2.1]), np.array([1, -1.1]), "1 − ηλᵢ", line=":")
    axes.set_xlabel("ηλᵢ")
    axes.legend()


def _draw_ridge(axes: Axes, ds: xr.Dataset) -> None:
    axes.set_title("end of GD: distance to ridge")
    if "gd" in ds["flow.way"]:
        part = ds.sel({"flow.way": "gd"})
        away = (part["ridge_distance"] / part["least_norm"]).transpose(..., "seed")
        x = away["penalty"].values / LARGEST
        band(axes, x, away, "o-", colour=COLOURS[0], ms=4)
        first = float(away.median("seed")[0])
        law_line(axes, x, first * x / x[0], "∝ λ", line=":")
        axes.legend(loc="upper left")
    axes.set_xscale("log")
    axes.set_yscale("log")
    axes.set_xlabel("λ/λ₁")
