"""A `make`, a loss and a measure are functions of what they are given."""

import random
import time
import warnings

import jax
import jax.numpy as jnp
import numpy as np
import pytest
from small import make, small

from simbias.ensemble.plan import make_plan
from simbias.losses import half_mse
from simbias.numerics.exact_numerics import exact_numerics

COUNT = [0]
RNG = np.random.default_rng(0)


def plan(**changes):
    with exact_numerics():
        return make_plan(small(**changes))


def shifted(by):
    def shifting(key, *, n: int = 10):
        data, network = make(key, n=n)
        return jax.tree.map(lambda v: v + by(v), data), network

    return shifting


def counted(v):
    COUNT[0] += 1
    return float(COUNT[0])


@jax.jit
def inside(v):
    return v + jnp.asarray(RNG.normal(size=v.shape))


@pytest.mark.parametrize(
    "by",
    [
        lambda v: RNG.normal(size=v.shape),
        lambda v: random.random(),
        lambda v: time.perf_counter(),
        counted,
        inside,
    ],
    ids=["numpy", "random", "time", "counter", "inside jit"],
)
def test_a_make_that_is_no_function_of_its_key_is_refused(by):
    with pytest.raises(ValueError, match="`make` must be a function of its key"):
        plan(make=shifted(by), cell={"n": 6})


def test_a_measure_and_a_loss_that_draw_from_numpy_are_refused_by_name():
    noisy = lambda network, data: network.w[0, 0] + RNG.normal()
    with pytest.raises(ValueError, match="measure `noisy` must be a function of its"):
        plan(measures={"noisy": noisy})
    loss = lambda *arguments: half_mse(*arguments) * (1 + RNG.random())
    with pytest.raises(ValueError, match="`loss` must be a function of its arguments"):
        plan(loss=loss)


def test_constants_a_fixed_generator_and_a_cache_are_functions_of_the_key():
    cache = {}

    def cached(v):
        cache.setdefault(v.shape, np.random.default_rng(3).normal(size=v.shape))
        return jnp.asarray(cache[v.shape]) + jax.nn.relu(inside_of_key(v))

    with warnings.catch_warnings():
        warnings.simplefilter("error")
        plan(make=shifted(cached), cell={"n": 6})


@jax.jit
def inside_of_key(v):
    return jax.random.normal(jax.random.key(7), v.shape)
