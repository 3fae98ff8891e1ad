"""Which bits a parity is of: 2d samples tell it, by equations modulo 2, without noise.

With z = (1 − x)/2, b = (1 − y)/2 and s the indicator of I every sample is an equation
z·s = b (mod 2).  2d of them determine s with probability Π_{i<d}(1 − 2^{i−2d}), 0.99902
for d = 10.  Elimination needs every label: with 5 % of them flipped it finds I where
none of the 2d fell, 0.95^{2d}, and nowhere else.

A member draws 500 systems for one subset, a random half of the bits; no network is
trained, and the one that goes with them is not looked at.

Reference: Barak (2021), Harvard CS 229br, lecture 2.  It says that 2d samples recover
I; the numbers are ours.
"""

from typing import Any, ClassVar

import jax
import jax.numpy as jnp
import numpy as np
import xarray as xr
from jaxtyping import Array, Float, PRNGKeyArray
from matplotlib.figure import Figure

from simbias.analysis.parts import with_axes
from simbias.claims import statistic_of
from simbias.core import (
    AbstractMeasure,
    AbstractNetwork,
    Claim,
    Dataset,
    Experiment,
    Real,
)
from simbias.datasets import parity
from simbias.experiments.boolean._published_start import published_start
from simbias.figures import law_line
from simbias.figures.style import COLOURS, blank, style
from simbias.flows import Descent
from simbias.losses import hinge
from simbias.numerics.binary_equations import binary_equations
from simbias.presets import presets
from simbias.theory.full_binary_rank import full_binary_rank

LECTURE = "the lecture; Π(1 − 2^{i−2d}), ± 4 standard errors"
# What the figure and the claims read.
AXES = ("flips", "d")
SHARES = ("found", "found_by_half")


class Systems(AbstractMeasure):
    """Shares of the systems, of 2d rows each, that the sample is cut into.

    By name: `found`, the one solution, without a contradiction, is I; `found_by_half`,
    the same of the first d rows.
    """

    dims: ClassVar[tuple[str, ...]] = ("share",)

    def __call__(self, network: Any, data: Dataset) -> Float[Array, " 2"]:
        """Shares; the network is not looked at."""
        del network
        d = data.x.shape[1]
        subset = data.features[0] > 0
        # A sample is padded at its end; what is left there of a system is not one.
        rows = data.x.shape[0] // (2 * d) * (2 * d)
        cut = lambda v: v[:rows].reshape(-1, 2 * d, *v.shape[1:])
        lhs, rhs = cut(data.x < 0), cut(data.y[:, 0] < 0)
        weight = jnp.min(cut(data.weight), axis=1)

        def one(lhs: Array, rhs: Array) -> tuple[Array, Array]:
            whole, half = binary_equations(lhs, rhs), binary_equations(lhs[:d], rhs[:d])
            found, by_half = (
                v.is_unique & jnp.all(v.unknowns == subset) for v in (whole, half)
            )
            return found, by_half

        found = jnp.stack(jax.vmap(one)(lhs, rhs))
        return jnp.sum(jnp.where(found, weight[None, :], 0), axis=1) / jnp.sum(weight)

    def coords(self) -> dict[str, np.ndarray]:
        """Names of the shares."""
        return {"share": np.array(SHARES)}


def make(
    key: PRNGKeyArray, *, flips: Real = 0.0, d: int = 10, systems: int = 500
) -> tuple[Dataset, AbstractNetwork]:
    """Rows for so many systems of 2d equations, and a network with nothing to do.

    Args:
        key: random key.
        flips: share of the labels that are flipped.
        d: bits.
        systems: number of systems of 2d equations.
    """
    key_data, key_network = jax.random.split(key)
    data = parity(key_data, n=systems * 2 * d, d=d, flips=flips)
    return data, published_start(key_network, (d, 1, 1))


experiment = presets(
    Experiment(
        name="parity_equations",
        make=make,
        cell={"flips": (0.0, 0.05), "d": (5, 10, 20)},
        seeds=20,
        flow=Descent(rate=0.01, batch=1),
        loss=hinge,
        times=(0.0,),
        measures={"systems_solved": Systems()},
    ),
    smoke={"cell": {"d": 10, "systems": 100}, "seeds": 6},
    paper={"cell": {"d": (5, 10, 15, 20, 25, 30), "systems": 2000}},
)


def _law(share: str, d: int, flips: float) -> float:
    """Probability that such a system is one of these."""
    clean, rank = (1 - flips) ** (2 * d), full_binary_rank(2 * d, d)
    half = (1 - flips) ** d * full_binary_rank(d, d)
    return {"found": clean * rank, "found_by_half": half}[share]


def figure(ds: xr.Dataset) -> Figure:
    """Shares of systems that give I, against d, and their laws."""
    ds = with_axes(ds, AXES)
    grid = np.arange(1, int(ds["d"].max()) + 5)
    kinds = (
        ("found", "o", "-", "2d samples"),
        ("found_by_half", "s", "--", "d samples"),
    )
    with style():
        whole = blank(6.4, 4.0)
        axes = whole.subplots()
        for i, flips in enumerate(ds["flips"].values):
            for share, mark, line, label in kinds:
                seen = ds["systems_solved"].isel(time=0).sel(share=share, flips=flips)
                middle = seen.mean("seed")
                reach = 1.96 * seen.std("seed", ddof=1) / seen.sizes["seed"] ** 0.5
                text = f"{label}, {100 * flips:g} % flipped"
                colour = COLOURS[i % len(COLOURS)]
                style_ = {"color": colour, "ms": 5, "capsize": 3, "ls": ""}
                axes.errorbar(ds["d"], middle, reach, marker=mark, label=text, **style_)
                law = np.array([_law(share, int(d), float(flips)) for d in grid])
                law_line(axes, grid, law, line=line, colour=colour)
        axes.set_ylim(-0.03, 1.35)
        axes.set_yticks(np.linspace(0, 1, 6))
        axes.set_xlabel("bits, d")
        axes.set_title("systems that tell I: seen (mean, 95 %) and law (lines)")
        axes.legend(loc="upper right", ncols=2)
    return whole


def claims(ds: xr.Dataset) -> list[Claim]:
    """Shares by their laws."""
    ds = with_axes(ds, AXES)
    shares = ds["systems_solved"].isel(time=0)
    count = int(ds["systems"]) * ds.sizes["seed"]
    out = []
    for flips in ds["flips"].values:
        noise = f", {100 * flips:g} % flipped" if flips else ""
        for d in ds["d"].values:
            kinds = (
                (("found", "2d"),)
                if flips
                else (("found", "2d"), ("found_by_half", "d"))
            )
            for share, rows in kinds:
                law = _law(share, int(d), float(flips))
                half = 4 * (law * (1 - law) / count) ** 0.5
                seen = float(
                    shares.sel(share=share, flips=flips, d=d).mean(skipna=False)
                )
                source = LECTURE if rows == "2d" else "control: too few samples"
                text = f"d = {d}{noise}: I found from {rows} samples (law {law:.5f})"
                low, high = max(law - half, 0), min(law + half, 1)
                out.append(statistic_of(text, seen, (low, high), source))
    return out
