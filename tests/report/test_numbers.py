import base64
import gzip
import json

import numpy as np
import pytest
from runs import EXPERIMENT, large_result, with_events

from simbias.report._packed_numbers import PackedNumbers
from simbias.report._quantiles import LEVELS, quantiles
from simbias.report.numbers import numbers

KINDS = {"f4": "<f4", "f8": "<f8", "u1": "u1"}


def unpacked(text, place):
    first, kind, shape = place
    raw = gzip.decompress(base64.b64decode(text))
    size = int(np.prod(shape))
    return np.frombuffer(raw, KINDS[kind], size, first).reshape(shape)


@pytest.mark.parametrize("scale", [1.0, 1e-200, 1e30, 1e300])
def test_packed_numbers_come_back_to_four_digits(scale):
    values = scale * np.random.default_rng(0).normal(size=(3, 5))
    values[0, :3] = np.nan, np.inf, 0.0
    packed = PackedNumbers()
    packed.add(np.ones(3, np.uint8))
    place = packed.add(values)
    np.testing.assert_allclose(unpacked(packed.text(), place), values, rtol=5e-5)


def test_what_a_page_has_no_kind_for_is_refused():
    with pytest.raises(TypeError, match="int64"):
        PackedNumbers().add(np.arange(3))


def test_quantiles_are_those_of_numpy_over_members_that_finished():
    rng = np.random.default_rng(0)
    values, is_good = rng.normal(size=(4, 9, 3)), rng.uniform(size=(4, 9)) < 0.7
    is_good[3] = False
    values[0, 2, 1] = np.nan
    *bounds, count = quantiles(values, is_good)
    for cell, time in np.ndindex(4, 3):
        row = values[cell, is_good[cell], time]
        row = row[np.isfinite(row)]
        assert count[cell, time] == row.size
        for level, bound in zip(LEVELS, bounds, strict=True):
            expected = np.quantile(row, level) if row.size else np.nan
            np.testing.assert_allclose(bound[cell, time], expected, rtol=1e-12)


@pytest.mark.process
def test_a_page_has_every_number_of_a_small_run(result):
    made = numbers(result, EXPERIMENT)
    json.dumps(made, allow_nan=False)
    assert [axis["name"] for axis in made["axes"]] == ["n", "scale"]
    assert made["seeds"] == [0, 1, 2]
    assert made["notes"] == []
    names = [one["name"] for one in made["quantities"]]
    assert names[:2] == ["test_risk", "train_risk"]
    assert {"final_risk", "accepted"} <= {*names}
    found = unpacked(made["packed"], made["quantities"][1]["members"])
    expected = result["train_risk"].values.reshape(6, 3, 4)
    np.testing.assert_allclose(found, expected, rtol=5e-5)


@pytest.mark.process
def test_bands_leave_out_members_that_failed(result):
    made = numbers(result, EXPERIMENT)
    count = unpacked(made["packed"], made["quantities"][0]["count"])
    assert (count[[2, 5]] == 0).all()  # scale 1000
    assert (count[[0, 1, 3, 4]] == 3).all()


@pytest.mark.process
def test_a_page_has_neurons_measures_and_events_of_members(result):
    made = numbers(with_events(result), EXPERIMENT)
    film = made["films"]
    assert len(film["members"]) == 18
    places = unpacked(made["packed"], film["places"])
    assert places.shape == (18, 4, 6, 2)
    weights = result["weights"].isel(n=1, scale=0, seed=2).values
    i = film["members"].index([3, 2])
    unit = weights[..., :2] / np.linalg.norm(weights[..., :2], axis=-1, keepdims=True)
    np.testing.assert_allclose(places[i], unit, rtol=1e-4, atol=1e-6)
    assert [one["name"] for one in made["arrays"]] == ["masses"]
    assert made["events"]["seeds"] == 3


@pytest.mark.slow
def test_a_run_without_its_experiment_has_all_but_its_neurons(result):
    assert numbers(result)["films"] is None


@pytest.mark.process
def test_a_large_run_is_thinned_and_says_so():
    ds = large_result(seeds=2000, cells=3, times=100, quantities=4)
    made = numbers(ds)
    assert len(made["seeds"]) == 1250
    assert "first 1250 of 2000 seeds" in made["notes"][0]
    count = unpacked(made["packed"], made["quantities"][0]["count"])
    assert (count == 2000).all()
