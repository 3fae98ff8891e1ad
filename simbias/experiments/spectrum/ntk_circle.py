"""Tangent kernel on the circle: when each frequency is learned, and which never.

A wide two-layer ReLU network trains its first layer.  Its residual along cos kθ and sin
kθ falls as exp(−λ_k t), with λ_k the k-th Fourier coefficient of the kernel, ∝ k⁻².
Without bias λ_k = 0 for odd k ≥ 3.  Such a part cannot be represented at any width,
because f(x) − f(−x) is linear.

Reference: Basri, Jacobs, Kasten & Kritchman (2019), arXiv:1906.00425.
"""

import functools

import jax
import jax.numpy as jnp
import numpy as np
import xarray as xr
from jaxtyping import Array, Float, PRNGKeyArray

from simbias.analysis.half_time import half_time
from simbias.analysis.slope_along import slope_in_log
from simbias.claims import Claims, farthest_of, mean_of
from simbias.core import AbstractNetwork, Claim, Dataset, Experiment, Real
from simbias.errors import BadInput
from simbias.experiment_presets import presets
from simbias.experiments._times import log_steps
from simbias.experiments.spectrum._circle import BASRI, kernel_network, on_circle
from simbias.figures import Curves, Law, Panels
from simbias.flows import Descent
from simbias.losses import half_mse
from simbias.measures import CircleShares, KernelRates
from simbias.theory.circle_kernel import circle_eigenvalues
from simbias.validation.values import positive, positive_integer

AXES = ("has_bias", "m")
RATE = 4.0
HIGHEST = 10
# From which width on rates are claimed to be those of the limit, within 10 %.
WIDE = 4096
NUMBERS = "law of large numbers, −½; band ours"
DELAY = "derived: from −1, of the delay alone, to −½, of scatter alone"
FREQUENCIES = tuple(range(1, HIGHEST + 1))
NAMES = {False: "no bias", True: "bias"}


def cosines(x: Float[Array, " 2"]) -> Float[Array, " q"]:
    """All cos kθ of a point of the circle, k = 0, …, HIGHEST."""
    return jnp.cos(jnp.arange(HIGHEST + 1, dtype=x.dtype) * jnp.arctan2(x[1], x[0]))


def make(
    key: PRNGKeyArray,
    *,
    has_bias: bool = True,
    m: int = 4096,
    n: int = 128,
    size: Real = 0.05,
) -> tuple[Dataset, AbstractNetwork]:
    """Sample of y = A Σ sin(kθ + φ_k), k = 1, …, 10, uniform, and a net with f = 0.

    Args:
        key: random key, of the phases and of the network.
        has_bias: whether neurons have a bias.
        m: width, even.
        n: points, even, more than twice the highest frequency.
        size: A; the smaller A²/m, the less the kernel moves.
    """
    positive_integer("n", n)
    positive("size", size)
    if n % 2 or n <= 2 * HIGHEST:
        raise BadInput(
            f"`n` must be even and above {2 * HIGHEST}, twice the highest frequency, "
            f"got {n}."
        )
    key_phase, key_network = jax.random.split(key)
    phase = jax.random.uniform(key_phase, (HIGHEST,), jnp.float64, maxval=2 * jnp.pi)
    angle = jnp.asarray(2 * np.pi * np.arange(n) / n)
    k = jnp.asarray(FREQUENCIES, jnp.float64)
    waves = jnp.sin(k[:, None] * angle[None, :] + phase[:, None])
    data = on_circle(angle, size * jnp.sum(waves, axis=0))
    return data, kernel_network(key_network, m=m, has_bias=has_bias)


experiment = presets(
    Experiment(
        name="ntk_circle",
        make=make,
        cell={"has_bias": (False, True), "m": (256, 1024, 4096)},
        seeds=12,
        flow=Descent(rate=RATE),
        loss=half_mse,
        times=log_steps(RATE, 1, 4800 / RATE, 30),
        measures={"shares": CircleShares(FREQUENCIES), "rates": KernelRates(cosines)},
    ),
    smoke={
        "cell": {"m": (64,), "n": 32},
        "seeds": 6,
        "times": log_steps(RATE, 1, 800 / RATE, 12),
    },
    paper={"cell": {"m": (256, 1024, 4096, 16384), "n": 512}, "seeds": 20},
)


def eigenvalues(ds: xr.Dataset, dim: str) -> xr.DataArray:
    """λ_k over `dim`, "function" (from k = 0) or "frequency"."""
    k = np.arange(HIGHEST + 1) if dim == "function" else ds["frequency"].values
    return xr.DataArray(circle_eigenvalues(k, bool(ds["has_bias"])), {dim: k})


def half_times(ds: xr.Dataset) -> xr.DataArray:
    """Times at which half of a frequency is learned; NaN if never."""
    return half_time(ds["shares"].sel(part="left", drop=True))


def law_of_half_times(ds: xr.Dataset) -> xr.DataArray:
    """−η ln 2/ln(1 − η λ_k), of descent at rate η; infinite where λ_k = 0."""
    with np.errstate(divide="ignore"):
        return -RATE * np.log(2) / np.log1p(-RATE * eigenvalues(ds, "frequency"))


def rate_ratios(ds: xr.Dataset) -> xr.DataArray:
    """Rates at the start over λ_k, where this is not 0."""
    law = eigenvalues(ds, "function")
    return (ds["rates"].isel(time=0) / law).isel(function=law.values > 0)


def rates_off(ds: xr.Dataset) -> xr.DataArray:
    """Root mean square over k of ln (initial rate over λ_k).

    A rate is a mean over neurons and equals λ_k on average.  Its relative error is of
    order 1/√m.
    """
    gap = xr.ufuncs.log(rate_ratios(ds))
    return xr.ufuncs.sqrt((gap**2).mean("function", skipna=False))


def deviation(ds: xr.Dataset) -> xr.DataArray:
    """Root mean square over the frequencies of ln (time to half over that of the law).

    The relative error of the rates is of order 1/√m.  Eigenvalues that repel each other
    delay high frequencies by a factor of order 1/m.  So the exponent in m is between −1
    and −½.
    """
    law = law_of_half_times(ds)
    gap = xr.ufuncs.log(half_times(ds) / law).isel(frequency=np.isfinite(law.values))
    return xr.ufuncs.sqrt((gap**2).mean("frequency", skipna=False))


def drawn(ds: xr.Dataset) -> xr.Dataset:
    """Rates, remaining amplitudes, and deviations of the times, each with its law."""
    kinds: list[xr.Dataset] = []
    off: list[xr.Dataset] = []
    wide = ds.isel(m=-1)
    for kind in ds["has_bias"].values:
        # Time 0 has no place on an axis of logarithms.
        part = wide.sel(has_bias=kind).isel(time=slice(1, None))
        steps, rates = np.round(part["time"] / RATE), eigenvalues(part, "function")
        law = (1 - RATE * eigenvalues(part, "frequency")) ** steps
        first = wide["rates"].sel(has_bias=kind).isel(time=0, drop=True)
        one = {"left": part["shares"].sel(part="left", drop=True), "law_left": law}
        one |= {"rates": first.where(rates > 0), "law_rates": rates.where(rates > 0)}
        kinds.append(xr.Dataset(one))
        seen = deviation(ds.sel(has_bias=kind))
        law = seen.isel(m=0).median() * (ds["m"] / ds["m"][0]) ** -0.5
        off.append(xr.Dataset({"off": seen, "law_off": law}))
    of_kind, of_width = (xr.concat(rows, ds["has_bias"]) for rows in (kinds, off))
    both = of_kind.drop_vars("m").merge(of_width, compat="override")
    return both.sel(frequency=[1, 2, 3, 4, 10])


_marks = functools.partial(Curves, mark="o", yscale="log")
figure = Panels(
    _marks(
        "rates",
        colour="has_bias",
        is_joined=False,
        title="rate at the start; dashed: λ_k",
        x="function",
        xlabel="frequency k",
        ticks=True,
        laws=(Law("law_rates"),),
    ),
    _marks(
        "left",
        facet="has_bias",
        colour="frequency",
        first_colour=2,
        is_joined=False,
        title="share left; dashed: law",
        xscale="log",
        ylim=(1e-3, 2),
        laws=(Law("law_left"),),
    ),
    _marks(
        "off",
        colour="has_bias",
        title="times off the law; dashed: 1/√m",
        x="m",
        xlabel="width m",
        ticks=True,
        xscale="log",
        laws=(Law("law_off"),),
    ),
    of=drawn,
    names={"has_bias": NAMES, "frequency": "k"},
    size=(3.9, 3.6),
    legend=7,
)


def claims(ds: xr.Dataset) -> list[Claim]:
    """Rates and times; with bias everything is learned, in a time ∝ k²."""
    out, m = [], int(ds["m"][-1])
    widths = Claims({"two widths": ds.sizes["m"] > 1})
    for kind in ds["has_bias"].values:
        part, name = ds.sel(has_bias=kind), NAMES[bool(kind)]
        out += _against_law(part.isel(m=-1), f"{name}, m = {m}")
        text = f"{name}: rates off the law (rms of ln), exponent in m"
        scatter = slope_in_log(xr.ufuncs.log(rates_off(part)), "m")
        out += widths.rows(mean_of(text, scatter, (-0.65, -0.35), NUMBERS))
        text = f"{name}: times off the law (rms of ln), exponent in m"
        both = slope_in_log(xr.ufuncs.log(deviation(part)), "m")
        alone = mean_of(f"{text}, as of scatter alone", both, (-0.65, -0.35), NUMBERS)
        out += widths.rows(
            mean_of(text, both, (-1, -0.5), DELAY),
            alone.given(False, "rates: times have a delay of order 1/m as well"),
        )
        if kind:
            late = half_times(part.isel(m=-1)).sel(frequency=slice(3, None))
            slope = slope_in_log(xr.ufuncs.log(late), "frequency")
            text = f"{name}, m = {m}: time to half, exponent in k from 3 on"
            out.append(mean_of(text, slope, (1.8, 2.2), f"{BASRI}; band ours"))
    return out


def _against_law(part: xr.Dataset, where: str) -> list[Claim]:
    """Means over networks, and the farthest single network.

    The farthest value grows with the number of networks, so it has no band.
    """
    time = law_of_half_times(part)
    ratio = rate_ratios(part)
    late = (half_times(part) / time).isel(frequency=np.isfinite(time.values))
    band, source = (0.9, 1.1), f"{BASRI}; band ours"
    kinds = {
        "rate of cos kθ over λ_k": (ratio, "function"),
        "time to half of k over the law's": (late, "frequency"),
    }
    means, farthest = [], []
    for text, (values, axis) in kinds.items():
        average = values.mean("seed", skipna=False)
        far = values.isel({axis: int(np.argmax(np.abs(np.log(average.values))))})
        k = int(far[axis])
        means.append(mean_of(f"{text}, farthest mean, k = {k}", far, band, source))
        told = f"{text}, farthest of {values.size} values"
        one = farthest_of(told, values, 1, band, source)
        farthest.append(one.given(False, "a mean: the farthest of many has no band"))
    wide = {f"a width of {WIDE}": int(part["m"]) >= WIDE}
    return Claims(wide, where).rows(*means, *farthest)
