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
    q = np.arange(0, 17)
    power = np.where(q > path.HIGH, 1.0, 3.0)
    power[0] = 100.0
    seen = xr.DataArray(power, {"path_frequency": q}, ("path_frequency",))
    assert float(path.high_power(seen)) == pytest.approx(np.log(8))
    assert float(path.high_share(seen)) == pytest.approx(np.log(0.25))
    # All 32: the mean and the last once, the others twice.
    expected = (2 * 7 + 1) / (100 + 2 * 8 * 3 + 2 * 7 + 1)
    assert float(path.high_ratio(seen, 8)) == pytest.approx(np.log(expected))


def of_powers(within, between, times=(0, 4, 128)):
    """A result of six seeds, of A_q by (time, q), the same on both kinds of paths."""
    names = {"within": within, "between": between}
    names |= {f"open_{k}": v for k, v in names.items()}
    # A little more of the high ones from seed to seed, that there be an interval.
    q = np.arange(within.shape[-1])
    spread = 1 + np.linspace(0, 0.01, 6)[None, :, None, None] * (q > path.HIGH)
    shape = ("noise", "seed", "time", "path_frequency")
    step = path.RATE * 1000 / path.BATCH
    return xr.Dataset(
        {
            name: (shape, v[None, None] * (spread if "between" in name else spread**0))
            for name, v in names.items()
        },
        {
            "noise": [0.2],
            "time": step * np.array(times, float),
            "path_frequency": np.arange(within.shape[-1]),
        },
    ).assign_coords(n=1000)


def test_claims_on_shares_ask_for_long_training():
    q = np.arange(0, 17)
    within = np.ones((3, 17))
    between = within * np.where(q > path.HIGH, 2.0, 1.0)
    between[-1] *= np.where(q > path.HIGH, 2.0, 1.0)
    long = path.claims(of_powers(within, between))
    assert "not applicable" not in [c.verdict for c in long]
    short = path.claims(of_powers(within, between, (0, 4, 64)))
    asked = {c.statement for c in short if c.verdict == "not applicable"}
    free = {c.statement for c in short} - asked
    assert all("ln power" in text or "before training" in text for text in free)
    assert all("ln R" in text or "ln share" in text for text in asked)


def test_the_mean_of_a_path_can_turn_the_sign():
    # Within a class the output stays, so that the mean is nearly all of it.
    q = np.arange(0, 17)
    within = np.tile(np.where(q == 0, 1e4, np.where(q > 8, 1.0, 2.0)), (3, 1))
    between = np.tile(np.where(q == 0, 1.0, np.where(q > 8, 1.0, 20.0)), (3, 1))
    seen = {c.statement: c for c in path.claims(of_powers(within, between))}
    of = lambda text: seen[f"noise 0.2: {text}, between less within classes"]
    assert of("ln R of q > 8, all q, there and back").estimate.value > 0
    assert of("ln R of q > 4, all q, open paths").estimate.value > 0
    assert of("ln share of q > 8 without the mean").verdict == "contradicted"


@pytest.mark.parametrize("wrong", [{"n": 0}, {"noise": 2.0}, {"m": 0}])
def test_what_makes_no_sense_is_named(wrong):
    with pytest.raises(ValueError, match=f"`{next(iter(wrong))}`"):
        path.make(KEY, **wrong)
