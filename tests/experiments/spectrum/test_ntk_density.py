"""Arcs of three densities: the sample, the measure, and the kernel's own law."""

import equinox as eqx
import jax
import jax.numpy as jnp
import numpy as np
import pytest
import xarray as xr

from simbias.ensemble.padding import padded
from simbias.experiments.spectrum import ntk_density as density
from simbias.measures.spectrum.arc_shares import ArcShares
from simbias.theory.circle_kernel import circle_kernel

KEY = jax.random.key(0)
MEASURE = ArcShares(density.FREQUENCIES)


def angles(data):
    return np.arctan2(data.x[:, 1], data.x[:, 0]) % (2 * np.pi)


def test_arcs_have_the_densities_that_are_named():
    data, net = density.make(KEY, ratio=2, m=2, n=84)
    counts, _ = np.histogram(angles(data), density.ARCS, (0, 2 * np.pi))
    assert counts.tolist() == [12, 24, 48]
    np.testing.assert_allclose(density.densities(2), counts / 28)
    np.testing.assert_allclose(jax.vmap(net)(data.x), 0, atol=1e-14)
    np.testing.assert_allclose(np.diff(np.sort(angles(data))[36:]), 2 * np.pi / 144)


def test_the_measure_tells_arcs_and_frequencies_apart():
    data, _ = density.make(KEY, ratio=2, m=2, n=168, size=0.3)

    def learned(x):
        """All of k = 9 on the second arc, half of k = 12 on the first."""
        angle = jnp.arctan2(x[1], x[0]) % (2 * jnp.pi)
        arc = jnp.floor(3 * angle / (2 * jnp.pi))
        part = jnp.where(arc == 1, wave(1, angle), 0)
        return (part + jnp.where(arc == 0, 0.5 * wave(2, angle), 0))[None]

    theta, k = angles(data), np.asarray(density.FREQUENCIES, float)
    design = [np.cos(np.outer(theta, k)), np.sin(np.outer(theta, k))]
    fit = np.linalg.lstsq(np.hstack(design), np.asarray(data.y[:, 0]), rcond=None)[0]
    np.testing.assert_allclose(np.hypot(fit[:3], fit[3:]), 0.3, rtol=1e-10)
    wave = lambda q, t: fit[q] * jnp.cos(k[q] * t) + fit[3 + q] * jnp.sin(k[q] * t)
    expected = np.ones((3, 3))
    expected[1, 1], expected[0, 2] = 0, 0.5
    np.testing.assert_allclose(MEASURE(learned, data), expected, atol=1e-10)
    # At the start f = 0, and all is left.
    nothing = MEASURE(lambda x: jnp.zeros(1), data)
    np.testing.assert_allclose(nothing, 1, rtol=1e-12)


def test_exponents_are_those_of_a_power_law():
    k, p = np.asarray(density.FREQUENCIES), density.densities(2)
    times = xr.DataArray(
        3 * k**1.7 * p[:, None] ** -0.6, {"frequency": k}, ("arc", "frequency")
    )
    along_k, along_p = density.exponents(times, 2)
    assert float(along_k) == pytest.approx(1.7)
    assert float(along_p) == pytest.approx(-0.6)
    assert np.isnan(density.exponents(times, 1)[1])
    assert np.isnan(density.exponents(times.where(k > 6), 2)[0])


def test_the_kernel_of_infinite_width_follows_the_law():
    data, _ = density.make(KEY, ratio=2, m=2, n=168)
    x, y = np.asarray(data.x), np.asarray(data.y)
    kernel = circle_kernel(np.arccos(np.clip(x @ x.T, -1, 1)), True) / len(x)
    values, vectors = np.linalg.eigh(kernel)
    steps = np.append(0, np.geomspace(20, 1500, 50).round())
    left = (1 - density.RATE * values[:, None]) ** steps * (vectors.T @ y)
    k = np.asarray(density.FREQUENCIES)
    ends = [0, 24, 72, 168]
    parts = [
        np.abs(np.exp(-1j * np.outer(k, angles(data)[a:b])) @ values[a:b])
        for values in (vectors @ left, y)
        for a, b in zip(ends, ends[1:], strict=False)
    ]
    shares = np.stack([a / b for a, b in zip(parts[:3], parts[3:], strict=True)])
    ds = xr.Dataset(
        {"left": (("arc", "frequency", "time"), shares)},
        {"time": density.RATE * steps, "frequency": list(density.FREQUENCIES)},
    )
    along_k, along_p = density.exponents(density.half_times(ds), 2)
    assert float(along_k) == pytest.approx(2, abs=0.2)
    assert float(along_p) == pytest.approx(-1, abs=0.2)


@pytest.mark.parametrize(
    "wrong", [{"ratio": 0}, {"n": 167}, {"n": 49}, {"n": 0}, {"size": -1.0}, {"m": 3}]
)
def test_what_makes_no_sense_is_named(wrong):
    with pytest.raises(ValueError, match=f"`{next(iter(wrong))}`"):
        density.make(KEY, **wrong)


def test_padding_is_on_no_arc():
    data, net = density.make(KEY, ratio=2, m=16, n=84)
    net = eqx.tree_at(lambda net: net.b, net, jax.random.normal(KEY, net.b.shape))
    seen = MEASURE(net, padded(data, 96))
    np.testing.assert_allclose(seen, MEASURE(net, data), rtol=1e-10)
