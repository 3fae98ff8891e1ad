"""How much of the spread of a number each factor of a design explains."""

import itertools
from collections.abc import Mapping, Sequence

import numpy as np
import scipy
import xarray as xr
from jaxtyping import Float

from simbias.errors import BadInput

HIGHER, SEED = "higher orders", "seed"
_LEAST_SEEDS, _ORDERS, _LEVEL = 4, 10, 0.95
_RANK = 1e-9


def variance_shares(
    values: xr.DataArray, levels: Mapping[str, Sequence[str]]
) -> xr.Dataset:
    """Share of the variance of each factor, of each two together, and of the seed.

    With y_cs the value of cell c and seed s, the total is the variance of the means
    over cells plus the mean variance over seeds.  The means are projected on the
    factors, then on products of two of them (Sobol shares, for a full design); what is
    left is "higher orders".  From each part the variance is subtracted that the means
    of so few seeds have by chance, so that a factor without effect has an expected
    share of 0, and may have less.  Shares sum to 1.

    A cell in which less than half of the seeds have a value is left out, and never
    filled in.  In a design that is not full, effects overlap; then each share is the
    mean over orders in which the factors may enter, as are those of the products
    (Lindeman, Merenda & Gold).

    Args:
        values: over `cell` and `seed`, NaN for none.  All cells of a seed may share
            random numbers.
        levels: factor -> its level in every cell.

    Returns:
        share, low and high over `source` (factors, "a × b", "higher orders", "seed"),
        at 0.95, by the jackknife over seeds; `cells`, how many there are, and
        `missing`, how many were left out.  NaN with fewer than four seeds, or if the
        cells are not more than the terms of the model.

    Raises:
        ValueError: for a factor that has no level in every cell.

    Reference: Sobol (1993), Math. Model. Comput. Exp. 1, 407; Lindeman, Merenda & Gold
    (1980), Introduction to Bivariate and Multivariate Analysis; for the subtraction
    Kelley (1935), PNAS 21, 554 (ε²).
    """
    y = values.transpose("cell", "seed").values
    for name, level in levels.items():
        if len(level) != len(y):
            raise BadInput(
                f"`levels` must name a level of {name!r} for each of {len(y)} cells, "
                f"got {len(level)}."
            )
    is_there = np.isfinite(y).mean(axis=1) >= 0.5
    pairs = [f"{a} × {b}" for a, b in itertools.combinations(levels, 2)]
    names = [*levels, *pairs, HIGHER, SEED]
    out = {k: np.full(len(names), np.nan) for k in ("share", "low", "high")}
    y, seeds = y[is_there], y.shape[1]
    parts = _parts({k: np.asarray(v)[is_there] for k, v in levels.items()})
    # Every order explains as much, so that any has the rank.
    rank = 1 + sum(basis.shape[1] for _, basis in parts[0])
    if seeds >= _LEAST_SEEDS and len(y) > rank:
        every = _shares(y, parts, names)
        less = [_shares(np.delete(y, i, axis=1), parts, names) for i in range(seeds)]
        reach = scipy.stats.t.ppf((1 + _LEVEL) / 2, seeds - 1)
        reach = reach * np.std(less, axis=0) * (seeds - 1) ** 0.5
        out = {"share": every, "low": every - reach, "high": every + reach}
    return xr.Dataset(
        {k: ("source", v) for k, v in out.items()}
        | {"cells": len(y), "missing": int((~is_there).sum())},
        {"source": names},
    )


# A term and an orthonormal basis of what it adds.
Part = tuple[str, np.ndarray]


def _parts(levels: Mapping[str, np.ndarray]) -> list[list[Part]]:
    """What each term adds, for several orders of the terms."""
    columns = {name: _indicators(level) for name, level in levels.items()}
    pairs = {
        f"{a} × {b}": np.einsum("ci,cj->cij", columns[a], columns[b])
        for a, b in itertools.combinations(levels, 2)
    }
    columns |= {name: one.reshape(len(one), -1) for name, one in pairs.items()}
    rng, orders = np.random.default_rng(0), []
    for _ in range(_ORDERS):
        factors, products = rng.permutation([*levels]), rng.permutation([*pairs])
        # Each order and its reverse: a term is as often early as late.
        orders += [[*factors, *products], [*factors[::-1], *products[::-1]]]
    return [_bases(columns, order) for order in orders]


def _bases(columns: Mapping[str, np.ndarray], order: Sequence[str]) -> list[Part]:
    rows = len(next(iter(columns.values())))
    before, out = np.ones((rows, 1)) / max(rows, 1) ** 0.5, []
    for name in order:
        rest = columns[name] - before @ (before.T @ columns[name])
        left, size, _ = np.linalg.svd(rest, full_matrices=False)
        basis = left[:, size > _RANK * rows**0.5]
        out.append((name, basis))
        before = np.concatenate([before, basis], axis=1)
    return out


def _indicators(level: np.ndarray) -> Float[np.ndarray, "c k"]:
    return (level[:, None] == np.unique(level)).astype(float)


def _shares(
    y: Float[np.ndarray, "c s"], parts: Sequence[Sequence[Part]], names: Sequence[str]
) -> Float[np.ndarray, " source"]:
    """The share of every source of the spread."""
    count = np.isfinite(y).sum(axis=1, keepdims=True)
    mean = np.nanmean(y, axis=1, keepdims=True)
    gap = np.nan_to_num(y - mean)
    # The errors of the means have the covariance noise · noiseᵀ.
    noise = gap / np.sqrt(count * np.maximum(count - 1, 1))
    centred, spread = mean - mean.mean(), noise - noise.mean(axis=0)
    size = lambda basis: (
        ((basis.T @ centred) ** 2).sum() - ((basis.T @ spread) ** 2).sum()
    )
    found = dict.fromkeys(names, 0.0)
    for part in parts:
        for name, basis in part:
            found[name] += size(basis) / len(parts) / len(y)
    whole = ((centred**2).sum() - (spread**2).sum()) / len(y)
    found[HIGHER] = whole - sum(found.values())
    found[SEED] = float(np.mean((gap**2).sum(axis=1) / np.maximum(count[:, 0] - 1, 1)))
    total = sum(found.values())
    return np.array([found[k] for k in names]) / (total if total > 0 else np.nan)
