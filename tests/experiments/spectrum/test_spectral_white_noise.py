"""Noise in labels: its octaves, the sample, and what is claimed of a history."""

import inspect

import jax
import jax.numpy as jnp
import numpy as np
import pytest
import xarray as xr

import simbias
from simbias.ensemble.padding import padded
from simbias.experiments.spectrum import spectral_white_noise as noisy
from simbias.measures.spectrum.high_share import HighShare
from simbias.measures.spectrum.octave_bands import OctaveBands
from simbias.numerics.spectrum import octaves

KEY = jax.random.key(0)


def test_octaves_hold_every_frequency_once():
    assert octaves(64, 3) == ((0, 3), (4, 7), (8, 15), (16, 32))
    assert octaves(50, 3) == ((0, 3), (4, 7), (8, 15), (16, 25))
    assert octaves(18, 3) == ((0, 3), (4, 7), (8, 9))


def test_labels_are_three_waves_and_noise_of_the_deviation_that_is_named():
    plain, _ = noisy.make(KEY, noise=0.0, m=2, n=64)
    seen = 2 * np.abs(np.fft.rfft(np.asarray(plain.y[:, 0]))) / 64
    np.testing.assert_allclose(seen[1:4], 1, rtol=1e-12)
    np.testing.assert_allclose(np.delete(seen, [1, 2, 3]), 0, atol=1e-13)
    data, _ = noisy.make(KEY, noise=0.7, m=2, n=4096)
    test = data.test
    assert test is not None
    for sample in (data, test):
        # Five standard errors of a deviation from 4,096 values.
        deviation = float(jnp.std(sample.y - sample.mean))
        assert deviation == pytest.approx(0.7, rel=5 / (2 * 4096) ** 0.5)
    np.testing.assert_allclose(test.x[:4, 0], (np.arange(4) + 0.5) / 4 / 4096)
    np.testing.assert_allclose(test.mean[:, 0].mean(), 0, atol=1e-12)


def test_every_octave_of_a_function_that_has_learned_half_of_it_is_half_learned():
    data, _ = noisy.make(KEY, m=2, n=40)
    coefficients = np.fft.rfft(np.asarray(data.y[:, 0]))
    coefficients[4:8] *= 0.5
    coefficients[8:16] *= 1j
    values = jnp.asarray(np.fft.irfft(coefficients, 40))
    f = lambda x: values[jnp.round(40 * x[0]).astype(int)][None]
    seen = OctaveBands(40)(f, data)
    np.testing.assert_allclose(seen[0] / seen[1], [1, 0.5, 0, 1], atol=1e-12)
    np.testing.assert_allclose(seen[1].sum(), jnp.mean(data.y**2), rtol=1e-12)
    # Rows of weight 0 are not of the sample.
    np.testing.assert_allclose(OctaveBands(40)(f, padded(data, 48)), seen, rtol=1e-12)


def test_the_high_share_is_that_of_the_mean_square():
    data, _ = noisy.make(KEY, m=2, n=20)
    wave = lambda k, x: jnp.sin(2 * jnp.pi * k * x)
    f = lambda x: 2 * wave(3, x) + wave(4, x)
    np.testing.assert_allclose(HighShare(3)(f, data), 1 / 5, rtol=1e-12)
    assert np.isnan(HighShare(3)(jnp.zeros_like, data))


def test_lines_from_label_to_label_have_the_excess_that_is_named():
    rng = np.random.default_rng(0)
    n = 100_000
    fine = (np.arange(4 * n) + 0.5) / 4
    line = np.interp(fine[:-4], np.arange(n), rng.normal(size=n))
    # Five standard errors, as if only every label were independent.
    assert np.mean(line**2) == pytest.approx(noisy.of_interpolation(), abs=5 * n**-0.5)


def result():
    """Octaves are half learned at steps 1, 2, 4 and 8, the error is least at 2."""
    steps = np.array([0.0, 1, 2, 4, 8, noisy.LONG])
    share = np.minimum(1, steps[:, None] / (2 * np.array([1, 2, 4, 8])))
    bands = np.stack([share, np.ones_like(share)], axis=1)
    histories = {
        "train": [1.5, 1, 0.5, 0.2, 0.1, 0.001],
        "excess": [1.5, 1, 0.1, 0.2, 0.3, 0.8],
        "high": [0, 0, 0.1, 0.2, 0.2, 0.3],
    }
    coords = {
        "seed": np.arange(6),
        "time": steps * noisy.RATE,
        "part": ["learned", "whole"],
        "octave": ["0–3", "4–7", "8–15", "16–32"],
        "noise": [0.0, 1.0],
    }
    scatter = 1 + 0.01 * np.sin(np.arange(6.0))
    rows = {"bands": (("time", "part", "octave"), bands)}
    rows |= {name: (("time",), np.array(v)) for name, v in histories.items()}
    ds = xr.Dataset(rows, coords) * xr.DataArray(scatter, dims="seed")
    noise = xr.DataArray(coords["noise"], dims="noise")
    clean = xr.zeros_like(ds).assign(excess=ds["excess"].isel(time=0) - ds["time"])
    clean = clean.assign(high=0.001 * ds["high"], bands=ds["bands"])
    return ds.where(noise > 0, clean).transpose("noise", "seed", ...)


def test_claims_tell_the_order_and_the_minimum_before_noise_is_learned():
    found = {c.statement: c for c in noisy.claims(result())}
    value = lambda text: found[text].estimate.value
    for after, before in (("4–7", "0–3"), ("8–15", "4–7"), ("16–32", "8–15")):
        text = f"σ = 1: log₂ of the time to half, k = {after} less k = {before}"
        assert value(text) == pytest.approx(1)
    text = "σ = 1: excess risk at its least, step 2, over that at the end"
    assert value(text) == pytest.approx(1 / 8)
    assert value("σ = 1: training error over σ² at step 2") == pytest.approx(0.5, 0.01)
    assert found["σ = 1: excess risk over σ² at the end"].verdict == "supported"
    control = "control, no noise: excess risk at the end less that at the same step"
    assert found[control].estimate.value < 0
    second = "σ = 1: share of f above k = 3, end over that at the second peak"
    assert found[second].needs == "a second descent of the test error"


def test_a_second_descent_is_looked_for_in_the_test_error():
    ds = result()
    is_late = ds["time"] > 8.5 * noisy.RATE
    falling = ds.assign(
        excess=ds["excess"].where(~is_late, 0.15), high=ds["high"].where(~is_late, 0.1)
    )
    # Not all alike: equal values have no interval.
    falling["high"] = falling["high"] * (1 + 0.01 * np.cos(ds["seed"]) * is_late)
    text = "σ = 1: share of f above k = 3, end over that at the second peak"
    (claim,) = (c for c in noisy.claims(falling) if c.statement == text)
    assert not claim.needs
    assert claim.estimate.value == pytest.approx(0.5, 0.02)


def test_an_error_that_only_falls_has_no_minimum_before_the_end():
    ds = result()
    falling = ds.assign(excess=ds["train"])
    held = [c.statement for c in noisy.claims(falling) if c.verdict == "supported"]
    assert not [text for text in held if text.startswith("σ = 1: excess risk at")]


def test_without_a_noisy_run_the_control_has_nothing_to_be_compared_with():
    clean = noisy.claims(result().isel(noise=[0]))
    assert clean[0].needs == "a run with noise"


@pytest.mark.parametrize("wrong", [{"n": 16}, {"n": 33}, {"n": 0}, {"noise": -0.1}])
def test_what_makes_no_sense_is_named(wrong):
    with pytest.raises(ValueError, match=f"`{next(iter(wrong))}`"):
        inspect.unwrap(noisy.make)(KEY, **wrong)


@pytest.mark.parametrize("points", [18, 22])
def test_a_measure_of_other_points_than_there_are_is_refused(points):
    data, net = noisy.make(KEY, m=2, n=20)
    with pytest.raises(ValueError, match=f"`n` must be `points` .* {points}:"):
        OctaveBands(points)(net, padded(data, 24))
    with pytest.raises(ValueError, match="`n`"):
        simbias.simulate(noisy.experiment("smoke", n=40))
    with pytest.raises(ValueError, match="`points`"):
        OctaveBands(21)
