"""How many extremal vectors do random starts miss, and is the law that of all of them?

Linear teacher with noise on Gaussian inputs in three dimensions, where the complete
list can be had; aⱼ > 0.  For each σ: mean numbers by how many hyperplanes they lie on,
the law, and for each number of starts how many are found, and in which share of the
draws some are missed.

    python benchmarks/extremal_restarts.py [--json FILE|-] [--smallest]
"""

import argparse
import math

import jax
import jax.numpy as jnp
import numpy as np
from _exact_sphere import maxima_on_sphere
from _results import machine, written

from simbias.core import Dataset
from simbias.theory.extremal_count import extremal_count, extremal_count_at
from simbias.theory.extremal_vectors import extremal_vectors


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--json", default="-")
    parser.add_argument("--smallest", action="store_true")
    options = parser.parse_args()
    jax.config.update("jax_enable_x64", True)
    n, draws, searched, starts = 300, 1000, 100, (50, 200, 800)
    if options.smallest:
        n, draws, searched, starts = 30, 4, 2, (20, 40)
    rows = [row(n, sigma, draws, searched, starts) for sigma in (0.3, 1.0, 3.0)]
    about = {"n": n, "d": 3, "draws": draws, "searched": searched}
    written(options.json, {**about, **machine(), "rows": rows})


def row(n, sigma, draws, searched, starts) -> dict:
    """Of one σ; the first draws are searched as well."""
    rng = np.random.default_rng(0)
    kinds, numbers = [], {count: [] for count in starts}
    for i in range(draws):
        x = rng.normal(size=(n, 3))
        y = x[:, 0] + sigma * rng.normal(size=n)
        kinds.append(maxima_on_sphere(x, y / n, reach=30 / n))
        if i < searched:
            ones, column = jnp.ones(n), jnp.array(y[:, None])
            data = Dataset(jnp.array(x), column, ones, column, jnp.eye(3)[:1])
            for count in starts:
                found = extremal_vectors(data, samples=count)
                numbers[count].append(
                    int(np.sum((found.kind == 1) & (found.value > 0)))
                )
    kinds = np.array(kinds)
    total, kappa = kinds.sum(axis=1), sigma / math.pi
    return {
        "sigma": sigma,
        "mean": float(total.mean()),
        "error": float(total.std(ddof=1) / draws**0.5),
        "law": extremal_count(3, sigma),
        "law_at_n": extremal_count_at(n, sigma, d=3),
        "by_hyperplanes": kinds.mean(axis=0).tolist(),
        "errors": (kinds.std(axis=0, ddof=1) / draws**0.5).tolist(),
        "laws": [math.comb(2, j) * kappa**j for j in range(3)],
        "searched_exact_mean": float(total[:searched].mean()),
        "starts": [
            {
                "starts": count,
                "mean": float(np.mean(seen)),
                "misses_some": float(np.mean(seen < total[:searched])),
                "finds_more": float(np.mean(seen > total[:searched])),
            }
            for count, seen in numbers.items()
        ],
    }


if __name__ == "__main__":
    main()
