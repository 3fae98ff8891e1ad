"""Mirror images: paired neurons are a linear network on half the clock."""

import dataclasses

import equinox as eqx
import jax
import jax.numpy as jnp
import numpy as np
import pytest
from scipy.integrate import solve_ivp

from simbias.core import Status
from simbias.errors import BadInput
from simbias.experiments.alignment.symmetric_data import make
from simbias.flows import ReluFlow
from simbias.losses import half_mse


def test_the_second_half_mirrors_the_first():
    data, _ = make(jax.random.key(0), n=8, d=2, m=4)
    for v in (data.x, data.y, data.mean):
        np.testing.assert_array_equal(v[4:], -v[:4])
    plain, _ = make(jax.random.key(0), kind="plain", n=8, d=2, m=4)
    np.testing.assert_array_equal(plain.x[:4], data.x[:4])


def test_an_odd_number_of_samples_is_refused():
    with pytest.raises(BadInput, match=r"`n` must be even"):
        make(jax.random.key(0), n=7)
    make(jax.random.key(0), kind="plain", n=7)


@pytest.mark.slow
def test_paired_neurons_are_a_linear_network_on_half_the_clock():
    """(w, a) and (−w, −a): f(x) = Σ a w·x, exactly, and θ' is half that of a line."""
    data, net = make(jax.random.key(1), n=8, d=2, m=3, scale=1.0)
    pair = lambda v: jnp.concatenate([v, -v])
    net = dataclasses.replace(net, w=pair(net.w), a=pair(net.a))
    flow, until = ReluFlow(rtol=1e-8), 4.0
    state = eqx.filter_jit(flow.init)(net, data, half_mse, jax.random.key(0))
    step = eqx.filter_jit(flow.step)
    while state.status == Status.RUNNING and float(state.time) < until:
        state = step(state, data, half_mse, jnp.asarray(until))
    x, y = np.asarray(data.x), np.asarray(data.y)[:, 0]

    def velocity(_, v):
        w, a = v[:6].reshape(3, 2), v[6:]
        pull = (y - x @ (a @ w)) @ x / len(x) / 2
        return np.concatenate([np.outer(a, pull).ravel(), w @ pull])

    start = np.concatenate([np.ravel(net.w[:3]), np.ravel(net.a[:3])])
    end = solve_ivp(velocity, (0, until), start, rtol=1e-11, atol=1e-12).y[:, -1]
    np.testing.assert_allclose(np.ravel(state.network.w[:3]), end[:6], rtol=1e-5)
    np.testing.assert_allclose(np.ravel(state.network.a[:3]), end[6:], rtol=1e-5)
