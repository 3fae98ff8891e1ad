"""What the second network is given, who is trained, and whose errors are shared."""

import dataclasses
import inspect

import jax
import jax.numpy as jnp
import numpy as np
import pytest

from simbias.core import Buffer
from simbias.experiments.shortcuts.low_dim_inputs import RANK
from simbias.experiments.shortcuts.low_dim_pair import PairScores, make
from simbias.losses import logistic

KEY = jax.random.key(0)
SMALL = {"n": 60, "d": 4, "m": 8, "n_test": 50}


def test_the_second_is_given_nothing_of_the_main_directions_of_the_first():
    data, pair = make(KEY, given="P⊥x", **SMALL)
    main = jnp.linalg.svd(pair.first.w)[2][:RANK]
    x = data.x
    np.testing.assert_allclose(
        jax.vmap(pair)(data.x), jax.vmap(pair)(x - x @ main.T @ main), atol=1e-12
    )
    grown = dataclasses.replace(pair.second, w=pair.second.w + 1.0)
    pair = dataclasses.replace(pair, second=grown)
    np.testing.assert_allclose(
        jax.vmap(pair)(data.x + main[:1]), jax.vmap(pair)(data.x), atol=1e-10
    )


def test_pairs_differ_in_what_is_given_alone_and_only_the_second_is_trained():
    data, one = make(KEY, given="P⊥x", **SMALL)
    _, two = make(KEY, given="x", **SMALL)
    for a, b in ((one.first, two.first), (one.second, two.second)):
        for v, w in zip(jax.tree.leaves(a), jax.tree.leaves(b), strict=True):
            np.testing.assert_array_equal(v, w)
    np.testing.assert_array_equal(two.keeps.value, np.eye(4))

    def loss(pair):
        return logistic(jax.vmap(pair)(data.x), data.y, data.weight)

    slope = jax.grad(loss)(one)
    assert not any(jnp.any(v) for v in jax.tree.leaves(slope.first))
    assert jnp.any(slope.second.w)
    # The first was trained on x.
    right = jax.vmap(one.first)(data.x) * data.y > 0
    assert right.mean() > 0.9


def test_scores_are_those_of_the_rows():
    data, pair = make(KEY, given="x", **SMALL)
    same = dataclasses.replace(pair, second=pair.first, keeps=Buffer(jnp.eye(4)))
    first, second, both, shared = PairScores(blurs=(0.0, 0.3))(same, data).T
    assert data.test is not None
    right = jax.vmap(pair.first)(data.test.x) * data.test.y > 0
    assert first[0] == pytest.approx(float(right.mean()))
    np.testing.assert_array_equal(first, second)
    np.testing.assert_array_equal(first, both)
    assert shared[1] == 1
    # A second one that is always right shares no error and outvotes a few.
    opposite = dataclasses.replace(pair.first, a=-pair.first.a)
    turned = PairScores(blurs=(0.3,))(dataclasses.replace(same, second=opposite), data)
    assert turned[0, 0] + turned[0, 1] == pytest.approx(1)
    assert turned[0, 3] == 0


@pytest.mark.parametrize("wrong", [{"given": "y"}, {"m": 3}, {"noise": 2.0}, {"n": 0}])
def test_what_makes_no_sense_is_named(wrong):
    with pytest.raises(ValueError, match=f"`{next(iter(wrong))}`"):
        inspect.unwrap(make)(KEY, **{**SMALL, **wrong})
