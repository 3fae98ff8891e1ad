"""Pairs that cancel, one tangent kernel for all scales, names."""

import jax
import jax.numpy as jnp
import numpy as np
import pytest

from simbias.experiments.shortcuts.low_dim_inputs import make
from simbias.introspection.tangents import tangent_kernel


@pytest.mark.parametrize("scale", [0.01, 10.0])
def test_the_start_is_zero_and_its_kernel_that_of_all_scales(scale):
    key = jax.random.key(0)
    data, network = make(key, scale=scale, n=5, d=4, m=6, n_test=3)
    _, one = make(key, scale=1.0, n=5, d=4, m=6, n_test=3)
    np.testing.assert_allclose(jax.vmap(network)(data.x), 0, atol=1e-12)
    np.testing.assert_allclose(
        tangent_kernel(network, data.x), tangent_kernel(one, data.x), rtol=1e-9
    )
    assert jnp.std(network.w) == pytest.approx(scale * float(jnp.std(one.w)))


@pytest.mark.parametrize(
    "wrong", [{"m": 5}, {"m": 0}, {"scale": 0.0}, {"n": 0}, {"d": 0}, {"d": 2}]
)
def test_what_makes_no_sense_is_named(wrong):
    with pytest.raises(ValueError, match=f"`{next(iter(wrong))}`"):
        make(jax.random.key(0), **wrong)


def test_without_a_linear_coordinate_no_side_of_one_tells_the_label():
    sample = {"n": 4000, "d": 3, "m": 2, "n_test": 1}
    line, _ = make(jax.random.key(0), simple=2, **sample)
    none, _ = make(jax.random.key(0), simple=5, **sample)
    z = lambda data: np.asarray(data.x @ data.features.T)
    sides = lambda data: np.mean(np.sign(z(data)) * np.asarray(data.y), axis=0)
    assert abs(sides(line)[0]) == 1
    assert np.abs(sides(none)).max() < 0.1
