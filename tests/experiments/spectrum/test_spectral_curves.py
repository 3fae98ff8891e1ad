"""Petals, optimisers and pushes of the weights: what is drawn, and what is told."""

import dataclasses

import jax
import jax.numpy as jnp
import numpy as np
import pytest
import xarray as xr

from simbias.analysis.parts import parts
from simbias.ensemble.padding import padded
from simbias.experiments.spectrum import frequency_robustness as robust
from simbias.experiments.spectrum import spectral_bias as bias
from simbias.experiments.spectrum import spectral_optimisers as optimisers
from simbias.experiments.spectrum import spectral_petals as flowers
from simbias.experiments.spectrum._waves import of_waves
from simbias.losses import mse
from simbias.measures.spectrum.amplitudes import Amplitudes
from simbias.measures.spectrum.outputs_and_targets import OutputsAndTargets
from simbias.measures.spectrum.perturbed_amplitudes import PerturbedAmplitudes
from simbias.verbs.simulate import simulate

KEY = jax.random.key(0)


def test_petals_are_where_the_radius_says():
    data, _ = flowers.make(KEY, petals=3, m=1, depth=1, count=3, spacing=1, n=12)
    z = np.arange(12) / 12
    radius = np.hypot(*np.asarray(data.x).T)
    np.testing.assert_allclose(radius, 1 + np.sin(6 * np.pi * z) / 2, rtol=1e-12)
    seen = 2 * np.abs(np.fft.rfft(np.asarray(data.y[:, 0]))) / 12
    np.testing.assert_allclose(seen[:5], [0, 1, 1, 1, 0], atol=1e-12)


def test_what_is_learned_is_of_the_upper_half_and_at_most_all():
    values = np.zeros((2, 1, 3, 9))
    values[1, :, :, 6::2] = [[0, 0], [1, 2], [0.5, 1]]
    shape = ("petals", "seed", "time", "frequency")
    ds = xr.Dataset({"amplitudes": (shape, values)}, {"count": 4, "spacing": 2})
    np.testing.assert_allclose(flowers.learned(ds), [[0], [3.5 / 6]])


def test_the_factor_of_the_loss_is_the_ratio_of_the_rates():
    f, y, weight = jnp.array([[1.0], [2.0]]), jnp.zeros((2, 1)), jnp.ones(2)
    seen = optimisers.RATE * optimisers.magnified_mse(f, y, weight)
    np.testing.assert_allclose(seen, optimisers.DESCENT * mse(f, y, weight))


def test_curves_are_the_network_and_the_target():
    data, net = optimisers.make(KEY, m=2, depth=1, count=3, n=7)
    seen = OutputsAndTargets()(net, data)
    np.testing.assert_array_equal(seen[1], data.y[:, 0])
    np.testing.assert_allclose(seen[0, 1], net(data.x[1])[0], rtol=1e-12)
    np.testing.assert_array_equal(OutputsAndTargets()(net, padded(data, 9)), seen)
    with pytest.raises(ValueError, match="`sample`"):
        OutputsAndTargets("others")(net, data)


def test_the_series_of_the_control_is_its_target():
    data, net = robust.make(KEY, network="fourier", count=3, n=16)
    np.testing.assert_allclose(jax.vmap(net)(data.x), data.y, atol=1e-12)


def test_a_push_of_what_is_linear_adds_to_every_amplitude_alike():
    data, net = robust.make(KEY, network="fourier", count=3, n=8)
    assert isinstance(net, robust.FourierSeries)
    net = robust.FourierSeries(net.cosine[:1], net.sine[:1], (1,))
    measure = PerturbedAmplitudes((1, 0), 8, (0.0, 0.7), pairs=200)
    seen = measure(net, data)
    np.testing.assert_allclose(seen[0], Amplitudes((1, 0), 8)(net, data), atol=1e-12)
    # The mean of |1 + 0.7 e^{iφ}| over a turn.
    turn = np.exp(2j * np.pi * np.arange(1000) / 1000)
    assert float(seen[1, 0]) == pytest.approx(np.abs(1 + 0.7 * turn).mean(), abs=0.03)
    assert float(seen[1, 0]) >= 1
    np.testing.assert_allclose(seen[:, 1], 0, atol=1e-12)
    # By the triangle inequality no pair of pushes lowers an amplitude.
    pair = PerturbedAmplitudes((1, 0), 8, (0.0, 0.7), pairs=1)
    assert float(pair(net, data)[1, 0]) >= 1


@pytest.mark.parametrize("module", [bias, flowers, optimisers, robust])
def test_what_is_measured_follows_the_size_of_the_sample(module):
    chosen = module.experiment("smoke")
    arguments = {k: v for k, v in chosen.cell.items() if not isinstance(v, tuple)}
    # Two sizes of which one program has room for both.
    for n in (78, 80):
        arguments |= {"n": n, "m": 3, "depth": 1}
        data, net = module.make(KEY, **arguments)
        values = np.asarray(jax.vmap(net)(data.x))[:, 0]
        expected = 2 * np.abs(np.fft.rfft(values)) / n
        (measure,) = [
            v
            for k, v in {**chosen.measures, **chosen.final}.items()
            if k in ("amplitudes", "left")
        ]
        seen = measure(net, padded(data, 80))
        seen = seen[0] if module is robust else seen
        np.testing.assert_allclose(seen[1:-1], expected[1:-1], rtol=1e-9)


@pytest.mark.parametrize(
    ("module", "cell", "expected"),
    [
        (bias, {"count": 3, "spacing": 4}, [4, 8, 12]),
        (flowers, {"count": 3, "spacing": 3}, [3, 6, 9]),
        (optimisers, {"count": 6}, [1, 2, 3, 4, 5, 6]),
        (robust, {"count": 4}, [1, 2, 3, 4]),
    ],
)
def test_the_frequencies_that_are_told_of_are_those_of_the_target(
    module, cell, expected
):
    chosen = module.experiment("smoke", m=3, depth=1, n=30, **cell)
    ds = simulate(dataclasses.replace(chosen, seeds=6, times=chosen.times[:1]))
    part = next(parts(ds, module.AXES))[1]
    if module is robust:
        seen = robust.kept(part)
        np.testing.assert_array_equal(seen["frequency"], expected)
    else:
        seen = of_waves(part["amplitudes"], part)
        np.testing.assert_array_equal(seen["frequency"], expected)
    module.claims(part)


def test_claims_are_on_what_is_kept():
    values = np.ones((6, 2, 4))
    values[:, 1, 1:] = [1, 0.8, 0.3]
    ds = xr.Dataset(
        {"left": (("network", "seed", "radius", "frequency"), values[None])},
        {"network": ["relu"], "radius": [0.0, 1.0], "count": 3},
    )
    values = lambda ds: [c.estimate.value for c in robust.claims(ds)]
    np.testing.assert_allclose(values(ds), [-1, 0.3])
    turned = ds.isel(frequency=[0, 3, 2, 1])
    np.testing.assert_allclose(values(turned), [1, 1 / 0.3])
    # The control is drawn and not judged: it can do nothing else.
    assert not robust.claims(turned.assign_coords(network=["fourier"]))


@pytest.mark.parametrize(
    ("made", "wrong", "named"),
    [
        (flowers.make, {"petals": -1}, "petals"),
        (flowers.make, {"petals": 256}, "petals"),
        (flowers.make, {"n": 40}, "n"),
        (optimisers.make, {"count": 0}, "count"),
        (robust.make, {"count": 2}, "count"),
        (optimisers.make, {"n": 10}, "n"),
        (robust.make, {"n": 20}, "n"),
    ],
)
def test_what_makes_no_sense_is_named(made, wrong, named):
    with pytest.raises(ValueError, match=f"`{named}`"):
        made(KEY, **wrong)


@pytest.mark.parametrize(
    ("wrong", "named"), [({"radii": ()}, "radii"), ({"pairs": 0}, "pairs")]
)
def test_pushes_that_make_no_sense_are_named(wrong, named):
    with pytest.raises(ValueError, match=f"`{named}`"):
        PerturbedAmplitudes(
            **{"frequencies": (1,), "points": 8, "radii": (1.0,)} | wrong
        )
    with pytest.raises(ValueError, match="`radii`"):
        PerturbedAmplitudes((1,), 8, (-1.0,))
    with pytest.raises(ValueError, match="`frequencies`"):
        PerturbedAmplitudes((5,), 8, (1.0,))
