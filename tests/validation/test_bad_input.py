"""What `solve` and the exact flow refuse, by name."""

import dataclasses
import functools
import inspect

import jax
import jax.numpy as jnp
import numpy as np
import pytest
from small import PlainDescent, small

from simbias.core import Dataset
from simbias.ensemble.arguments import check_arguments, checked_times
from simbias.ensemble.events import Progress
from simbias.ensemble.keys import member_keys
from simbias.ensemble.lanes import idle
from simbias.ensemble.plan import make_plan
from simbias.ensemble.programs import Programs
from simbias.flows.relu_flow import ReluFlow
from simbias.losses import exponential, half_mse, hinge, log_logistic, logistic
from simbias.networks.two_layer import TwoLayer
from simbias.numerics.exact_numerics import exact_numerics
from simbias.verbs.simulate import simulate, solve

NAN, INF = float("nan"), float("inf")


def sample(n=5, d=2, k=1):
    rng = np.random.default_rng(0)
    x, y = jnp.asarray(rng.normal(size=(n, d))), jnp.asarray(rng.normal(size=(n, k)))
    return Dataset(x, y, jnp.ones(n), y, jnp.zeros((0, d)))


def network(m=4, d=2, k=1):
    rng = np.random.default_rng(1)
    return TwoLayer(jnp.asarray(rng.normal(size=(m, d))), jnp.ones((m, k)))


@pytest.mark.parametrize(
    "times", [(0.0, NAN), (NAN,), (INF,), (0.0, NAN, 5.0), (), (1.0, 1.0), (-1.0,)]
)
def test_times_must_be_finite_and_increase(times):
    with pytest.raises(ValueError, match="`times`"):
        solve(network(), sample(), ReluFlow(), half_mse, times, {})


@pytest.mark.parametrize(
    ("given", "message"),
    [
        ({"network": None}, "`network` must be a function, got None"),
        ({"data": None}, "`data` must be a Dataset, got None"),
        ({"flow": "relu"}, "`flow` must be a flow, got 'relu'"),
        ({"loss": None}, "`loss` must be a function, got None"),
        ({"times": None}, "`times` must be a tuple of numbers, got None"),
        ({"times": "01"}, "`times` must be a tuple of numbers, got '01'"),
        ({"times": (0.0, "1")}, "`times` must be a tuple of numbers"),
        ({"measures": None}, "`measures` must map names to measures, got None"),
        ({"stop": 1e-3}, "`stop` must be a stop or None, got 0.001"),
        ({"key": 3}, r"`key` must be a random key .*, got 3.*jax.random.key\(3\)"),
    ],
)
def test_an_argument_of_another_kind_is_named(given, message):
    plain = {"network": network(), "data": sample(), "flow": ReluFlow()}
    plain |= {"loss": half_mse, "times": (1.0,), "measures": {}}
    # As users call it: the tests check the types of its arguments besides.
    with pytest.raises(ValueError, match=message):
        inspect.unwrap(solve)(**{**plain, **given})


@pytest.mark.parametrize(
    "times", [[0.0, 1.0], np.array([0.0, 1.0]), (np.float64(0), jnp.float64(1))]
)
def test_times_may_be_any_sequence_of_numbers(times):
    assert checked_times(times) == (0.0, 1.0)


def test_an_old_key_is_a_key():
    check = lambda key: check_arguments(
        network(), sample(), ReluFlow(), half_mse, {}, None, key
    )
    check(jax.random.key(0))
    check(jax.random.PRNGKey(0))


@pytest.mark.parametrize(
    ("net", "data", "message"),
    [
        (network(), sample(d=1), "inputs of 1 coordinates"),
        (network(), sample(k=3), "outputs of shape"),
        (network(k=3), sample(), "outputs of shape"),
        (network(), sample(n=0), "with n at least 1, got"),
    ],
)
def test_network_and_data_must_fit(net, data, message):
    with pytest.raises(ValueError, match=message):
        solve(net, data, ReluFlow(), half_mse, (1.0,), {})


@pytest.mark.parametrize(
    ("weights", "message"), [(0.0, "0 everywhere"), (-1.0, "negative")]
)
def test_weights_of_samples_must_mean_something(weights, message):
    data = sample()
    data = dataclasses.replace(data, weight=jnp.full_like(data.weight, weights))
    with pytest.raises(ValueError, match=f"`data.weight`.*{message}"):
        solve(network(), data, PlainDescent(), half_mse, (1.0,), {})


def test_a_weight_that_is_not_a_number_is_refused():
    data = sample()
    data = dataclasses.replace(data, weight=data.weight.at[0].set(jnp.nan))
    with pytest.raises(ValueError, match=r"`data\.weight` holds .* or NaN"):
        solve(network(), data, ReluFlow(), half_mse, (1.0,), {})


@pytest.mark.slow
def test_inputs_too_large_to_be_squared_do_not_pass_for_zero():
    data = sample()
    huge = dataclasses.replace(data, x=data.x * 1e200)
    with pytest.warns(UserWarning, match="ended with status NONFINITE"):
        found = solve(network(), huge, ReluFlow(), half_mse, (1.0,), {})
    assert found.status.is_failure


def test_a_loss_with_kinks_of_its_own_is_refused():
    for loss in (hinge, functools.partial(hinge)):
        with pytest.raises(ValueError, match="hinge"):
            solve(network(), sample(), ReluFlow(), loss, (1.0,), {})


@pytest.mark.parametrize("values", [{"rtol": NAN}, {"rtol": 0.0}, {"dt0": -1.0}])
def test_options_of_the_flow_are_checked_by_name(values):
    with pytest.raises(ValueError, match=next(iter(values))):
        ReluFlow(**values)


MARGIN_LOSSES = (logistic, log_logistic, exponential, hinge)


@pytest.mark.parametrize("loss", MARGIN_LOSSES, ids=lambda f: f.__name__)
def test_labels_of_zero_and_one_are_refused_where_plus_minus_one_is_meant(loss):
    data = sample()
    zero_one = dataclasses.replace(data, y=jnp.asarray(np.float64(data.y > 0)))
    with pytest.raises(
        ValueError, match=r"−1 and \+1 for the loss .*, got labels 0 and 1.*2 \* y - 1"
    ):
        solve(network(), zero_one, PlainDescent(), loss, (1.0,), {})
    with pytest.raises(ValueError, match=r"labels 0 and 1"):
        solve(network(), zero_one, PlainDescent(), functools.partial(loss), (1.0,), {})
    assert solve(network(), zero_one, PlainDescent(), half_mse, (1.0,), {})


@pytest.mark.slow
def test_a_run_refuses_them_too(tmp_path):
    def make(key, *, n: int):
        data, net = small().make(key, n=n)
        return dataclasses.replace(data, y=(data.y > 0).astype(data.y.dtype)), net

    experiment = small(make=make, cell={"n": 6}, seeds=2, loss=logistic)
    for store in (None, tmp_path / "run.zarr"):
        with pytest.raises(
            ValueError, match=r"for the loss logistic, got labels 0 and 1"
        ):
            simulate(experiment, store=store)


@pytest.mark.slow
def test_a_member_whose_labels_alone_are_wrong_is_named():
    def make(key, *, n: int):
        data, net = small().make(key, n=n)
        label = jnp.where(jax.random.uniform(key, (n, 1)) < 0.03, 0.0, 1.0)
        return dataclasses.replace(data, y=label), net

    plan = make_plan(small(make=make, cell={"n": 6}, seeds=40, loss=logistic))
    with exact_numerics():
        labels = [
            make(member_keys(0, plan.cell(seed), seed)[0], n=6)[0].y
            for seed in range(plan.size)
        ]
        (first, *_) = np.flatnonzero([(y == 0).any() for y in labels])
        assert first > 0
        programs = Programs(plan, "cpu", Progress())
        lanes = idle(plan.groups[0].lane, plan.size)
        members = [(member, member) for member in range(plan.size)]
        lanes = programs.begin(members[:first], lanes)
        np.testing.assert_array_equal(lanes.data.y[:first, :6], 1)
        with pytest.raises(
            ValueError, match=f"seed {first} of .*'n': 6.*labels 0 and 1"
        ):
            programs.begin(members, lanes)
