"""Ranks of matrices with known singular values, of layers by name, of features."""

import dataclasses
import math

import jax
import jax.numpy as jnp
import numpy as np
import pytest

from simbias.core import Dataset
from simbias.ensemble.padding import padded
from simbias.measures import (
    EffectiveRank,
    FeatureRank,
    InputRank,
    LayerNorms,
    ProductRow,
    SingularShares,
    StableRank,
    StableRanks,
    UnitSingularValues,
    WeightRank,
)
from simbias.networks import (
    balanced,
    convolutional,
    deep_linear,
    linear_attention,
    mlp,
    patch_convolution,
    transformer,
)
from simbias.numerics.matrix_rank import (
    effective_rank,
    singular_values,
    spectral_entropy,
    stable_rank,
)

KEY = jax.random.key(0)


def rotated(values, rows=5):
    """A matrix of these singular values."""
    rng = np.random.default_rng(0)
    u, _ = np.linalg.qr(rng.normal(size=(rows, len(values))))
    v, _ = np.linalg.qr(rng.normal(size=(len(values), len(values))))
    return jnp.asarray(u * np.asarray(values) @ v)


def sample(n=9, d=4):
    x = jnp.asarray(np.random.default_rng(1).normal(size=(n, d)))
    y = x[:, :1]
    return Dataset(x, y, jnp.ones(n), y, x[:1])


@pytest.mark.parametrize("scale", [1.0, 1e-200])
def test_ranks_are_those_of_their_formulas(scale):
    matrix = scale * rotated([2.0, 1.0, 1.0])
    assert stable_rank(matrix) == pytest.approx(6 / 4)
    assert spectral_entropy(matrix) == pytest.approx(1.5 * math.log(2))
    squared = -(4 / 6 * math.log(4 / 6) + 2 / 6 * math.log(1 / 6))
    assert spectral_entropy(matrix, is_squared=True) == pytest.approx(squared)
    assert effective_rank(matrix) == pytest.approx(2**1.5)


def test_equal_singular_values_count_themselves_and_one_alone_is_one():
    for rank in (1, 3):
        matrix = rotated([0.3] * rank + [0.0] * (4 - rank))
        for found in (
            stable_rank(matrix),
            effective_rank(matrix),
            effective_rank(matrix, is_squared=True),
        ):
            assert found == pytest.approx(rank, abs=1e-10)


def test_a_matrix_of_zeros_has_no_rank():
    zero = jnp.zeros((3, 2))
    assert jnp.isnan(stable_rank(zero))
    assert jnp.isnan(effective_rank(zero))
    net = mlp(KEY, (4, 3, 1))
    dark = dataclasses.replace(net, weights=tuple(0 * w for w in net.weights))
    data = sample()
    for measure in (StableRank("weights.0"), WeightRank("weights.1"), FeatureRank()):
        assert jnp.isnan(measure(dark, data))


@pytest.mark.slow
def test_layers_are_found_by_name():
    data = sample()
    net = deep_linear(KEY, (4, 6, 3), law="torch")
    for i, w in enumerate(net.weights):
        assert StableRank(f"weights.{i}")(net, data) == stable_rank(w)
        found = WeightRank(f"weights.{i}", is_squared=True, is_log=True)(net, data)
        assert found == spectral_entropy(w, is_squared=True)
    assert EffectiveRank()(net, data) == effective_rank(net.product)
    assert EffectiveRank(is_log=True)(net, data) == spectral_entropy(net.product)
    images = convolutional(KEY, image=(2, 4, 4), k=1, channels=(3,), p=5)
    kernel = images.kernels[0].reshape(3, 18)
    assert StableRank("kernels.0")(images, data) == stable_rank(kernel)
    encoder = transformer(KEY, n=4, width=4, depth=1)
    query = encoder.layers[0].query.w
    assert WeightRank("layers.0.query.w")(encoder, data) == effective_rank(query)


@pytest.mark.parametrize(
    "layer", ["w", "weights.2", "biases.0", "weights", "activation"]
)
def test_a_layer_that_is_none_is_refused_with_those_that_are(layer):
    with pytest.raises(ValueError, match=r"`layer` .* 'weights.0', 'weights.1'"):
        StableRank(layer)(mlp(KEY, (4, 3, 1)), sample())


def test_measures_of_every_layer_are_those_of_each_matrix():
    data = sample()
    net = deep_linear(KEY, (4, 6, 3), law="torch")
    layers = [StableRank(f"weights.{i}")(net, data) for i in (0, 1)]
    np.testing.assert_array_equal(StableRanks()(net, data), layers)
    np.testing.assert_allclose(
        LayerNorms()(net, data), [np.sum(np.square(w)) for w in net.weights]
    )
    values = np.linalg.svd(net.weights[1], compute_uv=False)
    shares = SingularShares(most=5)(net, data)
    np.testing.assert_allclose(shares[1], [*values / values[0], 0, 0])
    assert SingularShares(most=2)(net, data).shape == (2, 2)
    x = data.x[0]
    np.testing.assert_allclose(ProductRow(output=2)(net, data) @ x, net(x)[2])


@pytest.mark.parametrize(
    "measure", [StableRanks(), LayerNorms(), SingularShares(), ProductRow()]
)
def test_measures_of_every_layer_have_the_axes_they_name_in_single_precision(measure):
    data, net = sample(), deep_linear(KEY, (4, 6, 3), law="torch")
    low = jax.tree.map(lambda v: v.astype(jnp.float32), net)
    found, expected = measure(low, data), measure(net, data)
    assert found.ndim == len(measure.dims)
    assert found.dtype == jnp.float32
    # A hundred roundings of float32.
    np.testing.assert_allclose(found, expected, rtol=1e-5, atol=1e-5)
    turned = jnp.eye(6)[::-1]
    first, last = net.weights
    other = dataclasses.replace(net, weights=(turned @ first, last @ turned))
    np.testing.assert_allclose(measure(other, data), expected, rtol=1e-10, atol=1e-12)


def test_inputs_have_the_rank_of_their_gram_matrix_whatever_the_padding():
    data = sample()
    expected = spectral_entropy(data.x @ data.x.T)
    for given in (data, padded(data, 16)):
        assert InputRank()(None, given) == pytest.approx(float(expected), rel=1e-10)


def test_what_is_no_matrix_is_refused():
    with pytest.raises(ValueError, match="`matrix`"):
        singular_values(jnp.zeros((0, 3)))


def test_features_have_the_rank_of_their_gram_matrix_whatever_the_padding():
    data = sample()
    net = mlp(KEY, (4, 6, 5, 1), activation="tanh")
    phi = jax.vmap(net.features)(data.x)
    values = np.linalg.eigvalsh(np.asarray(phi @ phi.T))[-5:]
    p = values / values.sum()
    expected = -np.sum(p * np.log(p))
    for given in (data, padded(data, 16)):
        assert FeatureRank()(net, given) == pytest.approx(expected, rel=1e-10)
        effective = FeatureRank(is_squared=False, is_log=False)(net, given)
        assert effective == pytest.approx(float(effective_rank(phi)), rel=1e-10)


def test_orthogonal_linear_layers_keep_the_rank_of_the_inputs():
    data = sample()
    expected = spectral_entropy(data.x, is_squared=True)
    for depth in (1, 4):
        net = deep_linear(KEY, (4,) * depth + (1,), law="orthogonal")
        assert FeatureRank()(net, data) == pytest.approx(float(expected), abs=1e-10)


def test_singular_values_of_units_are_those_of_all_their_weights():
    """Also under vmap and in any order of the units; refused where there are none."""
    data, value = sample(), UnitSingularValues(most=7)
    net = mlp(KEY, (4, 5, 2), has_bias=True)
    rows = np.concatenate([net.weights[0], net.weights[1].T, net.biases[0][:, None]], 1)
    expected = np.linalg.svd(rows, compute_uv=False)
    np.testing.assert_allclose(value(net, data)[:5], expected, rtol=1e-12)
    assert not value(net, data)[5:].any()
    for network in (
        balanced(KEY, m=6, d=4),
        patch_convolution(KEY, m=6, q=2, p=2),
        linear_attention(KEY, m=6, p=3),
    ):
        turned = jax.tree.map(lambda v: v[::-1], network)
        both = jax.tree.map(lambda *v: jnp.stack(v), network, turned)
        seen = jax.vmap(lambda one: value(one, data))(both)
        np.testing.assert_allclose(seen[0], seen[1], rtol=1e-12)
        assert seen[0, 3] > 0
    with pytest.raises(ValueError, match="one hidden layer"):
        value(mlp(KEY, (4, 5, 5, 1)), data)
