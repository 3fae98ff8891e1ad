"""Networks of strings against Equinox's parts, their laws, their dropout."""

import dataclasses
import functools

import equinox as eqx
import jax
import jax.numpy as jnp
import numpy as np
import pytest

from simbias.core import Buffer
from simbias.introspection.trained_arrays import size, split_trained
from simbias.networks import mlp, noisy, recurrent, transformer
from simbias.networks.sequence._dropout import dropped

KEY = jax.random.key(0)
N, WIDTH = 5, 6
LAWS = ("uniform", "normal", "xavier", "default")
encoder = functools.partial(transformer, n=N, width=WIDTH, depth=1, heads=2)
memory = functools.partial(recurrent, width=WIDTH, depth=2)
BUILD = {"transformer": encoder, "recurrent": memory}


@functools.cache
def strings(rows=7):
    signs = np.random.default_rng(0).choice([-1.0, 1.0], size=(rows, N))
    return jnp.asarray(signs)


@jax.jit
def shown(net, x):
    """Features and output."""
    return net.features(x), net(x)


@eqx.filter_jit
def of_cell(cell, given, state):
    return cell(given, state)


@jax.jit
def noised(net, x, key):
    return net.in_training(x, key)


def attention_of_equinox(layer, h):
    attention = eqx.nn.MultiheadAttention(
        layer.heads,
        h.shape[1],
        use_query_bias=True,
        use_key_bias=True,
        use_value_bias=True,
        use_output_bias=True,
        key=KEY,
    )
    ours = (layer.query, layer.key, layer.value, layer.mix)
    names = ("query_proj", "key_proj", "value_proj", "output_proj")
    for part, name in zip(ours, names, strict=True):
        where = lambda m, name=name: (getattr(m, name).weight, getattr(m, name).bias)
        attention = eqx.tree_at(where, attention, (part.w, part.b))
    return attention(h, h, h)


def test_a_transformer_is_equinoxs_attention_and_two_layers_on_tokens_and_an_end():
    net = encoder(KEY)
    tokens, positions = np.asarray(net.tokens), np.asarray(net.positions)
    x = strings()[0]
    rows = [tokens[int(s > 0)] for s in x] + [tokens[2]]
    h = jnp.asarray(np.sqrt(WIDTH) * np.stack(rows) + positions)

    @jax.jit
    def after(layer, h):
        h = h + attention_of_equinox(layer, jax.vmap(layer.norms[0])(h))
        inner = jax.vmap(layer.norms[1])(h) @ layer.first.w.T + layer.first.b[None, :]
        return h + jnp.maximum(inner, 0) @ layer.second.w.T + layer.second.b[None, :]

    for layer in net.layers:
        h = after(layer, h)
    last = np.asarray(h[-1])
    # Equinox and torch add 1e-5 to the variance.
    expected = (last - last.mean()) / np.sqrt(last.var() + 1e-5)
    np.testing.assert_allclose(shown(net, x)[0], expected, rtol=1e-10, atol=1e-12)
    np.testing.assert_allclose(shown(net, x)[1], np.asarray(net.a) @ expected)


def test_a_recurrent_network_is_equinoxs_cells_one_after_another():
    net, x = memory(KEY), strings()[0]
    h = net.tokens[(x > 0).astype(int)]
    for layer in net.layers:
        cell = eqx.nn.LSTMCell(WIDTH, WIDTH, key=KEY)
        parts = (layer.w, layer.u, layer.b)
        where = lambda c: (c.weight_ih, c.weight_hh, c.bias)
        cell, state, out = eqx.tree_at(where, cell, parts), (jnp.zeros(WIDTH),) * 2, []
        for given in h:
            state = of_cell(cell, given, state)
            out.append(state[0])
        h = jnp.stack(out)
    np.testing.assert_allclose(shown(net, x)[1], net.a @ h[-1], rtol=1e-12)


def test_nothing_hides_what_comes_later_and_without_positions_order_is_lost():
    net = encoder(KEY)
    blind = dataclasses.replace(net, positions=jnp.zeros_like(net.positions))
    x = strings()[0]
    value = lambda net, x: shown(net, x)[1]
    np.testing.assert_allclose(value(blind, x[::-1]), value(blind, x), rtol=1e-10)
    assert abs(value(net, x[::-1]) - value(net, x))[0] > 1e-6
    slope = jax.jit(jax.grad(lambda x: net(x)[0]))(x)
    assert np.all(np.abs(slope) > 0)


@pytest.mark.parametrize("build", [transformer, recurrent])
@pytest.mark.parametrize("law", LAWS)
def test_every_part_has_the_law_of_its_name(build, law):
    width, s = 40, 0.7
    sizes = {"n": 60} if build is transformer else {}
    net = build(KEY, width=width, depth=1, law=law, scale=s, **sizes)
    layer = net.layers[0]
    if build is transformer:
        matrix, bias, inputs = layer.second.w, layer.second.b, 2 * width
    else:
        matrix, bias, inputs = layer.u, layer.b, width
    xavier = 2 / sum(matrix.shape)
    variance = {
        "uniform": (s**2 / 3, s**2 / 3),
        "normal": (s**2, 1.0),
        "xavier": (s**2 * xavier, 1.0),
        "default": (s**2 / (3 * inputs), 1.0),
    }[law]
    for array, expected in zip((matrix, net.tokens), variance, strict=True):
        # Five standard errors of a variance, at most 2σ⁴/size each.
        error = 5 * (2 / array.size) ** 0.5
        assert abs(np.mean(array**2) / expected - 1) < error
    assert (np.max(np.abs(bias)) > 0) == (law == "default")
    assert np.max(np.abs(bias)) <= s * inputs**-0.5
    if build is transformer:
        place = {"uniform": s**2 / 3, "normal": 1 / 3, "xavier": 1, "default": 0.01 / 3}
        error = 5 * (2 / net.positions.size) ** 0.5
        assert abs(np.mean(net.positions**2) / place[law] - 1) < error
        assert np.all(net.norm.weight == 1)
        assert not np.any(net.norm.bias)


def test_the_published_scale_of_uniform_and_normal_is_ten():
    assert 9 < np.max(np.abs(encoder(KEY, law="uniform").layers[0].first.w)) <= 10
    assert 8 < np.std(memory(KEY, law="normal").layers[0].w) < 12


@pytest.mark.parametrize("name", BUILD)
def test_half_the_functions_of_the_start_are_of_either_sign(name):
    # f and −f have the same probability under every law: the read-out is symmetric.
    x = strings()[0]
    draw = jax.jit(jax.vmap(lambda key: BUILD[name](key, law="uniform")(x)[0]))
    signs = np.sign(draw(jax.random.split(KEY, 400)))
    assert abs(np.mean(signs)) < 5 / 20


@pytest.mark.parametrize("name", BUILD)
def test_a_dropout_of_zero_is_none(name):
    plain, zero = BUILD[name](KEY), BUILD[name](KEY, dropout=0.0)
    assert plain.in_training is None
    x = strings()[0]
    # Not to the last bit: another program rounds otherwise.
    expected = shown(plain, x)[1]
    np.testing.assert_allclose(noised(zero, x, KEY), expected, rtol=1e-12)
    np.testing.assert_allclose(shown(zero, x)[1], expected, rtol=1e-12)


@pytest.mark.parametrize("name", BUILD)
def test_dropout_is_drawn_in_training_only_and_its_rate_is_not_trained(name):
    net, x = BUILD[name](KEY, dropout=0.3), strings()[0]
    drawn = jax.jit(jax.vmap(net.in_training, (None, 0)))(x, jax.random.split(KEY, 20))
    assert len(np.unique(drawn)) == 20
    plain = shown(BUILD[name](KEY), x)[1]
    np.testing.assert_allclose(shown(net, x)[1], plain, rtol=1e-12)
    trained, rest = split_trained(net)
    assert size(trained) == size(split_trained(BUILD[name](KEY))[0])
    assert [float(v) for v in jax.tree.leaves(rest)] == [0.3]


def test_the_mean_of_dropout_over_keys_is_what_it_was_given():
    h, rate = jnp.asarray([1.0, -2.0, 0.5]), 0.4
    keys = jax.random.split(KEY, 4000)
    drawn = jax.vmap(dropped, (None, None, 0))(h, Buffer(jnp.asarray(rate)), keys)
    assert abs(np.mean(drawn == 0) - rate) < 5 * (rate * (1 - rate) / 12000) ** 0.5
    error = np.abs(h) * (rate / (1 - rate) / 4000) ** 0.5
    assert np.all(np.abs(np.mean(drawn, axis=0) - h) < 5 * error)


def test_noise_has_its_deviation_and_measures_see_none_of_it():
    net = noisy(mlp(KEY, (N, 1)), 0.3)
    x, inner = strings()[0], net.inner
    assert isinstance(inner, type(mlp(KEY, (N, 1))))
    keys = jax.random.split(KEY, 4000)
    drawn = jax.vmap(net.in_training, (None, 0))(x, keys)[:, 0]
    deviation = 0.3 * np.linalg.norm(inner.weights[0])
    assert abs(np.mean(drawn) - net(x)[0]) < 5 * deviation / 4000**0.5
    assert abs(np.std(drawn) / deviation - 1) < 5 / 8000**0.5
    np.testing.assert_array_equal(shown(net, x)[1], shown(inner, x)[1])
    np.testing.assert_array_equal(shown(net, x)[0], x)
    assert (net.has_kinks, noisy(encoder(KEY), 0.1).has_kinks) == (False, True)


def test_noise_before_dropout_draws_both():
    net, x = noisy(encoder(KEY, dropout=0.2), 0.0), strings()[0]
    key = jax.random.split(KEY)[1]
    expected = noised(net.inner, x, key)
    np.testing.assert_allclose(noised(net, x, KEY), expected, rtol=1e-12)


@pytest.mark.parametrize("name", BUILD)
def test_weights_of_single_precision_give_outputs_of_single_precision(name):
    net = BUILD[name](KEY, dropout=0.1, k=3)
    cast = lambda v: v.astype(jnp.float32) if eqx.is_inexact_array(v) else v
    short, x = jax.tree.map(cast, net), strings()[0]
    value = shown(short, cast(x))[1]
    for found in (value, noised(short, cast(x), KEY)):
        assert found.dtype == jnp.float32
        assert found.shape == (3,)
    np.testing.assert_allclose(value, shown(net, x)[1], rtol=1e-3, atol=1e-5)
    assert net.has_kinks is (name == "transformer")


@pytest.mark.parametrize(
    ("build", "named"),
    [
        (lambda: transformer(KEY, n=0), "n"),
        (lambda: transformer(KEY, n=4, depth=0), "depth"),
        (lambda: transformer(KEY, n=4, feed_forward=0), "feed_forward"),
        (lambda: transformer(KEY, n=4, width=6, heads=4), "heads"),
        (lambda: transformer(KEY, n=4, law="he"), "law"),
        (lambda: transformer(KEY, n=4, scale=0.0), "scale"),
        (lambda: transformer(KEY, n=4, dropout=1.0), "dropout"),
        (lambda: transformer(KEY, n=4, dropout=-0.1), "dropout"),
        (lambda: recurrent(KEY, width=0), "width"),
        (lambda: recurrent(KEY, law="he"), "law"),
        (lambda: noisy(recurrent(KEY), -1.0), "deviation"),
    ],
)
def test_bad_input_is_named(build, named):
    with pytest.raises(ValueError, match=f"`{named}`"):
        build()
