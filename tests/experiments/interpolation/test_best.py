"""The gap to the best network: starts of several widths, and the law of 2ⁿ."""

import jax
import numpy as np
import pytest
import xarray as xr

import simbias
from simbias.experiments.interpolation import decay_landscape, global_gap
from simbias.experiments.interpolation._best import first_neurons
from simbias.theory.best_network import best_network


def test_a_narrow_start_is_the_beginning_of_a_wide_one():
    with simbias.exact_numerics():
        start = lambda m: first_neurons(jax.random.key(0), m=m, width=8, d=3, scale=0.1)
        few, many = start(2), start(8)
    np.testing.assert_allclose(few.w[:2], 2 * many.w[:2])
    assert not np.any(few.w[2:])
    assert not np.any(few.a[2:])
    size = np.linalg.norm(few.w[:2], axis=1)
    np.testing.assert_allclose(np.abs(few.a[:2, 0]), size)


def test_the_best_network_on_orthogonal_samples_shrinks_their_labels():
    with simbias.exact_numerics():
        data, _ = decay_landscape.make(jax.random.key(3), n=3, d=4, width=16)
    y = np.asarray(data.y)[:3, 0]
    shrunk = 3 * 0.1 / (2 * np.linalg.norm(y))
    f = (1 - shrunk) * y
    value = np.mean((f - y) ** 2) / 2 + 0.1 * np.linalg.norm(f) / 2
    assert best_network(data, 0.1).bound == pytest.approx(value, rel=1e-9)


def landscape(spurious):
    """`spurious(law, uniform)` for each network, beside the law."""
    cell = decay_landscape.experiment("quick").cell
    axes = {k: list(cell[k]) for k in ("n", "ratio", "scale")} | {"seed": range(200)}
    ds = xr.Dataset(coords={k: list(v) for k, v in axes.items()})
    m = np.round(ds["ratio"] * 2.0 ** ds["n"])
    law = (1 - 2.0 ** (-ds["n"] - 1)) ** m
    shape = [len(v) for v in axes.values()]
    uniform = xr.DataArray(np.random.default_rng(0).random(shape), ds.coords, [*axes])
    values = (spurious(law, uniform) + 0 * uniform).astype(float)
    return xr.Dataset({"spurious": values, "known": xr.ones_like(values)})


@pytest.mark.parametrize(
    ("spurious", "verdicts"),
    [
        (lambda law, u: u < law, {"supported"}),
        (lambda law, u: 0 * law + (u < 0.9), {"contradicted"}),
    ],
)
def test_the_claims_tell_the_law_from_a_share_that_is_constant(
    monkeypatch, spurious, verdicts
):
    found = landscape(spurious)
    monkeypatch.setattr(decay_landscape, "gaps", lambda *_: found)
    rows = decay_landscape.claims(found)
    by_law = {
        c.verdict for c in rows if "law" in c.statement or "control" in c.statement
    }
    assert by_law == verdicts


def test_the_claims_of_the_gap_tell_a_large_start_from_a_small_one(monkeypatch):
    cell = global_gap.experiment("quick").cell
    axes = {k: list(v) for k, v in cell.items()} | {"seed": list(range(40))}
    found = xr.Dataset(coords=axes)
    is_bad = (found["m"] == 2) | (found["scale"] < 0.1)
    values = (
        is_bad + 0.0 * xr.ones_like(found["seed"] * found[global_gap.DECAY])
    ) * 1.0
    values = values.transpose(*axes)
    found = xr.Dataset(
        {"spurious": values, "gap": 0.1 * values, "known": xr.ones_like(values)}
    )
    monkeypatch.setattr(global_gap, "gaps", lambda *_: found)
    shares = [c for c in global_gap.claims(found) if "less" not in c.statement]
    assert {c.verdict for c in shares if ": share of" in c.statement} == {"supported"}
    monkeypatch.setattr(
        global_gap, "gaps", lambda *_: found.assign(spurious=1 - values)
    )
    shares = [c for c in global_gap.claims(found) if "less" not in c.statement]
    wrong = {c.verdict for c in shares if ": share of" in c.statement}
    assert wrong == {"contradicted"}
