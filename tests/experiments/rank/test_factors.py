"""Layers that are products: one function, whichever way it is multiplied out."""

import dataclasses

import jax
import jax.numpy as jnp
import numpy as np
import pytest
import xarray as xr

from simbias.experiments.rank import low_rank_factors as products
from simbias.introspection.trained_arrays import split_trained
from simbias.measures.rank.folded_ranks import FoldedRanks
from simbias.networks.convolution._layers import average_pool, convolution
from simbias.numerics.matrix_rank import singular_values

KEY = jax.random.key(0)


def made(**changes):
    sizes = {"n": 5, "n_test": 4, "width": 3, "factors": 3}
    return products.make(KEY, **sizes | changes)


def after_each_other(net, x):
    """Every factor a layer of its own: convolutions of one pixel, and matrices."""
    used = int(net.used.value) - 1
    *convolutions, dense, last = net.factors
    h = x.reshape(1, *net.core.image)
    layers = zip(net.core.kernels, net.core.shifts, convolutions, strict=True)
    for kernel, shift, factors in layers:
        h = convolution(h, kernel)
        for factor in factors[:used]:
            h = convolution(h, factor[:, :, None, None])
        h = average_pool(jax.nn.relu(h + shift[None, :, None, None]))
    h = net.core.w @ h.reshape(-1)
    for factor in dense[:used]:
        h = factor @ h
    h = net.core.a @ jax.nn.relu(h + net.core.b)
    for factor in last[:used]:
        h = factor @ h
    return h + net.core.c


@pytest.mark.parametrize("factors", [1, 2, 4])
@pytest.mark.parametrize("source", ["digits", "dead_leaves"])
def test_multiplying_out_gives_the_same_function(source, factors):
    data, net = made(source=source, factors=factors)
    expected = jnp.stack([after_each_other(net, x) for x in data.x])
    np.testing.assert_allclose(jax.vmap(net)(data.x), expected, atol=1e-10)
    folded = net.folded()
    np.testing.assert_allclose(jax.vmap(folded)(data.x), expected, atol=1e-10)
    features = jax.vmap(net.features)(data.x) @ folded.a.T + folded.c[None, :]
    np.testing.assert_allclose(features, expected, atol=1e-10)


def test_one_factor_is_the_network_itself_and_the_others_are_not_trained():
    data, net = made(factors=1)
    np.testing.assert_array_equal(net.folded().w, net.core.w)
    params, rest = split_trained(net)
    value = lambda params: jnp.sum(
        jax.vmap(dataclasses.replace(net, core=params.core, factors=params.factors))(
            data.x
        )
    )
    slope = jax.grad(value)(params)
    assert rest.used.value == 1
    assert all(float(jnp.max(abs(v))) == 0 for v in jax.tree.leaves(slope.factors))
    assert float(jnp.max(abs(slope.core.w))) > 0


def test_what_is_compared_has_the_same_images_and_first_factors():
    pairs = [made(factors=f, start=s) for f, s in ((1, "gaussian"), (4, "orthogonal"))]
    (first, one), (second, other) = pairs
    np.testing.assert_array_equal(first.x, second.x)
    np.testing.assert_array_equal(one.core.w, other.core.w)


def test_orthogonal_factors_keep_singular_values_and_gaussian_ones_do_not():
    _, alone = made(factors=1)
    for start, is_kept in (("orthogonal", True), ("gaussian", False)):
        data, net = made(factors=4, start=start)
        gap = abs(FoldedRanks()(net, data) - FoldedRanks()(alone, data))
        assert bool(jnp.all(gap < 1e-12)) == is_kept
        values = singular_values(net.folded().w) - singular_values(alone.core.w)
        assert bool(jnp.all(abs(values) < 1e-12)) == is_kept


def test_claims_are_on_slopes_fits_and_tests():
    shape = ("source", "start", "factors", "seed", "time", "layer")
    factors, time = [1, 2, 4], [0.0, products.RATE * products.STEPS]
    rng = np.random.default_rng(0)
    fall = -np.log(factors)[None, None, :, None, None]
    noise = 0.01 * rng.normal(size=(1, 2, 3, 6, 2))
    rank = 5 + np.broadcast_to(fall, noise.shape) + noise
    rank[:, 1, :, :, 0] = 5.0
    accuracy = np.stack([np.ones_like(rank), rank], axis=-1)
    ds = xr.Dataset(
        {
            "ranks": (shape, np.stack([rank] * 4, axis=-1)),
            "feature_rank": (shape[:-1], rank),
            "accuracy": ((*shape[:-1], "sample"), accuracy),
        },
        {
            "source": ["digits"],
            "start": ["gaussian", "orthogonal"],
            "factors": factors,
            "seed": range(6),
            "time": time,
            "sample": ["train", "test"],
        },
    )
    verdicts = [c.verdict for c in products.claims(ds)]
    # Four slopes, the fit and the test; then two slopes, fit and test.
    assert verdicts == [
        *["supported"] * 5,
        "contradicted",
        *["supported"] * 3,
        "contradicted",
    ]
    short = ds.assign_coords(time=[0.0, 0.1])
    assert {c.verdict for c in products.claims(short)} == {
        "supported",
        "not applicable",
    }


@pytest.mark.parametrize(
    ("wrong", "named"),
    [
        ({"factors": 0}, "`factors`"),
        ({"factors": 5}, "`factors`"),
        ({"most": 1}, "`most`"),
        ({"start": "sparse"}, "start"),
        ({"source": "faces"}, "source"),
        ({"width": 0}, "`width`"),
    ],
)
def test_what_makes_no_sense_is_named(wrong, named):
    with pytest.raises(Exception, match=named):
        made(**wrong)
