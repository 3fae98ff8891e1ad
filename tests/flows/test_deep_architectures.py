"""Residual networks, convolutions and max pooling, through the method `gated`."""

import equinox as eqx
import jax
import jax.numpy as jnp
import numpy as np
import pytest
from _deep_problems import advance, distance, euler, sample, started
from jax.flatten_util import ravel_pytree

from simbias import losses
from simbias.core import AbstractNetwork, Status
from simbias.errors import BadInput
from simbias.flows.deep_relu_flow import DeepReluFlow
from simbias.introspection.trained_arrays import split_trained
from simbias.network import Pattern
from simbias.networks import convolutional

KEY = jax.random.key(0)


class Residual(AbstractNetwork):
    """h ← h + V relu(W h), twice, between two linear layers."""

    stem: jax.Array
    inner: tuple[jax.Array, jax.Array]
    outer: tuple[jax.Array, jax.Array]
    a: jax.Array

    kink_slopes = (0.0, 0.0)

    def __call__(self, x):
        h = self.stem @ x
        for w, v in zip(self.inner, self.outer, strict=True):
            h = h + v @ jax.nn.relu(w @ h)
        return self.a @ h

    def gated(self, x, pattern):
        h, out = self.stem @ x, []
        layers = zip(self.inner, self.outer, *pattern, strict=True)
        for w, v, scale, shift in layers:
            out.append(w @ h)
            h = h + v @ (scale * out[-1] + shift)
        return self.a @ h, tuple(out)


class Pooled(AbstractNetwork):
    """Largest of two linear units, four times, then ReLU units on these."""

    w: jax.Array
    v: jax.Array
    a: jax.Array

    kink_slopes = (0.0, 0.0)

    def __call__(self, x):
        h = jnp.max((self.w @ x).reshape(-1, 2), axis=1)
        return self.a @ jax.nn.relu(self.v @ h)

    def gated(self, x, pattern):
        (pool, relu), (of_pool, of_relu) = pattern
        first, second = (self.w @ x).reshape(-1, 2).T
        apart = first - second
        h = second + pool * apart + of_pool
        z = self.v @ h
        return self.a @ (relu * z + of_relu), (apart, z)


class Hidden(Pooled):
    """The same with a pooling that the pattern does not hold."""

    kink_slopes = (0.0,)

    def gated(self, x, pattern):
        h = jnp.max((self.w @ x).reshape(-1, 2), axis=1)
        z = self.v @ h
        return self.a @ (pattern.scale[0] * z + pattern.shift[0]), (z,)


def residual(rng):
    draw = lambda *shape: jnp.asarray(0.5 * rng.standard_normal(shape))
    return Residual(
        draw(3, 3), (draw(4, 3), draw(4, 3)), (draw(3, 4), draw(3, 4)), draw(1, 3)
    )


def pooled(rng, kind=Pooled):
    draw = lambda *shape: jnp.asarray(0.7 * rng.standard_normal(shape))
    return kind(draw(8, 3), draw(4, 4), draw(1, 4))


def small_convolution(_):
    return convolutional(KEY, image=(1, 4, 4), k=1, channels=(2,), p=4, scale=1.5)


def ends(net, data, time):
    """Weights under the flow, the state, small steps of Euler and their error."""
    theta = lambda net: np.asarray(ravel_pytree(split_trained(net)[0])[0])
    flow = DeepReluFlow(rtol=jnp.asarray(1e-8))
    state = started(flow, net, data, losses.half_mse)
    state = advance(flow, state, data, losses.half_mse, jnp.asarray(time))
    step = lambda h: euler(net, data, losses.half_mse, jnp.asarray(time), h)
    runs = [theta(step(jnp.asarray(4e-4 / 2**i))) for i in range(3)]
    before, end = 2 * runs[1] - runs[0], 2 * runs[2] - runs[1]
    error = max(distance(before, end), distance(runs[1], runs[2]) / 50)
    return theta(state.network), state, end, error


@pytest.mark.parametrize(
    ("make", "inputs", "time"),
    [
        pytest.param(residual, 3, 4.0, id="residual", marks=pytest.mark.long),
        pytest.param(
            small_convolution, 16, 4.0, id="convolution", marks=pytest.mark.long
        ),
        pytest.param(pooled, 3, 12.0, id="max pooling"),
    ],
)
@pytest.mark.slow
def test_other_architectures_follow_small_euler_steps(make, inputs, time):
    rng = np.random.default_rng(1)
    net = make(rng)
    x, y = rng.standard_normal((6, inputs)), rng.standard_normal((6, 1))
    data = sample(x, y)
    flow_end, state, end, error = ends(net, data, time)
    assert state.status == Status.RUNNING
    assert int(state.stats["crossings"]) + int(state.stats["slides"]) > 3
    assert error < 1e-4
    assert distance(flow_end, end) < max(5 * error, 1e-6)


@pytest.mark.parametrize("make", [residual, pooled])
def test_gates_that_follow_the_signs_give_these_networks(make):
    rng = np.random.default_rng(0)
    net, x = make(rng), jnp.asarray(rng.standard_normal(3))
    gates = (jnp.ones(4), jnp.ones(4))
    for _ in range(2):
        out, z = net.gated(x, Pattern(gates, (jnp.zeros(4), jnp.zeros(4))))
        gates = tuple((v > 0).astype(float) for v in z)
    out, _ = net.gated(x, Pattern(gates, (jnp.zeros(4), jnp.zeros(4))))
    np.testing.assert_allclose(out, net(x), rtol=1e-12)


def test_a_maximum_outside_of_the_pattern_is_refused_and_the_remedy_is_named():
    rng = np.random.default_rng(0)
    net = pooled(rng, Hidden)
    data = sample(rng.standard_normal((6, 3)), rng.standard_normal((6, 1)))
    with pytest.raises(BadInput, match=r"b \+ relu\(a − b\)"):
        DeepReluFlow().init(net, data, losses.half_mse, KEY)
    assert eqx.is_array(net.w)
