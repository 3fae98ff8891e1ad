"""Patches of images, and the transformer that reads them."""

import jax
import jax.numpy as jnp
import numpy as np
import pytest

from simbias.networks import patch_transformer, transformer
from simbias.numerics.patches import patch_numbers

KEY = jax.random.key(0)
IMAGE, PATCH = (2, 4, 6), (2, 3)


def of_image(**changes):
    sizes = {"image": IMAGE, "patch": PATCH, "width": 6, "depth": 1, "heads": 2}
    return patch_transformer(KEY, **sizes | changes)


def test_patches_are_numbered_row_by_row_and_hold_all_channels():
    one = [[0, 0, 0, 1, 1, 1]] * 2 + [[2, 2, 2, 3, 3, 3]] * 2
    expected = np.array([one, one])
    np.testing.assert_array_equal(patch_numbers(IMAGE, PATCH), expected.ravel())


def test_embedding_patches_is_a_convolution_whose_stride_is_the_patch():
    net, x = of_image(), jax.random.normal(KEY, (48,))
    kernel = net.embedding.w.reshape(6, 2, *PATCH)
    found = jax.lax.conv_general_dilated(x.reshape(1, *IMAGE), kernel, PATCH, "VALID")
    expected = found[0].reshape(6, 4).T + net.embedding.b[None, :]
    np.testing.assert_allclose(net.embedded(x), expected, rtol=1e-12)


def test_rows_with_one_entry_are_tokens():
    net = patch_transformer(KEY, image=(1, 2, 5), patch=(1, 5), width=6, depth=1)
    x = jnp.concatenate([jnp.eye(5)[3], jnp.eye(5)[1]])
    tokens = net.embedding.w.T + net.embedding.b[None, :]
    np.testing.assert_allclose(net.embedded(x), tokens[jnp.array([3, 1])], rtol=1e-12)


@pytest.mark.slow
def test_it_is_the_transformer_of_strings_on_embedded_patches():
    patches, strings = of_image(), transformer(KEY, n=4, width=6, depth=1, heads=2)
    x = jax.random.normal(KEY, (48,))
    h = jnp.concatenate([patches.embedded(x), patches.end]) + patches.positions
    expected = patches.a @ patches.norm(patches.layers[0](h, None, None)[-1])
    np.testing.assert_allclose(patches(x), expected, rtol=1e-12)
    np.testing.assert_allclose(patches.a @ patches.features(x), expected, rtol=1e-12)
    shape = lambda net: jax.tree.map(jnp.shape, net.layers)
    assert shape(patches) == shape(strings)


@pytest.mark.slow
def test_without_norms_and_skips_it_is_attention_and_two_layers_alone():
    # The network of Vasudeva et al. on modular sums, by hand: one head.
    net = of_image(heads=1, has_norm=False, has_skips=False)
    x, layer = jax.random.normal(KEY, (48,)), net.layers[0]
    h = jnp.concatenate([net.embedded(x), net.end]) + net.positions
    q, k, v = (part(h) for part in (layer.query, layer.key, layer.value))
    shares = jax.nn.softmax(q[-1] @ k.T / 6**0.5)
    attended = layer.mix.w @ (shares @ v) + layer.mix.b
    inner = jax.nn.relu(layer.first.w @ attended + layer.first.b)
    expected = net.a @ (layer.second.w @ inner + layer.second.b)
    np.testing.assert_allclose(net(x), expected, rtol=1e-12)


@pytest.mark.parametrize(
    ("wrong", "named"),
    [
        ({"image": (4, 6)}, "image"),
        ({"image": (2, 0, 6)}, "`image`"),
        ({"patch": (2, 4)}, "`patch`"),
        ({"patch": (0, 3)}, "`patch`"),
        ({"heads": 4}, "`heads`"),
        ({"k": 0}, "`k`"),
        ({"depth": 0}, "`depth`"),
    ],
)
def test_what_makes_no_sense_is_named(wrong, named):
    with pytest.raises(Exception, match=named):
        of_image(**wrong)
