"""Two-layer convolution and linear attention against their formulas in NumPy."""

import jax
import jax.numpy as jnp
import numpy as np
import pytest

from simbias.errors import BadInput
from simbias.network import Pattern, hook
from simbias.networks import linear_attention, patch_convolution
from simbias.networks.convolution.patch_convolution import PatchConvolution
from simbias.networks.sequence.linear_attention import LinearAttention

KEY = jax.random.key(0)


def test_a_convolution_has_a_readout_for_every_patch():
    net = patch_convolution(KEY, m=3, q=2, p=4)
    x = np.arange(8.0) - 3
    w, a = np.asarray(net.w), np.asarray(net.a)
    expected = sum(
        a[j, p] * max(w[j] @ x[2 * p : 2 * p + 2], 0)
        for j in range(3)
        for p in range(4)
    )
    np.testing.assert_allclose(net(jnp.asarray(x)), [expected], rtol=1e-13)


def test_its_gates_stand_for_the_activation():
    net = patch_convolution(KEY, m=3, q=2, p=4)
    x = jnp.arange(8.0) - 3
    z = net.w @ x.reshape(4, 2).T
    gates = Pattern(((z > 0).astype(float),), (jnp.zeros_like(z),))
    out, (seen,) = net.gated(x, gates)
    np.testing.assert_allclose(out, net(x), rtol=1e-14)
    np.testing.assert_allclose(seen, z, rtol=1e-14)
    linear = patch_convolution(KEY, m=3, q=2, p=4, activation="identity")
    assert hook(linear, "gated") is None
    assert linear.kink_slopes == ()
    assert not linear.has_kinks


def test_linear_attention_is_the_product_of_its_matrices():
    """Tokens Z = (xᵢ, yᵢ), (x, 0): last entry of Σ_h V_h Z Zᵀ K_hᵀ Q_h z / N."""
    net = linear_attention(KEY, m=3, p=2)
    rng = np.random.default_rng(0)
    examples, query = rng.normal(size=(5, 3)), rng.normal(size=2)
    tokens, last = np.vstack([examples, [*query, 0]]), np.array([*query, 0])
    expected = 0.0
    for k, q, v in zip(*map(np.asarray, (net.key, net.query, net.value)), strict=True):
        scores = tokens @ np.array([*k, 0]) * (np.array([*q, 0]) @ last)
        expected += v * (scores @ tokens[:, 2]) / 5
    x = jnp.asarray(np.concatenate([examples.ravel(), query]))
    np.testing.assert_allclose(net(x), [expected], rtol=1e-13)


def test_rows_of_unlike_number_and_wrong_sizes_are_refused():
    one, two = jnp.ones((1, 2)), jnp.ones((2, 2))
    with pytest.raises((BadInput, TypeError)):
        PatchConvolution(one, two)
    with pytest.raises((BadInput, TypeError)):
        LinearAttention(one, two, jnp.ones(1))
    with pytest.raises(BadInput, match="`m` must be"):
        linear_attention(KEY, m=0, p=2)
    with pytest.raises(BadInput, match="`q` must be"):
        patch_convolution(KEY, m=1, q=0, p=2)
