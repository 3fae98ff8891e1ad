"""The kernel on the circle against quadrature and Monte Carlo."""

import jax
import numpy as np
import pytest
from scipy.integrate import quad

from simbias.theory.circle_kernel import circle_eigenvalues, circle_kernel


@pytest.mark.parametrize("has_bias", [False, True])
def test_eigenvalues_are_the_fourier_coefficients_of_the_kernel(has_bias):
    for k, seen in enumerate(circle_eigenvalues(range(13), has_bias)):
        kernel = lambda t, k=k: circle_kernel(t, has_bias) * np.cos(k * t) / np.pi
        expected = quad(kernel, 0, np.pi, epsabs=1e-13, epsrel=1e-13)[0]
        assert abs(seen - expected) < 1e-12


def test_eigenvalues_are_those_of_the_paper():
    plain, bias = (circle_eigenvalues(range(8), has) for has in (False, True))
    np.testing.assert_allclose(plain[:2], [1 / np.pi**2, 1 / 8], rtol=1e-14)
    assert not np.any(plain[3::2])
    even = np.array([2, 4, 6])
    law = (even**2 + 1) / (np.pi**2 * (even**2 - 1) ** 2)
    np.testing.assert_allclose(plain[2::2], law, rtol=1e-14)
    np.testing.assert_allclose(bias[2::2], law / 2, rtol=1e-14)
    np.testing.assert_allclose(
        bias[3::2], 1 / (2 * np.pi**2 * np.array([9, 25, 49])), rtol=1e-14
    )


def test_the_sum_of_all_eigenvalues_is_the_kernel_at_no_distance():
    for has_bias in (False, True):
        rates = circle_eigenvalues(np.arange(200_000), has_bias)
        total = rates[0] + 2 * rates[1:].sum()
        np.testing.assert_allclose(total, circle_kernel(0.0, has_bias), atol=1e-6)


def test_the_kernel_is_the_mean_over_gates():
    w = np.asarray(jax.random.normal(jax.random.key(0), (400_000, 2)))
    for angle in (0.3, 1.9, 2.9):
        x = np.array([[1, 0], [np.cos(angle), np.sin(angle)]])
        gates = np.mean(np.all(w @ x.T > 0, axis=1))
        plain = gates * np.cos(angle)
        np.testing.assert_allclose(plain, circle_kernel(angle), atol=3e-3)
        both = gates * (1 + np.cos(angle)) / 2
        np.testing.assert_allclose(both, circle_kernel(angle, True), atol=3e-3)


@pytest.mark.parametrize("wrong", [[-1], [], [2, -3]])
def test_frequencies_that_make_no_sense_are_named(wrong):
    with pytest.raises(ValueError, match="`frequencies`"):
        circle_eigenvalues(wrong)


def test_an_angle_out_of_range_is_named():
    with pytest.raises(ValueError, match="`angle`"):
        circle_kernel(4.0)
