"""Some strings, all others, and the labels of both."""

import jax
import numpy as np
import pytest

from simbias.datasets.boolean.strings import strings
from simbias.numerics.walsh_hadamard import cube

KEY = jax.random.key(3)


def test_sample_and_test_are_all_strings_once():
    data = strings(KEY, rows=10, n=4)
    both = np.concatenate([data.x, data.test.x])
    assert data.x.shape == (10, 4)
    assert {*map(tuple, both.tolist())} == {*map(tuple, cube(4).tolist())}
    assert len(both) == 16


def test_labels_are_the_parity_and_some_of_the_sample_are_wrong():
    data = strings(KEY, rows=1500, n=11, k=3, flips=0.1)
    is_relevant = np.asarray(data.features[0]) == 1
    assert is_relevant.sum() == 3
    parity = np.prod(np.asarray(data.x)[:, is_relevant], axis=1)
    assert np.mean(data.y[:, 0] != parity) == pytest.approx(0.1, abs=0.025)
    np.testing.assert_allclose(data.mean[:, 0], 0.8 * parity)
    rest = np.prod(np.asarray(data.test.x)[:, is_relevant], axis=1)
    np.testing.assert_array_equal(data.test.y[:, 0], rest)


def test_another_target_leaves_the_strings():
    one, other = (strings(KEY, rows=20, n=6, target=t) for t in ("parity", "random"))
    np.testing.assert_array_equal(one.x, other.x)
    assert not np.array_equal(one.y, other.y)
    assert not other.features.any()


def test_of_many_bits_both_samples_are_drawn():
    data = strings(KEY, rows=30, n=40, k=4, n_test=500)
    assert (data.x.shape, data.test.x.shape) == ((30, 40), (500, 40))
    is_relevant = np.asarray(data.features[0]) == 1
    assert is_relevant.sum() == 4
    for part in (data, data.test):
        assert {*np.unique(part.x)} == {-1.0, 1.0}
        parity = np.prod(np.asarray(part.x)[:, is_relevant], axis=1)
        np.testing.assert_array_equal(part.y[:, 0], parity)
    # 20,000 fair signs: five standard deviations.
    assert abs(float(data.test.x.mean())) < 5 / 20_000**0.5


def test_tossed_labels_are_fair():
    y = strings(KEY, rows=2000, n=12, target="random").y
    assert abs(float(y.mean())) < 0.07


@pytest.mark.parametrize(
    ("wrong", "named"),
    [
        ({"target": "majority"}, "target"),
        ({"n": 15}, "`d`|`n`"),
        ({"n": 4, "rows": 16}, "`rows`"),
        ({"rows": 0}, "`rows`"),
        ({"n": 4, "rows": 4, "k": 5}, "`k`"),
        ({"flips": -0.1}, "`flips`"),
        ({"flips": 1.5}, "`flips`"),
        ({"n_test": 0}, "`n_test`"),
    ],
)
def test_what_makes_no_sense_is_named(wrong, named):
    with pytest.raises(Exception, match=named):
        strings(KEY, **wrong)
