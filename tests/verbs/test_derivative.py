"""Derivatives through crossings, slides and releases; what has none; bad input."""

import dataclasses

import equinox as eqx
import jax
import jax.numpy as jnp
import numpy as np
import pytest

import simbias
from simbias.core import Dataset
from simbias.datasets import gaussian_teacher
from simbias.flows import ReluFlow
from simbias.losses import half_mse
from simbias.networks import TwoLayer, balanced
from simbias.verbs.simulate import solve


def _problem(seed):
    key = jax.random.key(seed)
    data = gaussian_teacher(key, n=8, d=3, sigma=0.5, n_test=1)
    return balanced(jax.random.fold_in(key, 1), m=6, d=3, scale=0.5), data


@pytest.mark.slow
@pytest.mark.parametrize("seed", [0, 4])
def test_derivatives_are_differences_of_two_runs(seed):
    """18 and 32 events; of 4 a sliding neuron crosses a boundary, which lets it go."""
    end, step, rtol = 20.0, 1e-5, 1e-10
    with simbias.exact_numerics():
        network, data = _problem(seed)
        rng = np.random.default_rng(seed)
        y, x = (jnp.array(rng.normal(size=(1, 8, k))) for k in (1, 3))
        seen = simbias.derivative(network, data, half_mse, end, x=x, y=y, rtol=rtol)
        assert seen.finding == "finished"
        ends = []
        for sign in (1, -1):
            moved = dataclasses.replace(
                data, x=data.x + sign * step * x[0], y=data.y + sign * step * y[0]
            )
            other = simbias.derivative(network, moved, half_mse, end, y=y, rtol=rtol)
            assert other.events == seen.events
            ends.append(other.network)
        alone = solve(
            network, data, ReluFlow(rtol=1e-7), half_mse, (end,), {"w": _weights}
        )
    slope = (ends[0].w - ends[1].w) / (2 * step)
    assert float(jnp.max(jnp.abs(slope))) > 0.1
    np.testing.assert_allclose(seen.tangent.w[0], slope, atol=1e-6)
    slope = (ends[0].a - ends[1].a) / (2 * step)
    np.testing.assert_allclose(seen.tangent.a[0], slope, atol=1e-6)
    np.testing.assert_allclose(alone.records["w"][0], seen.network.w, atol=1e-4)


def _weights(network, data):
    return network.w


@pytest.mark.slow
def test_one_neuron_on_one_sample_has_the_derivative_of_its_closed_form():
    """p = aw obeys p' = 2p(y − p) if |a| = |w|: p = y p₀/(p₀ + (y − p₀)e^(−2yt))."""
    with simbias.exact_numerics():
        start, end = 0.1, 1.5
        root = jnp.full((1, 1), start**0.5)
        one = jnp.ones((1, 1))
        data = Dataset(one, one, jnp.ones(1), one, one)
        network = TwoLayer(root, root)
        seen = simbias.derivative(network, data, half_mse, end, y=one[None])
        size = lambda y: y * start / (start + (y - start) * jnp.exp(-2 * y * end))
        p, slope = size(1.0), jax.grad(size)(1.0)
        w, a = seen.network.w[0, 0], seen.network.a[0, 0]
        dw, da = seen.tangent.w[0, 0, 0], seen.tangent.a[0, 0, 0]
    assert seen.events == 0
    assert float(w * a) == pytest.approx(float(p), rel=1e-8)
    assert float(a * dw + w * da) == pytest.approx(float(slope), rel=1e-7)


@pytest.mark.slow
def test_a_perturbation_of_the_data_finds_a_saddle():
    """a = −w, y > 0: both shrink like e⁻ᵗ, and what breaks a = −w grows like eᵗ."""
    with simbias.exact_numerics():
        root = jnp.full((1, 1), 0.1)
        one = jnp.ones((1, 1))
        data = Dataset(one, one, jnp.ones(1), one, one)
        ask = lambda end: simbias.derivative(
            TwoLayer(root, -root), data, half_mse, end, y=one[None]
        )
        seen = ask(5.0)
        assert seen.finding == "finished"
        # |V|/|θ| grows like e²ᵗ once what grows is all that is left of V.
        growth = ask(7.0).growth / seen.growth
        assert growth == pytest.approx(float(jnp.exp(4)), rel=1e-3)
        seen = ask(25.0)
    assert seen.finding == "saddle"
    assert bool(jnp.isnan(seen.tangent.w).all())


@pytest.mark.slow
def test_frozen_weights_have_no_derivative():
    with simbias.exact_numerics():
        network, data = _problem(1)
        network = dataclasses.replace(network, frozen=("a",))
        seen = simbias.derivative(network, data, half_mse, 0.1, y=jnp.ones((2, 8, 1)))
    assert seen.finding == "finished"
    np.testing.assert_array_equal(seen.tangent.a, 0)
    np.testing.assert_array_equal(seen.network.a, network.a)
    np.testing.assert_array_equal(seen.tangent.w[0], seen.tangent.w[1])


def test_bad_input():
    with simbias.exact_numerics():
        network, data = _problem(0)
        ask = lambda **given: simbias.derivative(network, data, half_mse, 1.0, **given)
        with pytest.raises(ValueError, match="one of `start`, `x`, `y` and `weight`"):
            ask()
        several = jax.tree.map(lambda v: jnp.stack([v, v]), network)
        with pytest.raises(ValueError, match="same leading axis"):
            ask(y=jnp.ones((1, 8, 1)), start=several)
        with pytest.raises(ValueError, match=r"`y` must have shape \(1, 8, 1\)"):
            ask(y=jnp.ones((1, 7, 1)))
        with pytest.raises(ValueError, match="`time` must be"):
            simbias.derivative(network, data, half_mse, -1.0, y=jnp.ones((1, 8, 1)))
        smooth = dataclasses.replace(network, activation=jnp.tanh)
        with pytest.raises(ValueError, match="ReLU or leaky ReLU"):
            simbias.derivative(smooth, data, half_mse, 1.0, y=jnp.ones((1, 8, 1)))
        flat = eqx.tree_at(lambda net: net.w, network, jnp.zeros((6, 3)))
        with pytest.raises(ValueError, match="must not start on an activation"):
            simbias.derivative(flat, data, half_mse, 1.0, y=jnp.ones((1, 8, 1)))
