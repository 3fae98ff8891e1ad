"""Number of extremal vectors of one sign in the plane: 1 + σ/π.

The extremal vectors of a linear teacher with noise gather at ±β*, but they do not
merge.  The hyperplanes w·x_k = 0 follow one another on the scale of 1/n.  On this scale
the slope of G near ±β* is a random walk with a drift, and it crosses 0 more than once:

    E = 1 + κ,   κ = (σ/π)·(1 − α)/(1 + α)      (‖β*‖ = 1, activation max(z, αz))

For large n, one of them lies between hyperplanes on average, and the others on one
hyperplane each.  The number itself also has a law.  The mean depends on the noise only
through E|ε|. Without noise the mean number exceeds 1 by 4/(π√(πn)).

Nothing is trained.  For each dataset, sorting angles finds all extrema.  This includes
a leaky ReLU (α = ½) and noise ±σ.  Without a ReLU, α = 1, G = w·D has one maximum.

Reference: Boursier & Flammarion (2024), arXiv:2410.02348, extremal vectors of finite
samples; the laws are ours, derived in docs/alignment/extremal_count.md.
"""

import dataclasses
import functools
import math

import jax
import jax.numpy as jnp
import numpy as np
import xarray as xr
from jaxtyping import PRNGKeyArray

from simbias.analysis.mean_interval import mean_interval
from simbias.claims import Claims, estimate_of, mean_of, share_of
from simbias.core import AbstractNetwork, Claim, Dataset, Experiment, Real
from simbias.datasets import gaussian_teacher
from simbias.experiment_presets import presets
from simbias.figures import AxisEnd, Estimates, Law, Panels, Points, means
from simbias.flows import Descent
from simbias.losses import half_mse
from simbias.measures import ExtremaCounts
from simbias.networks import balanced
from simbias.theory.extremal_count import (
    extremal_chance,
    extremal_count,
    extremal_count_at,
    extremal_spread,
)

AXES = ("sigma", "n")
DERIVED = "derived in docs/alignment/extremal_count.md; band ours"
# Samples from which a number is that of the limit to 2 %.
LARGE = 1000
NAMES = {"relu": "ReLU", "leaky": "α = ½", "signs": "noise ±σ"}
# Slope of the activation for negative inputs; `signs` has the second target.
SLOPES = {"relu": 0.0, "leaky": 0.5, "signs": 0.0}
CASES = tuple((name, SLOPES[name], int(name == "signs")) for name in SLOPES)


def make(
    key: PRNGKeyArray, *, n: int, sigma: Real = 0.3
) -> tuple[Dataset, AbstractNetwork]:
    """A linear teacher in the plane, and one neuron that is not used.

    The second target has noise ±σ, with the signs of the noise of the first.
    """
    key_data, key_network = jax.random.split(key)
    data = gaussian_teacher(key_data, n=n, d=2, sigma=sigma, n_test=1)
    signs = data.mean + sigma * jnp.sign(data.y - data.mean)
    y = jnp.concatenate([data.y, signs], axis=1)
    clean = jnp.concatenate([data.mean, data.mean], axis=1)
    data = dataclasses.replace(data, y=y, mean=clean, test=None)
    return data, balanced(key_network, m=1, d=2, k=2)


experiment = presets(
    Experiment(
        name="extremal_count",
        make=make,
        cell={"n": (50, 400, 2000), "sigma": (0.0, 0.3, 1.0, 3.0)},
        seeds=3000,
        flow=Descent(),
        loss=half_mse,
        times=(0.0,),
        measures={"extrema": ExtremaCounts(CASES)},
    ),
    smoke={"cell": {"n": LARGE, "sigma": (0.0, 1.0)}, "seeds": 300},
    paper={
        "cell": {
            "n": (25, 50, 100, 200, 400, 800, 1600, 3200, 6400, 12800),
            "sigma": (0.0, 0.1, 0.3, 1.0, 3.0, 10.0),
        },
        "seeds": 10000,
    },
)


def kind(ds: xr.Dataset, name: str, case: str = "relu") -> xr.DataArray:
    """Extrema of one kind, over (sigma, n, seed, sign)."""
    seen = ds["extrema"].isel(time=0).sel(kind=name, case=case)
    return seen.drop_vars(["case", "kind", "time"], errors="ignore")


def number(ds: xr.Dataset, case: str = "relu") -> xr.DataArray:
    """Extrema at which neurons can end, over (sigma, n, seed, sign)."""
    return kind(ds, "inside", case) + kind(ds, "on_kinks", case)


def law(sigma: float, case: str = "relu") -> float:
    """Mean of the number for n → ∞; it depends on the noise ε only through E|ε|."""
    size = sigma * math.sqrt(math.pi / 2) if case == "signs" else sigma
    return extremal_count(2, size, slope=SLOPES[case])


def drawn(ds: xr.Dataset) -> xr.Dataset:
    """Values of the figure and the laws, along `size`, `noise`, `number` and n."""
    sigma, n, last = ds["sigma"].values.tolist(), ds["n"].values, ds.isel(n=-1)
    sizes = np.geomspace(n[0] / 1.5, n[-1] * 1.5, 60)
    noises = np.linspace(0, 1.05 * max(sigma) + 0.05, 50)
    counts = np.arange(1, int(number(last).max()) + 1)
    shares = [(number(last) == count).mean(["seed", "sign"]) for count in counts]
    spread = kind(ds, "spread")
    by_size = [[extremal_count_at(round(v), s) for v in sizes] for s in sigma]
    by_case = [[law(v, case) for v in noises] for case in NAMES]
    chances = [extremal_chance(len(counts), s) if s else np.nan * counts for s in sigma]
    angles = [extremal_spread(s) * np.pi / n if s else np.nan * n for s in sigma]
    cases = [number(last, case).mean("sign") for case in NAMES]
    return xr.Dataset(
        {
            "mean": means(number(ds).mean("sign")),
            "by_size": (("sigma", "size"), by_size),
            "limit": ("sigma", [law(s) for s in sigma]),
            "cases": means(xr.concat(cases, "case")),
            "by_case": (("case", "noise"), by_case),
            "shares": xr.concat(shares, "number").where(lambda share: share > 0),
            "chances": (("sigma", "number"), chances),
            "spread": spread.where((spread > 0) & (spread["sigma"] > 0)),
            "angles": (("sigma", "n"), angles),
            "away": ("n", np.sqrt(2 * (1 + max(sigma) ** 2) / n)),
        },
        {"size": sizes, "noise": noises, "number": counts, "case": [*NAMES]}
        | {"largest": n[-1]},
    )


in_n = functools.partial(dict, x="n", xlabel="samples n", xscale="log", colour="sigma")
figure = Panels(
    Estimates(
        "mean",
        **in_n(),
        title="extremal vectors per sign, mean, d = 2",
        laws=(Law("by_size", "law at n"),),
        beyond=(AxisEnd("limit", "∞"),),
    ),
    Estimates(
        "cases",
        colour="case",
        x="sigma",
        xlabel="noise σ",
        title="the same at n = {largest}, three cases; lines: laws",
        laws=(Law("by_case"),),
    ),
    Points(
        "shares",
        colour="sigma",
        has_median=False,
        x="number",
        xlabel="extremal vectors of a sign",
        yscale="log",
        title="share of the signs, n = {largest}; lines: law",
        laws=(Law("chances"),),
    ),
    Points(
        lambda ds: ds["spread"].mean(["seed", "sign"]),
        **in_n(),
        has_median=False,
        yscale="log",
        title="angle from first to last of a sign (rad), mean; lines: law",
        laws=(Law("angles"), Law("away", "to ±β*, largest σ", ":", "black")),
    ),
    of=drawn,
    names={"sigma": "σ", "case": NAMES},
    size=(5.0, 3.7),
    legend="inside",
    across=2,
)


def claims(ds: xr.Dataset) -> list[Claim]:
    """The mean number, its parts, its law, and cases with other laws."""
    out = []
    for sigma in map(float, ds["sigma"].values):
        out += _with_noise(ds.isel(n=-1), sigma) if sigma else _without_noise(ds)
    return out


def _with_noise(ds: xr.Dataset, sigma: float) -> list[Claim]:
    """Claims for one σ > 0, at the largest n."""
    n, ds = int(ds["n"]), ds.sel(sigma=sigma)
    where, seen, expected = f"σ = {sigma:g}, n = {n}", number(ds), law(sigma)
    chance = extremal_chance(2, sigma)
    single = 1 - float(chance[0])
    more = 1 - chance[1] / single
    several = (seen > 2).where(seen > 1)
    apart, spread = extremal_spread(sigma) * math.pi / n, kind(ds, "spread").values
    spread = spread[spread > 0] / apart

    def ratio(text: str, seen: xr.DataArray, expected: float, width: float) -> Claim:
        over = seen.mean("sign", skipna=False).values / expected
        return mean_of(f"{text}, {where}", over, (1 - width, 1 + width), DERIVED)

    def share(text: str, is_true: xr.DataArray, law: float, width: float) -> Claim:
        text = f"{text}, {law:.4f} by the law, {where}"
        band = (law - width, law + width)
        return share_of(text, is_true, band, DERIVED, pooled=("sign",))

    per_sign = "extremal vectors per sign over"
    return Claims(needs={f"n ≥ {LARGE}": n >= LARGE}).rows(
        ratio(f"{per_sign} 1 + σ/π = {expected:.4f}", seen, expected, 0.03),
        ratio("of these between hyperplanes, over 1", kind(ds, "inside"), 1.0, 0.03),
        ratio(
            f"of these on one, over σ/π = {expected - 1:.4f}",
            kind(ds, "on_kinks"),
            expected - 1,
            0.15,
        ),
        share("signs with two or more, both of a sample", seen > 1, single, 0.03),
        share("of these with three or more", several, more, 0.1),
        *(
            ratio(
                f"{NAMES[case]}: {per_sign} {law(sigma, case):.4f}",
                number(ds, case),
                law(sigma, case),
                0.03,
            )
            for case in ("leaky", "signs")
        ),
        mean_of(
            f"angle from the first to the last over {apart:.3g}, {where}",
            spread,
            (0.85, 1.15),
            DERIVED,
        ),
    )


def _without_noise(ds: xr.Dataset) -> list[Claim]:
    """σ = 0: the excess over 1 goes to 0, and its exponent."""
    off = []
    for n in map(int, ds["n"].values):
        extra = number(ds.sel(sigma=0.0, n=n)).mean("sign", skipna=False) - 1
        off.append(mean_interval(extra.values / (extremal_count_at(n, 0.0) - 1)))
    farthest = max(off, key=lambda one: max(1 - one.low, one.high - 1))
    text = "control, σ = 0: mean number less 1 over 4/(π√(πn)), the n farthest from 1"
    return [estimate_of(text, farthest, (0.5, 1.5), DERIVED)]
