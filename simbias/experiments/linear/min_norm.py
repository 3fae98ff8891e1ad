"""Minimum norm: descent finds the smallest interpolator, unless it rescales inputs.

Linear regression with fewer samples than weights has many interpolators.  From w = 0
the gradient flow, gradient descent, momentum and SGD on single rows all end at X⁺y, the
one of least norm.  Every gradient is a sum of samples, so w never leaves their span,
and the part of w₀ outside the span never changes.  Ridge regression converges to the
same point, in proportion to its penalty.  Adam and sign descent rescale coordinates and
leave the span.  Adam ends at an interpolator of larger norm; sign descent with a
constant learning rate does not converge.

Inside the span a step of gradient descent multiplies the error along the i-th
eigenvector of XᵀX/n by 1 − ηλᵢ, so it converges for η < 2/λ₁.  The lecture's η < 1/λ₁
is sufficient, not necessary.

Entries of X are N(0, 1), or N(0, 1/j) in column j, a power law.  X is then divided by a
number such that λ₁ = 100, so that times and learning rates have one unit for all
samples.

Reference: Zhang, Bengio, Hardt, Recht & Vinyals (2017), arXiv:1611.03530, section 5;
Barak (2021), Harvard CS 229br, lecture 2.
"""

import functools
from typing import get_args

import jax
import jax.numpy as jnp
import numpy as np
import xarray as xr
from jaxtyping import PRNGKeyArray

from simbias.analysis.at import at
from simbias.claims import Claims, largest_of, smallest_of
from simbias.core import AbstractNetwork, Claim, Dataset, Experiment, Real
from simbias.errors import BadInput
from simbias.experiment_presets import presets
from simbias.experiments._times import log_times
from simbias.experiments.linear._methods import (
    LARGEST,
    RATES,
    STEPS,
    Method,
    Methods,
    decay,
    distance,
    in_a_step,
    leak,
    rates,
)
from simbias.figures import Curves, Law, Panels, Points
from simbias.losses import half_mse
from simbias.measures import (
    InputEigenvalues,
    LeastNorm,
    OutsideSpan,
    RidgeDistance,
    SpanError,
)
from simbias.networks import DeepLinear
from simbias.validation.values import not_negative, positive_integers

AXES = ("exponent", "start", "flow.method")
# Claims are about this time at least: the slowest error has fallen by e^{−λ T}, λ ≈ 1.
LEAST_TIME = 40.0
# t·λₙ from which e^{−t·λₙ} is below the bounds of claims about the end.
DECAY = 20.0
WIDE = "d > n"
_PENALTIES = (1e-6, 1e-5, 1e-4, 1e-3)
_NAMES: dict[Method, str] = {
    "flow": "gradient flow",
    "gd": "GD, η = 1/λ₁",
    "gd_1.9": "GD, η = 1.9/λ₁",
    "gd_2.1": "GD, η = 2.1/λ₁",
    "momentum": "momentum",
    "sgd": "SGD, single rows",
    "adam": "Adam",
    "sign": "sign descent",
}
_CONVERGING: tuple[Method, ...] = ("flow", "gd", "gd_1.9", "momentum", "sgd")
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
    """A linear teacher w* ~ N(0, I) with noise, and an untrained linear model.

    Args:
        key: random key.
        n: samples.
        d: inputs, n or more.
        exponent: entries of column j of X are N(0, j^−exponent).
        sigma: standard deviation of the noise.
        start: standard deviation of the initial weights.

    Raises:
        ValueError: for a size or number out of range, or if X does not have rank n:
            for n above d, and for an exponent so large that rounding loses columns.
    """
    positive_integers(n=n, d=d)
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
            "flow.method": tuple(get_args(Method)),
        },
        seeds=20,
        flow=Methods(),
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
            "flow.method": ("gd", "gd_2.1", "adam"),
        },
        "seeds": 2,
        "times": _times(6),
    },
    paper={"cell": {"d": (50, 200)}, "seeds": 200},
)


def _leak(ds: xr.Dataset) -> xr.DataArray:
    # If w grows without bound, so do its rounding errors.
    return leak(ds).where(ds["flow.method"] != "gd_2.1")


def _ridge(ds: xr.Dataset) -> xr.Dataset:
    """The end of gradient descent, over λ/λ₁."""
    end = at(ds.isel(start=0), "flow.method", "gd")
    away = end["ridge_distance"] / end["least_norm"]
    share = ds["penalty"].values / LARGEST
    return away.assign_coords(penalty=share).to_dataset(name="away")


def _in_proportion(part: xr.Dataset) -> xr.DataArray:
    x = part["penalty"]
    return float(part["away"].median("seed")[0]) * x / x[0]


def _unit_step(_: xr.Dataset) -> xr.DataArray:
    share = np.array([0, 2.1])
    return xr.DataArray(1 - share, {"share": share}, "share")


_by_time = functools.partial(
    Curves,
    colour="flow.method",
    of=lambda ds: ds.isel(start=0),
    xscale={"value": "symlog", "linthresh": 0.1},
    xlabel="time, rate × steps",
    yscale="log",
    ylabel="over ‖X⁺y‖",
)
figure = Panels(
    _by_time(distance, title="distance to X⁺y", ylim=(1e-15, 1e3)),
    _by_time(_leak, title="part outside the span", ylim=(1e-17, 1e3)),
    Points(
        in_a_step,
        x=lambda ds: rates(ds) * ds["eigenvalues"],
        colour="flow.method",
        title="factor of an error in a step",
        xlabel="ηλᵢ",
        laws=(Law(_unit_step, "1 − ηλᵢ", line=":"),),
    ),
    Curves(
        "away",
        x="penalty",
        mark="o",
        of=_ridge,
        title="end of GD: distance to ridge",
        xlabel="λ/λ₁",
        xscale="log",
        yscale="log",
        ylabel="over ‖X⁺y‖",
        laws=(Law(_in_proportion, "∝ λ", line=":"),),
    ),
    rows="exponent",
    names={
        "exponent": {0.0: "X of variance 1", 1.0: "X of variance 1/j"},
        "flow.method": _NAMES,
    },
    legend=8,
)


def claims(ds: xr.Dataset) -> list[Claim]:
    """Which methods end at X⁺y, which diverge, and which leave the span."""
    ends = ds.isel(time=[0, -1])
    far, out, decayed = distance(ends), leak(ends).isel(time=-1), decay(ds)
    needs = {
        "float64": ds["row_error"].dtype == np.float64,
        # Not known for a run in which no network finished.
        f"t·λₙ ≥ {DECAY:g}": not decayed < DECAY,
    }
    found = []
    for method in _CONVERGING:
        text = f"{_NAMES[method]}: distance to X⁺y + P⊥w₀ over ‖X⁺y‖, largest"
        band = (0, 1e-6 if method == "sgd" else 1e-8)
        end = at(far.isel(time=-1), "flow.method", method)
        found.append(largest_of(text, end, band, _THEOREM))
    text = "η = 2.1/λ₁: distance at the end over the first, smallest"
    grown = at(far.isel(time=-1) / far.isel(time=0), "flow.method", "gd_2.1")
    left = []
    for method in ("adam", "sign"):
        said = f"control, {_NAMES[method]}: ‖P⊥(w − w₀)‖/‖X⁺y‖, smallest"
        left.append(
            smallest_of(said, at(out, "flow.method", method), (0.05, np.inf), "ours")
        )
    return [
        *Claims(needs).rows(*found),
        smallest_of(text, grown, (1, np.inf), "theory"),
        *Claims({WIDE: int(ds["d"]) > int(ds["n"])}).rows(*left),
    ]
