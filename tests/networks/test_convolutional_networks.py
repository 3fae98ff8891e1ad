"""Convolutional networks, batch normalisation and its averages in the flow."""

import dataclasses
import functools
import math

import equinox as eqx
import jax
import jax.numpy as jnp
import numpy as np
import pytest

from simbias.core import Buffer, Dataset, Status
from simbias.flows.descent import Descent
from simbias.flows.gradient_flow import GradientFlow
from simbias.introspection.trained_arrays import split_trained
from simbias.losses import half_mse
from simbias.measures.neurons.parameter_norm import ParameterNorm
from simbias.networks.convolution._layers import (
    BatchNorm,
    batch_norm,
    convolution,
    max_pool,
)
from simbias.networks.convolution.convolutional import convolutional
from simbias.networks.convolution.resnet import resnet

KEY = jax.random.key(0)
IMAGE = (2, 8, 4)


# Nearly all the time is compiling: not optimising saves a third of it.
fast = {"xla_backend_optimization_level": 0}


@functools.cache
def drawn(law, **sizes):
    draw = jax.jit(lambda key: law(key, **sizes), compiler_options=fast)
    return draw(KEY)


def small():
    return drawn(resnet, image=IMAGE, k=3, widths=(3, 4), depth=1)


def sample(n=6, padding=2):
    rng = np.random.default_rng(0)
    x, y = rng.normal(size=(n + padding, 64)), rng.normal(size=(n + padding, 3))
    weight = np.r_[np.ones(n), np.zeros(padding)]
    data = [jnp.asarray(v) for v in (x, y, weight, y)]
    return Dataset(*data, jnp.zeros((0, 64)))


def buffers(network):
    leaves = jax.tree.leaves(network, is_leaf=lambda v: isinstance(v, Buffer))
    return [np.asarray(v.value) for v in leaves if isinstance(v, Buffer)]


def trained_size(network):
    return sum(math.prod(v.shape) for v in jax.tree.leaves(split_trained(network)[0]))


def test_resnet_18_has_the_published_number_of_weights_and_shapes():
    weights = eqx.filter_eval_shape(lambda key: split_trained(resnet(key))[0], KEY)
    # torchvision's 11,689,512 with a 3 × 3 stem and 10 classes.
    assert sum(math.prod(v.shape) for v in jax.tree.leaves(weights)) == 11_173_962
    network = eqx.filter_eval_shape(resnet, KEY)
    convolutions = 1 + sum(2 + (b.skip is not None) for b in network.blocks)
    assert convolutions == 20
    features = lambda net, x: net.features(x)
    x = jax.ShapeDtypeStruct((3 * 32 * 32,), jnp.float64)
    assert eqx.filter_eval_shape(features, network, x).shape == (512,)


def test_batch_norm_is_its_formula_and_padding_does_not_count():
    rng = np.random.default_rng(0)
    h = rng.normal(2, 3, (5, 2, 4, 3))
    gain, shift = rng.normal(size=(2, 2))
    norm = batch_norm(2, jnp.ones(()))
    norm = dataclasses.replace(norm, gain=jnp.asarray(gain), shift=jnp.asarray(shift))
    weight = jnp.array([1.0, 1.0, 0.0, 1.0, 0.0])
    out, moved = norm.on_batch(jnp.asarray(h), weight)
    kept = h[[0, 1, 3]]
    mean, variance = kept.mean((0, 2, 3)), kept.var((0, 2, 3))
    wide = lambda v: v[None, :, None, None]
    expected = wide(gain) * (h - wide(mean)) / np.sqrt(wide(variance) + 1e-5)
    np.testing.assert_allclose(out, expected + wide(shift), rtol=1e-12)
    # The averages begin at 0 and 1 and take a tenth of the batch's, unbiased.
    pixels = kept[:, 0].size
    np.testing.assert_allclose(moved.mean.value, 0.1 * mean, rtol=1e-12)
    expected = 0.9 + 0.1 * variance * pixels / (pixels - 1)
    np.testing.assert_allclose(moved.variance.value, expected, rtol=1e-12)


def test_batch_norm_is_that_of_equinox():
    h = jnp.asarray(np.random.default_rng(1).normal(size=(4, 3, 5, 2)))
    ours, moved = batch_norm(3, jnp.ones(())).on_batch(h, jnp.ones(4))
    layer, state = eqx.nn.make_with_state(eqx.nn.BatchNorm)(
        3, axis_name="row", mode="batch", dtype=jnp.float64
    )
    rows = jax.vmap(layer, in_axes=(0, None), out_axes=(0, None), axis_name="row")
    theirs, _ = rows(h, state)
    np.testing.assert_allclose(ours, theirs, rtol=1e-12, atol=1e-12)
    settled: BatchNorm = dataclasses.replace(
        moved,
        mean=Buffer(jnp.mean(h, (0, 2, 3))),
        variance=Buffer(jnp.var(h, (0, 2, 3))),
    )
    # With the batch's own numbers as averages, inputs are treated as in the batch.
    np.testing.assert_allclose(settled.on_inputs(h), ours, rtol=1e-12, atol=1e-12)


def test_a_convolution_is_a_sum_over_shifted_images():
    rng = np.random.default_rng(0)
    h, kernel = rng.normal(size=(1, 2, 5, 4)), rng.normal(size=(3, 2, 3, 3))
    wide = np.pad(h[0], ((0, 0), (1, 1), (1, 1)))
    expected = sum(
        np.einsum("oc,cyx->oyx", kernel[:, :, i, j], wide[:, i : i + 5, j : j + 4])
        for i in range(3)
        for j in range(3)
    )
    found = convolution(jnp.asarray(h), jnp.asarray(kernel))[0]
    np.testing.assert_allclose(found, expected, rtol=1e-12)
    halved = convolution(jnp.asarray(h), jnp.asarray(kernel), 2)[0]
    np.testing.assert_allclose(halved, expected[:, ::2, ::2], rtol=1e-12)


def test_pooling_takes_the_largest_of_a_window_and_its_gradient_goes_there():
    rng = np.random.default_rng(0)
    h, weight = rng.normal(size=(2, 3, 6, 4)), rng.normal(size=(2, 3, 3, 2))
    wide = np.pad(h, ((0, 0), (0, 0), (1, 1), (1, 1)), constant_values=-np.inf)
    expected, gradient = np.zeros(weight.shape), np.zeros(wide.shape)
    for n, c, i, j in np.ndindex(weight.shape):
        window = wide[n, c, 2 * i : 2 * i + 3, 2 * j : 2 * j + 3]
        y, x = np.unravel_index(np.argmax(window), (3, 3))
        expected[n, c, i, j] = window[y, x]
        gradient[n, c, 2 * i + y, 2 * j + x] += weight[n, c, i, j]
    summed = lambda h: jnp.sum(weight * max_pool(h))
    np.testing.assert_array_equal(max_pool(jnp.asarray(h)), expected)
    # Inside a program, as in training.
    found = jax.jit(jax.grad(summed), compiler_options=fast)(jnp.asarray(h))
    np.testing.assert_allclose(found, gradient[:, :, 1:-1, 1:-1], rtol=1e-12)


@pytest.mark.slow
def test_the_start_of_both_networks_follows_its_law():
    net = drawn(convolutional, image=(1, 16, 8), k=2, scale=0.5)
    assert [v.shape for v in net.kernels] == [(8, 1, 3, 3), (16, 8, 3, 3)]
    for values, inputs in ((net.kernels[1], 72), (net.w, 128), (net.a, 64)):
        bound = 0.5 / np.sqrt(inputs)
        assert jnp.max(jnp.abs(values)) <= bound
        # Four standard errors of the mean square of a uniform law.
        error = 4 * bound**2 * np.sqrt(4 / 45 / values.size)
        assert abs(float(jnp.mean(values**2)) - bound**2 / 3) < error
    kernel = small().blocks[1].second.kernel
    spread = float(jnp.std(kernel))
    assert abs(spread - np.sqrt(2 / (4 * 9))) < 4 * spread / np.sqrt(2 * kernel.size)


@pytest.mark.parametrize("build", [convolutional, resnet])
def test_a_wrong_size_is_named(build):
    with pytest.raises(ValueError, match="`k` must be a positive integer"):
        build(KEY, image=(1, 16, 8), k=0)
    with pytest.raises(ValueError, match="`scale` must be finite and positive"):
        build(KEY, image=(1, 16, 8), k=2, scale=-1.0)


def test_an_image_that_cannot_be_halved_is_refused():
    with pytest.raises(ValueError, match="`image` must have sides divisible by 4"):
        convolutional(KEY, image=(1, 10, 8), k=2)


FLOW = Descent(rate=0.1, optimiser="nesterov", weight_decay=0.01)


@functools.partial(jax.jit, compiler_options=fast)
def stepped(state, data):
    return FLOW.step(state, data, half_mse, jnp.float64(1.0))


@pytest.mark.slow
def test_descent_trains_through_the_batch_and_moves_the_averages():
    network, data = small(), sample()
    state = stepped(FLOW.init(network, data, half_mse, KEY), data)
    state = stepped(state, data)
    kept = data.weight > 0
    x, y = data.x[kept], data.y[kept]
    velocity = None

    @functools.partial(jax.jit, compiler_options=fast)
    def gradient(params, rest):
        def objective(params):
            out, moved = eqx.combine(params, rest).on_sample(x, jnp.ones(len(x)))
            return jnp.mean(jnp.sum((out - y) ** 2, 1)) / 2, split_trained(moved)[1]

        return jax.grad(objective, has_aux=True)(params)

    for _ in range(2):
        params, rest = split_trained(network)
        slope, rest = gradient(params, rest)
        slope = jax.tree.map(lambda g, p: g + 0.01 * p, slope, params)
        if velocity is None:
            velocity = slope
        else:
            velocity = jax.tree.map(lambda v, g: 0.9 * v + g, velocity, slope)
        step = lambda p, g, v: p - 0.1 * (g + 0.9 * v)
        network = eqx.combine(jax.tree.map(step, params, slope, velocity), rest)
    pairs = zip(jax.tree.leaves(state.network), jax.tree.leaves(network), strict=True)
    for found, expected in pairs:
        np.testing.assert_allclose(found, expected, rtol=1e-9, atol=1e-12)
    for before, after in zip(buffers(small()), buffers(state.network), strict=True):
        assert not np.any(before == after)


@pytest.mark.slow
def test_a_step_that_fails_leaves_the_averages_where_they_were():
    network, data = small(), sample()
    broken = dataclasses.replace(data, y=data.y * jnp.inf)
    state = stepped(FLOW.init(network, broken, half_mse, KEY), broken)
    assert state.status == Status.NONFINITE
    for before, after in zip(buffers(network), buffers(state.network), strict=True):
        np.testing.assert_array_equal(before, after)


def test_averages_are_no_weights():
    network = small()
    far = jax.tree.map(
        lambda v: Buffer(v.value + 100) if isinstance(v, Buffer) else v,
        network,
        is_leaf=lambda v: isinstance(v, Buffer),
    )
    norm = ParameterNorm()
    assert norm(far, sample()) == norm(network, sample())
    assert trained_size(far) == trained_size(network)


def test_the_gradient_flow_refuses_batch_normalisation():
    with pytest.raises(ValueError, match="batch normalisation"):
        GradientFlow(allow_kinks=True).init(small(), sample(), half_mse, KEY)
