"""A store may grow: more seeds, more values of the grid; nothing else."""

import numpy as np
import pytest
import xarray as xr
from small import small

from simbias import results
from simbias.core import Status
from simbias.ensemble import engine
from simbias.ensemble.plan import make_plan
from simbias.ensemble.table import GROUPS
from simbias.numerics.exact_numerics import exact_numerics
from simbias.results import attributes, open_result
from simbias.store.extents import extent, member_rows
from simbias.store.work import prepare, work
from simbias.verbs.simulate import simulate

pytestmark = pytest.mark.process


def files(path):
    return {p: p.read_bytes() for p in path.rglob("*") if p.is_file()}


def chunks(path):
    blocks = (p for group in GROUPS for p in (path / group).rglob("c/**/*"))
    return {p: p.read_bytes() for p in blocks if p.is_file()}


def computed(monkeypatch):
    """Members that the engine computes from now on."""
    seen = []
    harvest = engine.harvest

    def noted(member, *rest):
        seen.append(member)
        return harvest(member, *rest)

    monkeypatch.setattr(engine, "harvest", noted)
    return seen


def test_more_seeds_and_values_are_computed_and_nothing_else(tmp_path, monkeypatch):
    store = tmp_path / "run.zarr"
    cell = {"n": (6, 7), "scale": 0.5}
    simulate(small(cell=cell, seeds=2), store=store)
    before = chunks(store)
    seen = computed(monkeypatch)
    # A value before the others, one that was fixed made an axis, and more seeds.
    larger = small(cell={"n": (3, 7, 6), "scale": (0.1, 0.5)}, seeds=3)
    ds = simulate(larger, store=store)
    assert len(seen) == 3 * 2 * 3 - 2 * 2
    assert {p: raw for p, raw in chunks(store).items() if p in before} == before
    xr.testing.assert_identical(ds, simulate(larger))
    xr.testing.assert_identical(open_result(store), ds)


@pytest.mark.long
def test_a_wider_network_widens_the_arrays_of_a_store(tmp_path):
    store = tmp_path / "run.zarr"
    simulate(small(cell={"n": 6, "m": (4,)}), store=store)
    before = chunks(store)
    larger = small(cell={"n": 6, "m": (4, 9)})
    xr.testing.assert_identical(simulate(larger, store=store), simulate(larger))
    assert {p: raw for p, raw in chunks(store).items() if p in before} == before


def test_who_works_while_a_store_grows_does_its_part_and_leaves_the_rest(tmp_path):
    path = tmp_path / "run.zarr"
    before, after = small(cell={"n": 6, "m": 4}), small(cell={"n": 6, "m": (4, 9)})
    with exact_numerics():
        plan, larger = make_plan(before), make_plan(after)
    store = prepare(path, plan, attributes(plan))
    prepare(path, larger, attributes(larger))
    work(plan, store)
    assert (path / "work").exists()
    part = open_result(path)
    np.testing.assert_array_equal(part["risk"].sel(m=4), simulate(before)["risk"])
    assert (part["status"].sel(m=9) == Status.RUNNING).all()
    xr.testing.assert_identical(simulate(after, store=path), simulate(after))


@pytest.mark.parametrize(
    ("seeds", "m", "block", "blocks"),
    [
        (3, 8, 8, 2),
        (200, 8, 25, 32),
        (5000, 8, 256, 79),
        # A member alone has more than the megabyte that a block should have.
        (3, 200_000, 1, 12),
    ],
)
def test_a_run_has_32_blocks_to_share_out_of_8_to_256_members(
    tmp_path, seeds, m, block, blocks
):
    plan = make_plan(small(seeds=seeds, cell={**small().cell, "m": m}))
    assert plan.size == 4 * seeds
    store = prepare(tmp_path / "run.zarr", plan, attributes(plan))
    assert store.block == block
    assert store.attributes["extents"][-1]["blocks"] == blocks


@pytest.mark.parametrize(
    ("changes", "message"),
    [
        ({"seeds": 2}, r"seeds: 3 -> 2"),
        ({"cell": {"n": 6, "scale": (0.1, 0.5)}}, r"cell.n: \[6, 20\] -> \[6\]"),
        ({"cell": {"n": (6, 20)}}, r"cell.scale: \[0.1, 0.5\] -> \[0.1\]"),
        ({"times": (0.0, 1.0)}, r"times: \[0.0, 1.0, 5.0\] -> \[0.0, 1.0\]"),
        ({"dtype": "float32"}, r"dtype: float64 -> float32"),
        ({"root": 1, "seeds": 9}, r"root: 0 -> 1"),
        ({"measures": {}}, r"measures.risk: .* -> \(absent\)"),
    ],
)
def test_anything_else_is_refused_with_the_differences(finished, changes, message):
    path, ds = finished
    before = files(path)
    with pytest.raises(ValueError, match=message):
        simulate(small(**changes), store=path)
    assert files(path) == before
    xr.testing.assert_identical(open_result(path), ds)


@pytest.fixture(scope="module")
def finished(tmp_path_factory):
    path = tmp_path_factory.mktemp("finished") / "run.zarr"
    return path, simulate(small(), store=path)


def test_other_versions_may_be_read_and_not_continued(tmp_path, monkeypatch):
    path = tmp_path / "run.zarr"
    now = results.provenance()
    with monkeypatch.context() as then:
        earlier = {**now, "versions": {**now["versions"], "jax": "0.0.1"}}
        then.setattr(results, "provenance", lambda: earlier)
        ds = simulate(small(), store=path)
    np.testing.assert_array_equal(simulate(small(), store=path)["risk"], ds["risk"])
    with pytest.raises(ValueError, match=r"jax: 0.0.1 -> \d"):
        simulate(small(seeds=4), store=path)


def test_rows_stay_where_they_are_whatever_is_added():
    grids = [
        {"cell": {"n": [6, 20], "scale": 0.5}, "seeds": 2},
        {"cell": {"n": [20, 6], "scale": [0.1, 0.5]}, "seeds": 2},
        {"cell": {"n": [20, 6, 50], "scale": [0.1, 0.5]}, "seeds": 5},
    ]
    rows = [*member_rows([extent(g) for g in grids], 8, ["n"])]
    first, second, third = (
        dict(zip(members(extent(g)), r.tolist(), strict=True))
        for g, r in zip(grids, rows, strict=True)
    )
    assert first.items() <= second.items() <= third.items()
    assert sorted(first.values()) == list(range(4))
    # Every extent begins a new block, and no row is dealt twice.
    assert min(set(second.values()) - set(first.values())) == 8
    assert min(set(third.values()) - set(second.values())) == 16
    assert len(set(third.values())) == len(third) == 30


def members(grid):
    return [
        (n, scale, seed)
        for n in grid["cell"]["n"]
        for scale in grid["cell"]["scale"]
        for seed in range(grid["seeds"])
    ]
