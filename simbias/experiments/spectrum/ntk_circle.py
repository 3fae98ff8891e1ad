"""Tangent kernel on the circle: when each frequency is learned, and which never.

Of a wide two-layer ReLU network that trains its first layer, the residual along cos kθ
and sin kθ falls as exp(−λ_k t), λ_k the k-th Fourier coefficient of the kernel, ∝ k⁻².
Without bias it is 0 for odd k ≥ 3, and of no width does the network have such a part:
f(x) − f(−x) is linear.

Reference: Basri, Jacobs, Kasten & Kritchman (2019), arXiv:1906.00425.
"""

import jax
import jax.numpy as jnp
import numpy as np
import xarray as xr
from jaxtyping import Array, Float, PRNGKeyArray
from matplotlib.axes import Axes
from matplotlib.figure import Figure
from matplotlib.ticker import LogLocator

from simbias.analysis.first_passage import first_passage
from simbias.claims import Claims, farthest_of, mean_of
from simbias.core import (
    AbstractNetwork,
    Claim,
    Dataset,
    Experiment,
    Real,
)
from simbias.errors import BadInput
from simbias.experiment_presets import presets
from simbias.experiments._times import log_steps
from simbias.experiments.spectrum._circle import BASRI, kernel_network, on_circle
from simbias.figures import law_line, legend_below
from simbias.figures.band import band
from simbias.figures.style import COLOURS, blank, style
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
FREQUENCIES = tuple(range(1, HIGHEST + 1))
_NAMES = {False: "no bias", True: "bias"}


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

    Raises:
        ValueError: for a size or number out of range.
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
        measures={
            "shares": CircleShares(FREQUENCIES),
            "rates": KernelRates(cosines),
        },
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
    return xr.DataArray(circle_eigenvalues(k, bool(ds["has_bias"])), dims=dim)


def half_times(ds: xr.Dataset) -> xr.DataArray:
    """When half of a frequency is learned; NaN if it is not."""
    left = ds["shares"].sel(part="left", drop=True)
    return first_passage(-xr.ufuncs.log(left.clip(min=1e-300)), float(np.log(2)))


def law_of_half_times(ds: xr.Dataset) -> xr.DataArray:
    """−η ln 2/ln(1 − η λ_k), of descent at rate η; infinite where λ_k = 0."""
    factor = -np.log1p(-RATE * eigenvalues(ds, "frequency").values)
    with np.errstate(divide="ignore"):
        return xr.DataArray(RATE * np.log(2) / factor, dims="frequency")


def deviation(ds: xr.Dataset) -> xr.DataArray:
    """Root mean square over the frequencies of ln (time to half over that of the law).

    At the start of a net of finite width K is off by a factor of order 1/√m.
    """
    law = law_of_half_times(ds)
    gap = xr.ufuncs.log(half_times(ds) / law).isel(frequency=np.isfinite(law.values))
    return xr.ufuncs.sqrt((gap**2).mean("frequency", skipna=False))


def figure(ds: xr.Dataset) -> Figure:
    """Rates and eigenvalues, what is left by time, deviation from the law by width."""
    every, ds = ds, ds.isel(m=-1)
    kinds = ds["has_bias"].values
    with style():
        whole = blank(3.9 * (2 + len(kinds)), 3.8)
        first, *others, last = whole.subplots(1, 2 + len(kinds))
        k = np.arange(HIGHEST + 1)
        for kind, colour in zip(kinds, COLOURS, strict=False):
            part = ds.sel(has_bias=kind)
            rates = part["rates"].isel(time=0)
            law = eigenvalues(part, "function").values
            is_seen = law > 0
            name = _NAMES[bool(kind)]
            seen = rates.isel(function=is_seen)
            band(first, k[is_seen], seen, "o", colour=colour, label=name, ms=4)
            law_line(first, k[is_seen], law[is_seen], colour=colour)
        first.set(yscale="log", xlabel="frequency k", xticks=k)
        first.set_title("rate at the start; dashed: λ_k")
        first.legend()
        for axes, kind in zip(others, kinds, strict=True):
            # Time 0 has no place on an axis of logarithms.
            part = ds.sel(has_bias=kind).isel(time=slice(1, None))
            steps = np.round(part["time"].values / RATE)
            for i, f in enumerate((1, 2, 3, 4, 7, 10)):
                left = part["shares"].sel(part="left", frequency=f)
                label, colour = f"k = {f}", COLOURS[i % len(COLOURS)]
                x = part["time"].values
                band(axes, x, left, "o", colour=colour, label=label, ms=3)
                law = eigenvalues(part, "frequency").values[f - 1]
                law_line(axes, x, (1 - RATE * law) ** steps, colour=colour)
            axes.set(xscale="log", yscale="log", ylim=(1e-3, 2), xlabel="time")
            axes.set_title(f"{_NAMES[bool(kind)]}: share left; dashed: law")
        legend_below(whole, others[0], columns=6)
        _by_width(last, every)
    return whole


def _by_width(axes: Axes, ds: xr.Dataset) -> None:
    is_known = False
    for kind, colour in zip(ds["has_bias"].values, COLOURS, strict=False):
        seen = deviation(ds.sel(has_bias=kind))
        is_known |= bool((seen > 0).any())
        name = _NAMES[bool(kind)]
        band(axes, ds["m"].values, seen, "o-", colour=colour, label=name, ms=4)
        law = float(seen.isel(m=0).median()) * (ds["m"] / ds["m"][0]) ** -0.5
        law_line(axes, ds["m"], law, colour=colour)
    # In a short run no frequency may have come to a half.
    axes.set(xscale="log", xlabel="width m", yscale="log" if is_known else "linear")
    axes.set_xticks(ds["m"].values, [f"{m:d}" for m in ds["m"].values])
    if is_known:
        axes.yaxis.set_major_locator(LogLocator(subs=(1, 2, 5)))
    axes.yaxis.set_major_formatter("{x:g}")
    axes.minorticks_off()
    axes.set_title("times off the law; dashed: 1/√m")


def claims(ds: xr.Dataset) -> list[Claim]:
    """Rates and times; with bias everything is learned, after k²."""
    out, wide = [], ds.isel(m=-1)
    at = f"m = {int(wide['m'])}"
    for kind in ds["has_bias"].values:
        part, name = wide.sel(has_bias=kind), _NAMES[bool(kind)]
        out += _against_law(part, f"{name}, {at}")
        out.append(_exponent_in_m(ds.sel(has_bias=kind), name))
        if kind:
            out.append(_exponent(part, f"{name}, {at}"))
    return out


def _against_law(part: xr.Dataset, where: str) -> list[Claim]:
    law = eigenvalues(part, "function")
    ratio = (part["rates"].isel(time=0) / law.where(law > 0)).isel(function=law > 0)
    time = law_of_half_times(part)
    is_seen = np.isfinite(time.values)
    late = (half_times(part) / time.where(is_seen)).isel(frequency=is_seen)
    source = f"{BASRI}; band ours"
    average = late.mean("seed", skipna=False)
    far = late.isel(frequency=int(np.argmax(np.abs(np.log(average.values)))))
    k = int(far["frequency"])
    band, wide = (0.9, 1.1), {f"a width of {WIDE}": int(part["m"]) >= WIDE}
    return Claims(wide, where).rows(
        farthest_of("rate of cos kθ over λ_k, k ≤ 10", ratio, 1, band, source),
        farthest_of("time to half of k over the law's", late, 1, band, source),
        mean_of(f"the same, farthest mean, k = {k}", far, band, source),
    )


def _exponent_in_m(part: xr.Dataset, where: str) -> Claim:
    y = xr.ufuncs.log(deviation(part))
    x = np.log(part["m"])
    x = x - x.mean()
    slope = (x * y).sum("m", skipna=False) / max(float((x**2).sum()), 1e-300)
    text = f"{where}: times off the law (rms of ln), exponent in m"
    claim = mean_of(text, slope, (-0.65, -0.35), "law of large numbers; band ours")
    return claim.given(len(x) > 1, "two widths")


def _exponent(part: xr.Dataset, where: str) -> Claim:
    times = xr.ufuncs.log(half_times(part).sel(frequency=slice(3, None)))
    x = np.log(times["frequency"])
    x = x - x.mean()
    slope = (x * times).sum("frequency", skipna=False) / float((x**2).sum())
    text = f"{where}: time to half, exponent in k from 3 on"
    return mean_of(text, slope, (1.8, 2.2), f"{BASRI}; band ours")
