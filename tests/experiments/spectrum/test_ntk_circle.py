"""The circle: the network by hand, its symmetry, the law of the kernel, names."""

import dataclasses
import functools

import equinox as eqx
import jax
import numpy as np
import pytest
import xarray as xr

import simbias
from simbias.core import Status
from simbias.ensemble.padding import padded
from simbias.experiments.spectrum import ntk_circle as circle
from simbias.experiments.spectrum._circle import kernel_network
from simbias.measures.spectrum.circle_shares import CircleShares
from simbias.theory.circle_kernel import circle_eigenvalues, circle_kernel

KEY = jax.random.key(0)


@pytest.mark.parametrize("has_bias", [False, True])
def test_the_network_begins_at_zero_with_the_kernel_of_the_circle(has_bias):
    data, net = circle.make(KEY, has_bias=has_bias, m=20_000, n=24)
    # Rounding of a sum of 20,000.
    np.testing.assert_allclose(jax.vmap(net)(data.x), 0, atol=1e-12)
    kernel = simbias.measures.TangentKernel()(net, data)[0, 0]
    angle = 2 * np.pi * np.arange(24) / 24
    expected = circle_kernel(np.minimum(angle, 2 * np.pi - angle), has_bias)
    np.testing.assert_allclose(kernel, expected, atol=0.02)


def test_the_target_has_every_frequency_at_one_amplitude():
    data, _ = circle.make(KEY, m=2, n=64, size=0.3)
    seen = 2 * np.abs(np.fft.rfft(np.asarray(data.y[:, 0]))) / 64
    np.testing.assert_allclose(seen[1:11], 0.3, rtol=1e-12)
    np.testing.assert_allclose(seen[11:], 0, atol=1e-14)


@functools.cache
def trained(has_bias):
    small = dataclasses.replace(
        circle.experiment("smoke", has_bias=(has_bias,), m=(400,), n=64),
        seeds=1,
        times=(0.0, 4.0, 200.0),
    )
    ds = simbias.simulate(small)
    assert int(ds["status"].squeeze()) == Status.REACHED_TIME
    return ds.squeeze()


def test_without_bias_odd_frequencies_are_never_learned_and_with_bias_they_are():
    plain, bias = trained(False), trained(True)
    odd = {"part": "learned", "frequency": [3, 5, 7, 9]}
    np.testing.assert_allclose(plain["shares"].sel(odd), 0, atol=1e-12)
    np.testing.assert_allclose(plain["rates"][:, 3::2], 0, atol=1e-12)
    assert float(bias["shares"].sel(part="learned", frequency=3)[-1]) > 0.5
    assert float(plain["shares"].sel(part="left", frequency=2)[-1]) < 0.2


def test_a_step_of_descent_leaves_what_the_rates_say():
    ds = trained(True)
    left = ds["shares"].sel(part="left")
    np.testing.assert_allclose(left[0], 1, rtol=1e-12)
    law = 1 - circle.RATE * circle_eigenvalues(range(1, 11), True)
    np.testing.assert_allclose(left[1], law, atol=0.1)


def test_times_of_the_law_are_those_of_residuals_that_follow_it():
    steps = np.arange(0, 2001)
    rates = circle_eigenvalues(circle.FREQUENCIES, True)
    left = (1 - circle.RATE * rates) ** steps[:, None]
    ds = xr.Dataset(
        {"shares": (("part", "time", "frequency"), np.stack([1 - left, left]))},
        {
            "part": ["learned", "left"],
            "time": circle.RATE * steps,
            "frequency": list(circle.FREQUENCIES),
            "has_bias": True,
        },
    )
    law = circle.law_of_half_times(ds)
    np.testing.assert_allclose(circle.half_times(ds), law, rtol=1e-10)
    np.testing.assert_allclose(circle.deviation(ds), 0, atol=1e-10)
    no_bias = circle.law_of_half_times(ds.assign_coords(has_bias=False))
    assert np.isinf(no_bias[2::2]).all()
    assert np.isfinite(no_bias[1::2]).all()


@pytest.mark.parametrize(
    "wrong", [{"m": 3}, {"m": 0}, {"n": 20}, {"n": 33}, {"n": 0}, {"size": 0.0}]
)
def test_what_makes_no_sense_is_named(wrong):
    with pytest.raises(ValueError, match=f"`{next(iter(wrong))}`"):
        circle.make(KEY, **wrong)


def test_output_weights_are_not_trained():
    assert kernel_network(KEY, m=4, has_bias=True).frozen == ("a",)


def test_shares_are_those_of_a_transform_and_padding_has_none():
    data, net = circle.make(KEY, m=16, n=26)
    net = eqx.tree_at(lambda net: net.b, net, jax.random.normal(KEY, net.b.shape))
    f = np.asarray(jax.vmap(net)(data.x))[:, 0]
    both = np.stack([f, np.asarray(data.y)[:, 0] - f])
    expected = np.abs(np.fft.rfft(both))[:, 1:11]
    expected /= np.abs(np.fft.rfft(np.asarray(data.y)[:, 0]))[1:11]
    for sample in (data, padded(data, 28)):
        np.testing.assert_allclose(
            CircleShares(circle.FREQUENCIES)(net, sample), expected, rtol=1e-9
        )
