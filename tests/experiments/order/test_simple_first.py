"""Informations from counts, the disc cut by a sine, and what a line explains."""

import dataclasses
import functools

import equinox as eqx
import jax
import jax.numpy as jnp
import numpy as np
import pytest
import xarray as xr
from sklearn.linear_model import LogisticRegression
from sklearn.metrics import mutual_info_score

from simbias.core import AbstractNetwork, Dataset
from simbias.datasets.teachers.sine_on_disc import sine_on_disc
from simbias.errors import BadInput
from simbias.experiments.order import simple_first
from simbias.experiments.order._explainers import with_explainers
from simbias.experiments.order._phases import departure_time, phases
from simbias.flows import Descent
from simbias.measures.information._counts import counts, unexplained_information
from simbias.measures.information.explained_information import ExplainedInformation

SGD = Descent(rate=0.02, batch=32)
jit = functools.partial(jax.jit, compiler_options={"xla_backend_optimization_level": 0})


compiled = eqx.filter_jit(lambda measure, network, data: measure(network, data))


class First(AbstractNetwork):
    """The first coordinate."""

    def __call__(self, x):
        """As it is."""
        return x[:1]


def dataset(y, x=None):
    x = y if x is None else x
    one = lambda v: jnp.asarray(v, jnp.float64).reshape(-1, 1)
    return Dataset(one(x), one(y), jnp.ones(len(y)), one(y), jnp.zeros((0, 1)))


def explained(f, l, y, **options):
    """The four informations of answers ±1."""
    test = dataset(y, f)
    data = dataclasses.replace(test, test=test, others={"l": dataset(l, f)})
    measure = ExplainedInformation(("l",), **options)
    return dict(
        zip(measure.coords()["quantity"], measure(First(), data)[0], strict=True)
    )


def signs(seed, n, k):
    return np.random.default_rng(seed).choice([-1, 1], (k, n))


def test_the_network_and_the_line_of_an_xor_have_minus_one_bit_in_common():
    f, l = np.tile([-1, -1, 1, 1], 100), np.tile([-1, 1, -1, 1], 100)
    found = explained(f, l, f * l)
    assert found["network"] == found["explainer"] == 0
    assert found["unexplained"] == 1
    assert found["network"] - found["unexplained"] == -1


def test_informations_are_those_of_scikit_learn():
    f, l, noise = signs(0, 300, 3)
    y = np.where(noise > 0, f, l)
    found = explained(f, l, y)
    bits = lambda a, b: mutual_info_score(a, b) / np.log(2)
    assert found["network"] == pytest.approx(bits(f, y), abs=1e-12)
    assert found["explainer"] == pytest.approx(bits(l, y), abs=1e-12)
    given = sum(np.mean(l == s) * bits(f[l == s], y[l == s]) for s in (-1, 1))
    assert found["unexplained"] == pytest.approx(given, abs=1e-12)


@pytest.mark.parametrize("seed", range(5))
def test_no_more_is_explained_than_either_knows(seed):
    f, l, y = signs(seed, 40, 3)
    y = np.where(signs(seed + 9, 40, 1)[0] > 0, y, f)
    found = explained(f, l, y)
    most = min(found["network"], found["explainer"])
    assert found["network"] - found["unexplained"] <= most + 1e-12


def test_a_network_that_agrees_with_the_line_is_explained_whole():
    (y, noise), rows = signs(1, 1000, 2), np.arange(1000)
    l = np.where(rows < 700, y, noise)
    found = explained(l, l, y)
    assert found["unexplained"] == pytest.approx(0, abs=1e-12)
    # Less what chance explains: 1/(2n ln 2) bits.
    assert found["explained"] == pytest.approx(float(found["network"]), abs=0.005)


def test_answers_that_know_nothing_explain_nothing_on_average():
    found = []
    for seed in range(40):
        f, l, noise, _ = signs(seed, 200, 4)
        found.append(
            float(explained(f, l, np.where(noise > 0, f, -noise))["explained"])
        )
    error = np.std(found) / 40**0.5
    assert abs(np.mean(found)) < 4 * error < 0.005


def test_counts_that_are_zero_add_nothing():
    ones = jnp.ones(4, bool)
    table = counts(ones, ones, jnp.array([True, True, False, False]), jnp.ones(4))
    np.testing.assert_array_equal(table[1, 1], [2, 2])
    assert float(unexplained_information(table)) == 0


def test_a_constant_network_knows_nothing():
    l, y = signs(2, 100, 2)
    found = explained(np.ones(100), l, y)
    assert found["network"] == found["unexplained"] == found["explained"] == 0


def test_the_disc_is_cut_by_the_sine_and_a_tenth_of_the_labels_turned():
    data = jit(functools.partial(sine_on_disc, n=2000, n_test=4000))(jax.random.key(0))
    for part in (data, data.test):
        x, y = np.asarray(part.x), np.asarray(part.y[:, 0])
        radius = np.hypot(*x.T)
        assert radius.max() <= 1
        # Uniform: r² is.
        assert np.mean(radius**2) == pytest.approx(0.5, abs=0.03)
        sign = np.sign(x[:, 1] - 0.5 * np.sin(2 * np.pi * x[:, 0]))
        assert np.mean(sign != y) == pytest.approx(0.1, abs=0.03)
        np.testing.assert_allclose(part.mean[:, 0], 0.8 * sign)


@pytest.mark.parametrize(
    ("options", "name"),
    [
        ({"n": 0}, "`n`"),
        ({"n_test": -1}, "`n_test`"),
        ({"noise": 1.2}, "`noise`"),
        ({"noise": -0.1}, "`noise`"),
        ({"amplitude": np.inf}, "`amplitude`"),
    ],
)
def test_a_disc_of_a_size_or_number_out_of_range_is_refused(options, name):
    with pytest.raises(BadInput, match=name):
        sine_on_disc(jax.random.key(0), **options)


@pytest.fixture(scope="module")
def explainers():
    key = jax.random.key(3)
    data = sine_on_disc(key, n=400, n_test=500)
    return jit(lambda: with_explainers(key, data, SGD, 2000))()


def test_newtons_line_is_the_logistic_regression_fitted_to_the_end(explainers):
    x, y = np.asarray(explainers.x), np.asarray(explainers.y[:, 0])
    peer = LogisticRegression(C=1e6, tol=1e-10).fit(x, y)
    expected = peer.predict(np.asarray(explainers.test.x))
    np.testing.assert_array_equal(explainers.others["newton"].y[:, 0], expected)


def test_the_line_is_one_of_two_inputs_near_the_best(explainers):
    x, said = np.asarray(explainers.test.x), explainers.others["linear"].y[:, 0]
    peer = LogisticRegression(C=1e9, tol=1e-10).fit(x, said)
    np.testing.assert_array_equal(peer.predict(x), said)  # some line says the same
    agrees = jnp.mean(said == explainers.others["newton"].y[:, 0])
    assert float(agrees) > 0.9


def test_the_control_are_the_same_answers_in_another_order(explainers):
    line, permuted = (explainers.others[k].y for k in ("linear", "permuted"))
    assert float(line.sum()) == float(permuted.sum())
    assert float(jnp.mean(line == permuted)) < 0.7


def test_a_deeper_explainer_is_right_more_often_than_the_line(explainers):
    right = lambda k: float(jnp.mean(explainers.others[k].y == explainers.test.y))
    assert right("depth 1") > right("linear") + 0.03


def test_missing_or_unfit_answers_are_refused_by_name():
    f, l, y = signs(0, 20, 3)
    test = dataset(y, f)
    data = dataclasses.replace(test, test=test, others={"short": dataset(l[:9], f[:9])})
    with pytest.raises(BadInput, match="'linear'.*'short'"):
        ExplainedInformation(("linear",))(First(), data)
    with pytest.raises(BadInput, match="an answer to every row"):
        ExplainedInformation(("short",))(First(), data)
    with pytest.raises(BadInput, match="`data.test` is None"):
        ExplainedInformation(("short",))(First(), test)
    wide = dataclasses.replace(test, y=jnp.ones((20, 3)), mean=jnp.ones((20, 3)))
    with pytest.raises(BadInput, match="two classes"):
        ExplainedInformation(("l",))(First(), dataclasses.replace(wide, test=wide))
    with pytest.raises(BadInput, match="`explainers`"):
        ExplainedInformation(())
    with pytest.raises(BadInput, match="`shuffles`"):
        ExplainedInformation(("l",), shuffles=0)


def cell(known, explained, line=0.4):
    """A result of one member: bits by time, of every explainer the same."""
    rows = np.stack(
        [known, np.full(len(known), line), np.subtract(known, explained), explained], -1
    )
    values = np.broadcast_to(rows[:, None], (len(known), 2, 4))
    return xr.Dataset(
        {"information": (("time", "explainer", "quantity"), values)},
        {
            "time": np.arange(len(known)) + 1.0,
            "explainer": ["linear", "permuted"],
            "quantity": ["network", "explainer", "unexplained", "explained"],
        },
    ).expand_dims(seed=[0], source=["disc"])


def test_phases_are_told_by_what_the_line_knows():
    # Half of the line's 0.4 bits is passed at the third record, the line at the fourth.
    one = cell([0.1, 0.2, 0.3, 0.4, 0.6], [0.1, 0.18, 0.24, 0.38, 0.37])
    found = phases(one.isel(source=0))
    np.testing.assert_allclose(found.early, [[0.28, 0.3]])
    # From the first record to the third.
    np.testing.assert_allclose(found.improved, [[0.14, 0.2]])
    np.testing.assert_allclose([found.gain, found.loss], [[0.2], [0.01]])
    # 0.02 bits are unexplained at the second record, 0.06 at the third.
    np.testing.assert_allclose(departure_time(one.isel(source=0), "linear"), [2.75])


def test_a_member_that_never_knows_what_the_line_does_has_no_later_phase():
    found = phases(cell([0.1, 0.2, 0.3], [0.1, 0.2, 0.3]).isel(source=0))
    assert np.isnan([found.gain, found.loss]).all()
    begins_late = phases(cell([0.3, 0.4], [0.1, 0.2]).isel(source=0))
    assert np.isnan(begins_late.improved).all()
    assert departure_time(cell([0.1, 0.2], [0.1, 0.2]).isel(source=0), "linear") == 2


def test_networks_that_are_constant_are_refused_and_leave_the_claims_open():
    constant = cell([0.0, 0.0], [0.0, 0.0])
    with pytest.raises(BadInput, match="the same of every test input"):
        phases(constant.isel(source=0))
    first = simple_first.claims(constant)[0]
    assert first.verdict == "not applicable"
    assert "not constant" in first.needs


def test_xor_clusters_leave_the_best_line_without_a_single_bit():
    key = jax.random.key(0)
    data = simple_first.sample(key, "xor_clusters", 400, 0.0, "", True)
    said = jit(lambda: with_explainers(key, data, SGD, 2000))().others["newton"]
    assert float(jnp.mean(said.y[:, 0] == data.test.y[:, 0])) == 0.5
