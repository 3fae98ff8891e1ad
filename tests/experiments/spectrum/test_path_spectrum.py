"""Paths between digits: wrong labels are in training alone, what counts as high."""

import equinox as eqx
import jax
import numpy as np
import pytest
import xarray as xr

from simbias.experiments.spectrum import path_spectrum as path

KEY = jax.random.key(0)


def test_labels_are_wrong_in_training_alone():
    sizes = {"n": 200, "n_test": 100, "m": 1, "depth": 1}
    data, _ = eqx.filter_jit(lambda key: path.make(key, noise=0.5, **sizes))(KEY)
    test = data.test
    assert test is not None
    truth = lambda some: np.argmax(some.mean, axis=1)
    label = lambda some: np.argmax(some.y, axis=1)
    assert 0.35 < np.mean(truth(data) != label(data)) < 0.65
    np.testing.assert_array_equal(truth(test), label(test))
    np.testing.assert_array_equal(np.sum(test.y, axis=1), 1)
    constant = lambda _: np.eye(10)[3]
    seen = path.ClassAccuracy()(constant, data)
    expected = [np.mean(label(some) == 3) for some in (data, test)]
    np.testing.assert_allclose(seen, expected)


def test_the_high_share_is_of_what_is_above_the_threshold():
    q = np.arange(1, 17)
    power = np.where(q > path.HIGH, 1.0, 3.0)
    seen = xr.DataArray(power, {"path_frequency": q}, ("path_frequency",))
    assert float(path.high_power(seen)) == pytest.approx(np.log(8))
    assert float(path.high_share(seen)) == pytest.approx(np.log(0.25))


def test_claims_on_shares_ask_for_long_training():
    q, seeds = np.arange(1, 17), 6
    shape = ("noise", "seed", "time", "path_frequency")
    power = np.ones((1, seeds, 3, 16))
    between = power * np.where(q > path.HIGH, 2.0, 1.0)
    between[:, :, -1] *= np.where(q > path.HIGH, 2.0, 1.0)
    spread = np.linspace(1, 1.01, seeds)[None, :, None, None]
    step = path.RATE * 1000 / path.BATCH
    ds = xr.Dataset(
        {"within": (shape, power), "between": (shape, between * spread)},
        {"noise": [0.2], "time": step * np.array([0, 4, 128]), "path_frequency": q},
    ).assign_coords(n=1000)
    assert [c.verdict for c in path.claims(ds)][0] == "supported"
    assert "not applicable" not in [c.verdict for c in path.claims(ds)]
    short = path.claims(ds.assign_coords(time=step * np.array([0.0, 4.0, 64.0])))
    assert [c.verdict for c in short][1:] == ["not applicable"] * 2


@pytest.mark.parametrize("wrong", [{"n": 0}, {"noise": 2.0}, {"m": 0}])
def test_what_makes_no_sense_is_named(wrong):
    with pytest.raises(ValueError, match=f"`{next(iter(wrong))}`"):
        path.make(KEY, **wrong)
