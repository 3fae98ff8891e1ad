"""Amplitudes of known waves, and the spectra of paths of known functions."""

import dataclasses
from collections.abc import Callable

import equinox as eqx
import jax
import jax.numpy as jnp
import numpy as np
import pytest

from simbias.core import AbstractNetwork, Dataset
from simbias.ensemble.padding import padded
from simbias.measures import Amplitudes, PathSpectrum
from simbias.numerics.spectrum import amplitudes


class Function(AbstractNetwork):
    """Any function of the first coordinate, once for each output."""

    function: Callable = eqx.field(static=True)
    outputs: int = eqx.field(static=True, default=1)

    def __call__(self, x):
        return jnp.repeat(self.function(x[:1]), self.outputs)


def waves(x):
    return 3 * jnp.sin(2 * jnp.pi * 5 * x + 1) + 0.5 * jnp.cos(2 * jnp.pi * 9 * x) - 2


def third(x):
    return jnp.cos(2 * jnp.pi * 3 * x)


def shifted(x):
    return third(x) + 7


def line(x):
    return x


def of(x, y):
    x, y = jnp.asarray(x, jnp.float64), jnp.asarray(y, jnp.float64)
    return Dataset(x, y, jnp.ones(len(x)), y, x[:1])


def grid(n=40):
    x = np.arange(n)[:, None] / n
    return of(x, x)


def test_a_wave_has_its_amplitude_and_nothing_leaks():
    measure = Amplitudes((0, 5, 6, 9), 40)
    for data in (grid(), padded(grid(), 48)):
        found = measure(Function(waves), data)
        np.testing.assert_allclose(found, [2, 3, 0, 0.5], atol=1e-13)
    np.testing.assert_array_equal(measure.coords()["frequency"], [0, 5, 6, 9])


@pytest.mark.parametrize("n", [7, 8])
def test_amplitudes_are_those_of_numpys_transform(n):
    values = np.random.default_rng(0).normal(size=(n, 2))
    ks = tuple(range(n // 2 + 1))
    expected = 2 * np.abs(np.fft.rfft(values, axis=0)) / n
    expected[0] /= 2
    if n % 2 == 0:
        expected[-1] /= 2
    for of in (ks, None):
        found = amplitudes(jnp.asarray(values), of)
        np.testing.assert_allclose(found, expected, rtol=1e-12, atol=1e-14)


def test_high_frequencies_of_long_grids_keep_their_digits():
    n, k = 4096, 2001
    wave = jnp.asarray(np.sin(2 * np.pi * (k * np.arange(n) % n) / n))
    np.testing.assert_allclose(amplitudes(wave, (k, k + 1)), [1, 0], atol=1e-12)


def test_a_grid_of_another_name_is_taken_from_the_others():
    data = dataclasses.replace(grid(8), others={"grid": grid()})
    found = Amplitudes((5,), 40, "grid")(Function(waves), data)
    np.testing.assert_allclose(found, [3], atol=1e-13)


def test_every_frequency_is_that_of_its_place():
    data = dataclasses.replace(grid(8), others={"grid": grid()})
    every = Amplitudes(None, None, "grid")
    found = every(Function(waves), data)
    assert found.shape == (21,)
    np.testing.assert_allclose(found[np.array([0, 5, 9])], [2, 3, 0.5], atol=1e-13)
    assert every.coords() == {}  # they follow the grid
    fixed = Amplitudes(None, 40).coords()["frequency"]
    np.testing.assert_array_equal(fixed, np.arange(21))


@pytest.mark.parametrize(
    ("call", "named"),
    [
        (lambda: Amplitudes((3, 21), 40), "`frequencies` .* 20.*Nyquist.*21"),
        (lambda: Amplitudes((-1,), 40), "`frequencies`"),
        (lambda: Amplitudes((), 40), "`frequencies`"),
        (lambda: Amplitudes((1,), 0), "`points`"),
        (lambda: Amplitudes((1,), None), "`points` .*`sample`"),
        (lambda: Amplitudes((1,), 50)(Function(line), grid()), "`points` .* 40"),
        (lambda: Amplitudes((1,), 9, "a")(Function(line), grid()), "`sample`"),
        (lambda: Amplitudes((1,), 9)(Function(line, 2), grid()), "one output"),
        (lambda: PathSpectrum(points=1), "`points`"),
        (lambda: PathSpectrum(pairs=0), "`pairs`"),
        (lambda: PathSpectrum(kind="across"), "`kind`"),
        (
            lambda: PathSpectrum()(Function(line), with_test([[0.0]], [[1.0]])),
            "two test",
        ),
    ],
)
def test_what_cannot_be_told_is_refused(call, named):
    with pytest.raises(ValueError, match=named):
        call()


def with_test(x, y):
    return dataclasses.replace(grid(), test=of(x, y))


ENDS = with_test([[0.0], [1.0]], [[1.0], [-1.0]])


@pytest.mark.slow
def test_a_wave_along_a_path_has_its_frequency_alone_whatever_is_added():
    for function in (third, shifted):
        network = Function(function, 2)
        powers = PathSpectrum(points=16, is_relative=False)(network, ENDS)
        np.testing.assert_allclose(powers, 64 * np.eye(8)[2], atol=1e-10)
        shares = PathSpectrum(points=16)(network, ENDS)
        assert shares[2] == pytest.approx(0, abs=1e-12)
        assert np.all(np.delete(shares, 2) < -60)


@pytest.mark.slow
def test_a_line_has_the_spectrum_of_its_jump_and_there_and_back_of_its_turns():
    n, q = 16, np.arange(1, 9)
    powers = PathSpectrum(points=n, is_relative=False)(Function(line), ENDS)
    # Σ (m/n) e^{−2πiqm/n} has the modulus 1/(2 sin(πq/n)).
    np.testing.assert_allclose(powers, 1 / (2 * np.sin(np.pi * q / n)) ** 2)
    closed = PathSpectrum(points=n, is_closed=True, is_relative=False)
    q = closed.coords()["path_frequency"]
    assert len(q) == n
    expected = np.where(q % 2, 1 / (n * np.sin(np.pi * q / (2 * n)) ** 2), 0) ** 2
    found = closed(Function(line), ENDS)
    np.testing.assert_allclose(found, expected, rtol=1e-10, atol=1e-20)


@pytest.mark.slow
@pytest.mark.parametrize("n", [16, 15])
def test_with_the_mean_shares_are_of_the_whole_transform(n):
    # Two paths: from 0 to 1 and back.
    values = 3 + np.stack([np.arange(n) / n, 1 - np.arange(n) / n])
    every = np.mean(np.abs(np.fft.fft(values)) ** 2, axis=0)
    above = lambda x: 3 + x
    powers = PathSpectrum(points=n, is_relative=False, has_mean=True)
    np.testing.assert_allclose(powers(Function(above), ENDS), every[: n // 2 + 1])
    shares = PathSpectrum(points=n, has_mean=True)(Function(above), ENDS)
    np.testing.assert_allclose(np.exp(shares), (every / every.sum())[: n // 2 + 1])
    assert powers.coords()["path_frequency"][0] == 0


@pytest.mark.slow
def test_pairs_are_of_their_kind_and_padding_is_in_none():
    x = [[0.0], [1.0], [0.0], [1.0], [9.0]]
    data = with_test(x, [[1.0], [-1.0], [1.0], [-1.0], [1.0]])
    weight = jnp.asarray([1.0, 1, 1, 1, 0])
    assert data.test is not None
    data = dataclasses.replace(data, test=dataclasses.replace(data.test, weight=weight))
    powers = {
        kind: PathSpectrum(16, 30, kind, is_relative=False)(Function(line), data)
        for kind in ("within", "between", "all")
    }
    # Within a class both ends are the same point.
    np.testing.assert_allclose(powers["within"], 0, atol=1e-25)
    alone = PathSpectrum(points=16, is_relative=False)(Function(line), ENDS)
    np.testing.assert_allclose(powers["between"], alone)
    # Of the pairs of four, in either order, two in three are between.
    np.testing.assert_allclose(powers["all"], 2 / 3 * alone)
    assert jnp.all(jnp.isnan(PathSpectrum(16, 3, "within")(Function(line), ENDS)))


def test_hot_labels_are_classes_too():
    hot = np.eye(3)[[0, 0, 2]]
    data = with_test([[0.0], [0.0], [1.0]], hot)
    jitted = jax.jit(lambda d: PathSpectrum(8, 9, "within")(Function(third), d))
    assert np.all(np.isnan(jitted(data)))
