"""Labels of both blocks, planes of gratings, whose scores are seen, names."""

import inspect

import jax
import jax.numpy as jnp
import numpy as np
import pytest

from simbias.datasets.vision._textures import textures
from simbias.errors import BadInput
from simbias.experiments.shortcuts.low_dim_dominoes import GRATINGS, make
from simbias.measures.randomised.projected_scores import ProjectedScores

KEY = jax.random.key(0)


@pytest.fixture(scope="module")
def drawn():
    return make(KEY, n=40, m=4, n_test=30)


def test_both_second_networks_have_the_label_of_the_class_as_a_sign(drawn):
    data, _ = drawn
    for part in (data, data.test):
        np.testing.assert_array_equal(part.y[:, 0], part.y[:, 1])
        assert {*np.unique(part.y)} == {-1.0, 1.0}
    # The digit 0 has a hole where the digit 1 has ink.
    centre = np.asarray(data.x).reshape(-1, 16, 8)[:, 3:5, 3:5].mean(axis=(1, 2))
    right = np.asarray(data.y[:, 0])
    assert centre[right > 0].mean() > centre[right < 0].mean() + 1


def test_two_gratings_lie_in_as_many_directions_as_are_claimed():
    label = jnp.tile(jnp.arange(2, dtype=jnp.int32), 50)
    rows = textures(KEY, label, 0.0).reshape(100, -1)
    assert np.linalg.matrix_rank(np.asarray(rows), tol=1e-9) == GRATINGS


def test_scores_are_those_of_the_network_that_is_given_x(drawn):
    data, pairs = drawn
    for rank in (2, GRATINGS):
        np.testing.assert_array_equal(
            ProjectedScores(rank=rank, part="same")(pairs, data),
            ProjectedScores(rank=rank)(pairs.same, data),
        )


@pytest.mark.parametrize(
    ("wrong", "named"),
    [
        ({"m": 5}, "`m`"),
        ({"scale": 0.0}, "`scale`"),
        ({"correlation": 1.5}, "`correlation`"),
        ({"noise": -1.0}, "`noise`"),
        ({"n": 0}, "`n`"),
        ({"data_dir": "/data"}, "`data_dir`"),
        ({"source": "mnist_cifar10", "data_dir": "/nowhere"}, "/nowhere"),
    ],
)
def test_what_makes_no_sense_is_named(wrong, named):
    with pytest.raises(BadInput, match=named):
        inspect.unwrap(make)(KEY, **{"n": 40, "m": 4, "n_test": 30, **wrong})
