"""Wrong labels of digits: what is fitted of them, and where the test error turns."""

import dataclasses

import equinox as eqx
import jax
import jax.numpy as jnp
import numpy as np
import pytest
import xarray as xr

from simbias.ensemble.padding import padded
from simbias.experiments.spectrum import spectral_label_noise as wrong
from simbias.measures.risk.wrong_labels_fitted import WrongLabelsFitted
from simbias.measures.spectrum.path_spectrum import PathSpectrum

KEY = jax.random.key(0)
EPOCHS = np.array([0, 1, 10, 50, 100, 300])


@pytest.fixture(scope="module")
def digits():
    draw = lambda key: wrong.make(key, noise=0.5, n=60, n_test=40, m=2, depth=1)
    return eqx.filter_jit(draw)(KEY)[0]


def test_wrong_labels_are_fitted_by_what_gives_them_and_not_by_the_truth(digits):
    of = lambda values: (
        lambda x: values[jnp.argmin(jnp.sum((digits.x - x[None]) ** 2, 1))]
    )
    assert float(WrongLabelsFitted()(of(digits.y), digits)) == 1
    assert float(WrongLabelsFitted()(of(digits.mean), digits)) == 0
    half = jnp.where(jnp.arange(60)[:, None] < 30, digits.y, digits.mean)
    is_wrong = np.argmax(digits.y, axis=1) != np.argmax(digits.mean, axis=1)
    expected = is_wrong[:30].sum() / is_wrong.sum()
    seen = WrongLabelsFitted()(of(half), padded(digits, 70))
    assert float(seen) == pytest.approx(expected)
    clean = dataclasses.replace(digits, y=digits.mean)
    assert np.isnan(WrongLabelsFitted()(of(half), clean))


def test_paths_of_the_training_sample_are_those_of_it_as_a_test_sample(digits):
    paths = PathSpectrum(8, 20, "all", True, False)
    f = lambda x: jnp.sin(3 * x[:10])
    expected = paths(f, dataclasses.replace(digits, test=digits))
    seen = PathSpectrum(8, 20, "all", True, False, "train")(f, digits)
    np.testing.assert_array_equal(seen, expected)
    assert not np.allclose(seen, paths(f, digits))


def result(seeds=8):
    """Errors are least at epoch 10 and largest at 50; the high share follows."""
    error = np.array([0.9, 0.3, 0.1, 0.3, 0.25, 0.2])
    high = np.array([1.0, 1, 1, 4, 3, 2])
    fitted = np.array([0.1, 0, 0, 0.8, 1, 1])
    q = np.arange(1, 33)
    spread = 1 + 0.01 * np.cos(np.arange(seeds))
    by_seed = xr.DataArray(spread, dims="seed")
    noise = xr.DataArray([0.0, 0.2], dims="noise")
    along = lambda values: xr.DataArray(values, dims="time")
    clean = along(np.array([0.9, 0.3, 0.1, 0.1, 0.1, 0.1]))
    told = 1 - xr.where(noise > 0, along(error), clean) * by_seed
    is_high = xr.DataArray(q > wrong.HIGH, dims="path_frequency")
    heights = xr.where(noise > 0, along(high) * by_seed, 1 + 0.001 * by_seed)
    power = xr.where(is_high, heights, 100.0)
    accuracy = xr.concat([told, told], "sample").assign_coords(sample=["train", "test"])
    step = wrong.RATE * 1000 / wrong.BATCH
    coords = {"time": step * EPOCHS, "noise": noise.values, "path_frequency": q}
    ds = xr.Dataset(
        {
            "accuracy": accuracy,
            "wrong_fitted": along(fitted) * xr.where(noise > 0, by_seed, np.nan),
            "power": power,
            "test_power": power,
        }
    )
    return ds.assign_coords({**coords, "n": 1000, "seed": np.arange(seeds)})


def found(ds):
    return {claim.statement: claim for claim in wrong.claims(ds)}


def test_claims_are_read_where_the_test_error_turns():
    seen = found(result())
    value = lambda text: seen[text].estimate.value
    up = "largest test error less least"
    assert value(f"noise 0.2: test error, {up}") == pytest.approx(0.2, rel=0.02)
    fell = value("noise 0.2: test error, end less largest: a second descent")
    assert fell == pytest.approx(-0.1, rel=0.02)
    text = f"noise 0.2, training images: ln share of q > {wrong.HIGH}"
    share = lambda h: np.log(24 * h / (24 * h + 800))
    assert value(f"{text}, {up}") == pytest.approx(share(4) - share(1), rel=0.02)
    for then in ("at largest test error", "largest"):
        fell = value(f"{text}, end less {then}")
        assert fell == pytest.approx(share(2) - share(4), rel=0.02)
    (control,) = (c for text, c in seen.items() if text.startswith("control"))
    assert control.estimate.value == pytest.approx(0, abs=1e-9)


def test_a_test_error_that_only_wavers_has_no_second_descent():
    ds, rng = result(40), np.random.default_rng(0)
    late = ds["time"] > ds["time"][2]
    noise = xr.DataArray(rng.normal(size=(6, 40)), dims=("time", "seed"))
    flat = ds.assign(accuracy=ds["accuracy"].where(~late, 0.7 + 0.05 * noise))
    (claim,) = (c for t, c in found(flat).items() if "second descent" in t)
    assert claim.estimate.low < 0 < claim.estimate.high


def test_short_training_claims_nothing_and_noise_alone_needs_no_control():
    short = found(result().isel(time=slice(0, 5)))
    assert {claim.needs for claim in short.values()} == {"300 epochs"}
    noisy = found(result().isel(noise=[1]))
    assert noisy
    assert not any("no noise" in text for text in noisy)
    assert wrong.claims(result().isel(noise=[0])) == []


@pytest.mark.parametrize("bad", [{"n": 1}, {"n_test": 1}, {"noise": 2.0}, {"m": 0}])
def test_what_makes_no_sense_is_named(bad):
    with pytest.raises(ValueError, match=f"`{next(iter(bad))}`"):
        wrong.make(KEY, **bad)
