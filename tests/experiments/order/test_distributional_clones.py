"""The law of blocks, banks of networks, edited rows and their targets."""

import functools
import inspect

import equinox as eqx
import jax
import numpy as np
import pytest
import xarray as xr

import simbias
from simbias.datasets.moments.moment_classes import moment_classes
from simbias.errors import BadInput
from simbias.experiments.order import distributional_linear
from simbias.experiments.order._clones import EDITS, TRAINED_ON, make
from simbias.experiments.order._departure import departure_time
from simbias.losses import half_mse
from simbias.measures.clones.target_accuracy import TargetAccuracy

KEY = jax.random.key(0)
SMALL = {"rows": 40, "rows_test": 30, "m": 5}


@pytest.fixture(scope="module")
def drawn():
    return jax.jit(functools.partial(make, **SMALL))(KEY)


def test_a_class_has_the_moments_that_the_law_says():
    n = 80_000
    x = np.asarray(moment_classes(KEY, n=n).x).reshape(n // 4, 4, 20)
    for c in range(4):
        rows = x[:, c]
        mean = np.zeros(20)
        mean[c] = 1.0
        # Five standard errors of the widest input.
        np.testing.assert_allclose(rows.mean(axis=0), mean, atol=5 * 3 / 141)
        expected = np.diag([1.0] * 8 + [9.0] * 4 + [1.0] * 8)
        expected[4 + c, 4 + (c + 1) % 4] = expected[4 + (c + 1) % 4, 4 + c] = 0.8
        np.testing.assert_allclose(np.cov(rows.T), expected, atol=5 * 13 / 141)
        fourth = np.mean((rows - mean) ** 4, axis=0) / np.diag(expected) ** 2
        assert fourth[8 + c] == pytest.approx(3 - 2 * 0.99**2, abs=0.02)
        np.testing.assert_allclose(np.delete(fourth, 8 + c), 3, atol=5 * 10 / 141)


@pytest.mark.parametrize(
    ("options", "name"),
    [
        ({"classes": 2}, "`classes`"),
        ({"d": 11}, "`d` must be 3·classes = 12"),
        ({"correlation": 1.0}, "`correlation`"),
        ({"correlation": -0.5}, "`correlation`"),
        ({"peak": 1.5}, "`peak`"),
        ({"shift": -1.0}, "`shift`"),
        ({"size": np.inf}, "`size`"),
    ],
)
def test_a_law_that_is_none_is_refused_by_name(options, name):
    with pytest.raises(BadInput, match=name):
        inspect.unwrap(moment_classes)(KEY, **options)


def test_all_networks_of_a_bank_start_the_same_and_see_rows_of_one_class(drawn):
    data, network = drawn
    for leaf in jax.tree.leaves(network.stack):
        assert np.all(np.asarray(leaf) == np.asarray(leaf[:1]))
    labels = np.argmax(np.asarray(data.y).reshape(160, 4, 4), axis=2)
    assert np.all(labels == np.repeat(np.arange(4), 40)[:, None])


def test_a_network_of_a_bank_moves_as_it_would_alone(drawn):
    data, network = drawn
    one = jax.tree.map(lambda v: v[2], network.stack)
    x, y = data.x[:, 40:60], data.y[:, 8:12]
    slope = lambda f, x, y: half_mse(jax.vmap(f)(x), y, data.weight)
    together = eqx.filter_grad(slope)(network, data.x, data.y)
    alone = eqx.filter_grad(slope)(one, x, y)
    for a, b in zip(
        jax.tree.leaves(together.stack), jax.tree.leaves(alone), strict=True
    ):
        np.testing.assert_allclose(a[2], b, atol=1e-14)


def test_the_covariance_clone_shares_all_that_a_linear_network_sees(drawn):
    data, _ = drawn
    real, clone = (np.asarray(data.x[:, 20 * i : 20 * i + 20]) for i in (0, 2))
    y = np.asarray(data.y[:, :4])
    np.testing.assert_allclose(clone.T @ clone, real.T @ real, atol=1e-10)
    np.testing.assert_allclose(clone.T @ y, real.T @ y, atol=1e-11)


def test_the_target_of_an_edited_row_is_the_next_class(drawn):
    data, _ = drawn
    real, edited = data.others["real"], data.others["shift"]
    label = lambda part: np.argmax(np.asarray(part.y[:, :4]), axis=1)
    np.testing.assert_array_equal(label(edited), (label(real) + 1) % 4)
    # The mean of class 0 was moved to that of class 1.
    moved = np.asarray(edited.x - real.x)[:30, :20]
    means = [np.asarray(data.x[40 * c : 40 * c + 40, :20]).mean(axis=0) for c in (0, 1)]
    np.testing.assert_allclose(moved, np.tile(means[1] - means[0], (30, 1)), atol=1e-12)


def test_the_accuracy_for_the_target_is_that_of_the_network_of_the_sample(drawn):
    data, network = drawn
    first = jax.tree.map(lambda v: v[0], network.stack)
    found = dict(zip(EDITS, TargetAccuracy((*EDITS,))(network, data), strict=True))
    for name in EDITS:
        part = data.others[name]
        said = np.argmax(jax.vmap(first)(part.x[:, :20]), axis=1)
        right = np.mean(said == np.argmax(np.asarray(part.y[:, :4]), axis=1))
        assert float(found[name]) == pytest.approx(right)


@pytest.mark.parametrize(
    ("options", "name"),
    [
        ({"network": "cnn"}, "`network`"),
        ({"source": "cats"}, "`source`"),
        ({"source": "digits", "rows": 118}, "`rows` must be at most 117"),
        ({"source": "digits", "rows": 100, "rows_test": 56}, "`rows_test`"),
        ({"rows": 20}, "too few samples"),
        ({"m": 0}, "`m`"),
    ],
)
def test_what_cannot_be_cloned_is_refused_by_name(options, name):
    with pytest.raises(BadInput, match=name):
        inspect.unwrap(make)(KEY, **{**SMALL, **options})


def test_a_clone_is_left_when_it_is_less_right_by_the_level():
    real, clone = [0.3, 0.5, 0.6], [0.3, 0.48, 0.52]
    ds = xr.Dataset(
        {"accuracy": (("trained_on", "time"), [real, clone])},
        {"trained_on": ["real", "mean"], "time": [0.05, 0.1, 0.2]},
    )
    found = departure_time(ds).sel(trained_on="mean")
    # The gap grows from 0.02 to 0.08 in between.
    assert float(found) == pytest.approx(0.1 + 0.1 * 0.5)
    assert np.isnan(departure_time(ds).sel(trained_on="real"))


def test_linear_networks_on_the_covariance_clone_move_as_on_the_sample():
    small = distributional_linear.experiment("smoke", seeds=2)
    gap = distributional_linear.differences(simbias.simulate(small))
    assert float(gap.sel(trained_on="covariance").max()) < 1e-10
    assert float(gap.sel(trained_on="mean").isel(time=-1).min()) > 1e-3
    assert [*gap["trained_on"].values] == [*TRAINED_ON[1:]]
