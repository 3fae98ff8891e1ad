"""Components of images, white and amplified, and what is seen through the first."""

import functools
import inspect

import jax
import jax.numpy as jnp
import numpy as np
import pytest
import xarray as xr

from simbias.core import Dataset
from simbias.experiments.linear._principal_images import (
    LIKE,
    accessibility,
    gain,
    needed,
    through_all,
)
from simbias.experiments.linear.principal_components import make as make_any
from simbias.measures.components.correct_rows import CorrectRows
from simbias.measures.components.critical_component import CriticalComponent
from simbias.measures.components.projected_accuracy import ProjectedAccuracy
from simbias.networks.dense.deep_linear import DeepLinear

KEY = jax.random.key(0)
SMALL = {"n": 200, "n_test": 40, "m": 8}
make = functools.partial(make_any, source="digits")


def moments(data):
    along = np.asarray(data.x @ data.features.T)
    return along.T @ along / len(along)


def test_components_are_those_of_the_sample_and_in_order():
    data, _ = make(KEY, **SMALL)
    found = moments(data)
    np.testing.assert_allclose(found, np.diag(np.diag(found)), atol=1e-10)
    assert found[0, 0] == pytest.approx(1)
    assert (np.diff(np.diag(found)) < 1e-12).all()
    np.testing.assert_allclose(data.features @ data.features.T, np.eye(64), atol=1e-12)


def test_white_inputs_have_one_variance_and_amplified_ones_that_of_the_tenth():
    raw, _ = make(KEY, **SMALL)
    old = np.diag(moments(raw))
    seen = old > 1e-3
    new = np.diag(moments(make(KEY, inputs="white", **SMALL)[0]))
    np.testing.assert_allclose(new[seen], 1)
    new = np.diag(moments(make(KEY, inputs="amplified", **SMALL)[0]))
    last = seen.sum() // 5
    first = seen.sum() - last
    np.testing.assert_allclose(new[:first], old[:first])
    np.testing.assert_allclose(new[first : first + last], old[LIKE - 1])


def test_amplified_components_are_never_smaller_where_there_are_fewer_than_ten():
    few = {**SMALL, "n": 6}
    old = np.diag(moments(make(KEY, **few)[0]))
    new = np.diag(moments(make(KEY, inputs="amplified", **few)[0]))
    np.testing.assert_allclose(new, old, atol=1e-10)


def test_the_test_sample_is_changed_by_the_same_map():
    raw, one = make(KEY, **SMALL)
    white, two = make(KEY, inputs="white", **SMALL)
    change = jnp.linalg.lstsq(raw.x, white.x)[0]
    assert raw.test is not None
    assert white.test is not None
    seen = raw.features[:20]
    np.testing.assert_allclose(
        raw.test.x @ change @ seen.T, white.test.x @ seen.T, atol=1e-6
    )
    for v, w in zip(one.weights, two.weights, strict=True):
        np.testing.assert_array_equal(v, w)


def test_rows_are_seen_through_their_first_components():
    """The identity: three classes, of which a row is that of its largest entry."""
    x = jnp.asarray([[3.0, 0, 0], [1, 2, 0], [1, 2, 4], [5, 1, 2]])
    y = jnp.asarray([[1.0, 0, 0], [0, 1, 0], [0, 0, 1], [0, 1, 0]])
    test = Dataset(x, y, jnp.ones(4), y, jnp.eye(3))
    data = Dataset(x, y, jnp.ones(4), y, jnp.eye(3), test)
    network = DeepLinear((jnp.eye(3),))
    np.testing.assert_array_equal(CorrectRows()(network, data), [1, 1, 1, 0])
    np.testing.assert_array_equal(CriticalComponent()(network, data), [1, 2, 3, np.nan])
    shares = ProjectedAccuracy(first=(1, 2, 3))(network, data)
    np.testing.assert_allclose(shares, [0.25, 0.5, 0.75])


def test_accessibility_is_even_in_time_and_need_is_of_those_that_tell():
    # Told from the record at 1 on; by the second start never.
    right = [[0.0, 1.0, 1.0], [0.0, 0.0, 0.0]]
    ds = xr.Dataset(
        {
            "right": (("row", "start", "time"), [right]),
            "critical": (("row", "start"), [[7.0, np.nan]]),
        },
        {"time": [0.0, 1.0, 10.0]},
    )
    # Half of the first unit of time, and the nine that follow, by one start of two.
    np.testing.assert_allclose(accessibility(ds), [(0.5 + 9) / 10 / 2])
    np.testing.assert_array_equal(needed(ds), [7])


def test_accuracy_through_all_components_is_that_of_the_rows_for_any_number_of_pixels():
    right = [[[1.0], [1.0], [0.0]], [[0.0], [1.0], [0.0]]]
    ds = xr.Dataset({"right": (("row", "time", "start"), right)})
    np.testing.assert_allclose(through_all(ds)[:, 0], [0.5, 1, 0])
    np.testing.assert_allclose(gain(through_all(ds)), 1)


@pytest.mark.parametrize(
    "wrong", [{"inputs": "rotated"}, {"network": "tanh"}, {"m": 0}, {"n": 5000}]
)
def test_what_makes_no_sense_is_named(wrong):
    with pytest.raises(ValueError, match=f"`{next(iter(wrong))}`"):
        inspect.unwrap(make_any)(KEY, **{"source": "digits", **SMALL, **wrong})
