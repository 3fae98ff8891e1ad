"""What the second network is given, who is trained, and whose errors are shared."""

import dataclasses

import jax
import jax.numpy as jnp
import numpy as np
import pytest

from simbias.core import Buffer
from simbias.experiments.shortcuts._low_dim import RANK
from simbias.experiments.shortcuts.low_dim_pair import GIVEN, make
from simbias.losses import logistic
from simbias.measures.pairs.pair_scores import PairScores

KEY = jax.random.key(0)
SMALL = {"n": 60, "d": 4, "m": 8, "n_test": 50}


def test_one_of_both_is_given_nothing_of_the_main_directions_of_the_first():
    data, pair = make(KEY, **SMALL)
    main = jnp.linalg.svd(pair.first.w)[2][:RANK]
    rest = dataclasses.replace(pair.rest, w=pair.rest.w + 1.0)
    pair = dataclasses.replace(pair, rest=rest)
    seen, moved = jax.vmap(pair)(data.x), jax.vmap(pair)(data.x + main[:1])
    np.testing.assert_allclose(moved[:, 0], seen[:, 0], atol=1e-10)
    np.testing.assert_allclose(seen[:, 1], jax.vmap(pair.same)(data.x)[:, 0])
    along = jax.vmap(rest)(data.x - data.x @ main.T @ main)
    np.testing.assert_allclose(seen[:, :1], along, atol=1e-12)


def test_both_begin_alike_and_the_first_was_trained_and_is_no_more():
    data, pair = make(KEY, **SMALL)
    for v, w in zip(*map(jax.tree.leaves, (pair.rest, pair.same)), strict=True):
        np.testing.assert_array_equal(v, w)
    np.testing.assert_array_equal(data.y[:, 0], data.y[:, 1])

    def loss(pair):
        return logistic(jax.vmap(pair)(data.x), data.y, data.weight)

    slope = jax.grad(loss)(pair)
    assert not any(jnp.any(v) for v in jax.tree.leaves(slope.first))
    assert jnp.any(slope.rest.w)
    # Each as if it were trained alone.
    alone = lambda f: logistic(jax.vmap(f)(data.x), data.y[:, :1], data.weight)
    np.testing.assert_allclose(slope.same.w, jax.grad(alone)(pair.same).w, rtol=1e-12)
    right = jax.vmap(pair.first)(data.x) * data.y[:, :1] > 0
    assert right.mean() > 0.9


def test_scores_are_those_of_the_rows():
    data, pair = make(KEY, **SMALL)
    opposite = dataclasses.replace(pair.first, a=-pair.first.a)
    nothing = Buffer(jnp.zeros((1, 4), jnp.float64))
    pair = dataclasses.replace(pair, rest=opposite, same=pair.first, main=nothing)
    turned, same = np.moveaxis(
        np.asarray(PairScores(GIVEN, (0.0, 0.3))(pair, data)), 1, 0
    )
    assert data.test is not None
    right = jax.vmap(pair.first)(data.test.x) * data.test.y[:, :1] > 0
    assert same[0, 0] == pytest.approx(float(right.mean()))
    np.testing.assert_array_equal(same[:, 0], same[:, 1])
    np.testing.assert_array_equal(same[:, 0], same[:, 2])
    assert same[1, 3] == 1
    # Who is right where the other errs shares no error.
    assert turned[1, 0] + turned[1, 1] == pytest.approx(1)
    assert turned[1, 3] == 0


@pytest.mark.parametrize("wrong", [{"m": 3}, {"noise": 2.0}, {"n": 0}, {"scale": 0.0}])
def test_what_makes_no_sense_is_named(wrong):
    with pytest.raises(ValueError, match=f"`{next(iter(wrong))}`"):
        make(KEY, **{**SMALL, **wrong})
