"""Sizes that no array can have are refused by name."""

import jax
import jax.numpy as jnp
import pytest

import simbias
from simbias.core import Dataset
from simbias.errors import BadInput
from simbias.flows.relu_flow import ReluFlow
from simbias.losses import half_mse
from simbias.networks import balanced


def make(key, *, n):
    x = jax.random.normal(key, (n, 2))
    data = Dataset(x, x[:, :1], jnp.ones(n), x[:, :1], jnp.zeros((0, 2)))
    return data, balanced(key, m=4, d=2, scale=1e-2)


@pytest.mark.parametrize("n", [2**31, 2**70])
def test_an_array_that_nothing_can_index_is_refused_before_anything_is_drawn(n):
    experiment = simbias.Experiment(
        "large", make, {"n": n}, 1, ReluFlow(), half_mse, (0.0, 1.0), {}
    )
    with pytest.raises(BadInput, match=r"`make` returned an array of shape .*2³¹"):
        simbias.simulate(experiment)
