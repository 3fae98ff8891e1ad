"""Differences of two runs: pairs, axes in common, what is not comparable."""

import json

import numpy as np
import pytest
import xarray as xr
from small import PlainDescent, small

import simbias
from simbias.analysis.mean_interval import mean_interval


@pytest.fixture(scope="module")
def runs():
    cell = {"n": 6, "scale": (0.1, 0.5)}
    one = small(cell=cell, seeds=8)
    flow = PlainDescent(rate=0.05)
    return simbias.simulate(one), simbias.simulate(small(cell=cell, seeds=8, flow=flow))


@pytest.mark.bits
def test_differences_are_those_of_pairs(runs):
    a, b = runs
    found = simbias.compare(a, b)
    apart = (a["risk"] - b["risk"]).isel(scale=1, time=-1)
    seen = mean_interval(apart.values)
    got = found["risk"].isel(scale=1, time=-1)
    assert got.sel(estimate="mean") == pytest.approx(float(apart.mean()))
    assert got.sel(estimate=["low", "high"]).values.tolist() == [seen.low, seen.high]
    assert (found["risk.pairs"] == 8).all()
    # The start of a pair is the same: nothing differs, and nothing else is said.
    start = found["risk"].isel(time=0)
    assert (start.sel(estimate="mean") == 0).all()


@pytest.mark.bits
def test_what_differs_is_said_by_name(runs):
    differs = json.loads(simbias.compare(*runs).attrs["differs"])
    assert any(name.startswith("flow") for name in differs)
    assert not any(name.startswith("cell") for name in differs)
    same = simbias.compare(runs[0], runs[0])
    assert json.loads(same.attrs["differs"]) == {}


@pytest.mark.slow
def test_pairs_say_whether_they_have_one_sample_and_one_start(runs):
    a, b = runs
    said = lambda a, b: json.loads(simbias.compare(a, b).attrs["independent"])
    assert said(a, b) == []
    assert said(a.sel(scale=0.1), b.sel(scale=0.5)) == ["cell.scale"]
    stored = json.loads(a.attrs["configuration"])
    with_ = lambda **changes: json.dumps(stored | changes)
    other = a.assign_attrs(configuration=with_(root=1, shared=["scale"]))
    assert said(a, other) == ["root", "shared"]
    shared = a.assign_attrs(configuration=with_(shared=["scale"]))
    assert said(shared.sel(scale=0.1), shared.sel(scale=0.5)) == []
    assert said(a, b.drop_attrs()) is None


@pytest.mark.slow
def test_values_in_common_are_compared_and_no_others(runs):
    a, b = runs
    b = b.isel(time=slice(1, None), seed=slice(0, 7), scale=[1])
    found = simbias.compare(a, b)
    assert found["scale"].values.tolist() == [0.5]
    assert found["time"].values.tolist() == a["time"].values.tolist()[1:]
    assert (found["risk.pairs"] == 7).all()
    missing = b.assign(risk=b["risk"].where(b["seed"] > 0))
    assert (simbias.compare(a, missing)["risk.pairs"] == 6).all()


def test_what_cannot_be_compared_is_named(runs):
    a, b = runs
    with pytest.raises(ValueError, match=r"`scale` is an axis of `a` but not of `b`"):
        simbias.compare(a, b.sel(scale=0.1))
    with pytest.raises(ValueError, match="no value of `scale` in common"):
        simbias.compare(a, b.assign_coords(scale=[7.0, 8.0]))
    with pytest.raises(ValueError, match="have no measure over `seed`"):
        simbias.compare(a, xr.Dataset({"other": ("seed", np.zeros(3))}))
    row = xr.DataArray(np.zeros((8, 3)), dims=("seed", "k"))
    with pytest.raises(ValueError, match="`a` and `b` cannot be aligned:.*k"):
        simbias.compare(xr.Dataset({"v": row}), xr.Dataset({"v": row.isel(k=[0, 1])}))
    with pytest.raises(ValueError, match="`level`"):
        simbias.compare(a, b, level=2.0)
