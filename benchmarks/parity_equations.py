"""Which bits is a parity of?  2d samples tell it, by equations modulo 2, without noise.

With z = (1 − x)/2, b = (1 − y)/2 and s the indicator of I every sample is an equation
z·s = b (mod 2).  2d of them determine s with probability Π_{i<d}(1 − 2^{i−2d}), 0.99902
for d = 10.  Elimination needs every label: with 5 % of them flipped it finds I where
none of the 2d fell, 0.95^{2d}, and nowhere else.  No network is trained.

The share of systems that give I, beside its law: 500 systems for each of 20 subsets,
random halves of the bits.  Controls: d samples in place of 2d.

    python benchmarks/parity_equations.py [--json FILE|-] [--smallest]

Reference: Barak (2021), Harvard CS 229br, lecture 2.  It says that 2d samples recover
I; the numbers are ours.
"""

import argparse
from typing import Any

import jax
import jax.numpy as jnp
from _results import machine, written
from jaxtyping import Array, Float

from simbias.claims import statistic_of
from simbias.core import Dataset
from simbias.datasets import parity
from simbias.numerics.binary_equations import binary_equations
from simbias.theory.full_binary_rank import full_binary_rank

LECTURE = "the lecture; Π(1 − 2^{i−2d}), ± 4 standard errors"


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--json", default="-")
    parser.add_argument("--smallest", action="store_true")
    options = parser.parse_args()
    jax.config.update("jax_enable_x64", True)
    sizes, subsets, systems = (
        ((4,), 2, 10) if options.smallest else ((5, 10, 20), 20, 500)
    )
    rows = []
    for flips in (0.0, 0.05):
        for d in sizes:
            rows += of_size(d, flips, subsets=subsets, systems=systems)
    document = {**machine(), "subsets": subsets, "systems": systems, "claims": rows}
    written(options.json, document)


def of_size(
    d: int, flips: float, *, subsets: int, systems: int
) -> list[dict[str, Any]]:
    """The claims for d bits and a share of flipped labels."""
    draw = jax.jit(lambda key: solved(parity(key, n=systems * 2 * d, d=d, flips=flips)))
    keys = jax.random.split(jax.random.key(d), subsets)
    seen = jnp.mean(jnp.stack([draw(key) for key in keys]), axis=0)
    clean = (1 - flips) ** (2 * d) * full_binary_rank(2 * d, d)
    kinds = [("2d", float(seen[0]), clean, LECTURE)]
    if not flips:
        law = full_binary_rank(d, d)
        kinds += [("d", float(seen[1]), law, "control: too few samples")]
    noise = f", {100 * flips:g} % flipped" if flips else ""
    return [
        _claim(
            f"d = {d}{noise}: I found from {rows} samples",
            share,
            law,
            source,
            subsets * systems,
        )
        for rows, share, law, source in kinds
    ]


def solved(data: Dataset) -> Float[Array, "2"]:
    """Shares of systems whose one solution is I: of 2d rows, and of their first d."""
    d = data.x.shape[1]
    subset = data.features[0] > 0
    cut = lambda v: v.reshape(-1, 2 * d, *v.shape[1:])

    def one(lhs: Array, rhs: Array) -> Array:
        both = binary_equations(lhs, rhs), binary_equations(lhs[:d], rhs[:d])
        is_found = [v.is_unique & jnp.all(v.unknowns == subset) for v in both]
        return jnp.stack(is_found).astype(data.x.dtype)

    return jnp.mean(jax.vmap(one)(cut(data.x < 0), cut(data.y[:, 0] < 0)), axis=0)


def _claim(
    text: str, seen: float, law: float, source: str, count: int
) -> dict[str, Any]:
    half = 4 * (law * (1 - law) / count) ** 0.5
    band = (max(law - half, 0), min(law + half, 1))
    claim = statistic_of(f"{text} (law {law:.5f})", seen, band, source)
    return {
        "statement": claim.statement,
        "value": seen,
        "band": band,
        "verdict": claim.verdict,
        "source": source,
    }


if __name__ == "__main__":
    main()
