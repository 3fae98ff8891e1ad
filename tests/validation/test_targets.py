"""Targets that a loss or an accuracy cannot read are refused, with the conversion."""

import dataclasses

import equinox as eqx
import jax
import jax.numpy as jnp
import numpy as np
import pytest
from small import PlainDescent
from toy import KEY

import simbias
from simbias import losses
from simbias.cli import main
from simbias.core import Dataset
from simbias.datasets.npz import Npz
from simbias.drawn_from import DrawnFrom
from simbias.measures import ClassAccuracy, TestSignAccuracy, TrainSignAccuracy
from simbias.stops import TrainAccuracyAbove

SIGNED = ("logistic", "log_logistic", "exponential", "hinge")
LABELS = np.arange(9) % 3
ONE_HOT = np.eye(3)[LABELS]


def dataset(y, test=None):
    y = np.asarray(y, float)
    y = y[:, None] if y.ndim == 1 else y
    x = jax.random.normal(KEY, (len(y), 2))
    y = jnp.asarray(y)
    return Dataset(x, y, jnp.ones(len(x)), y, jnp.zeros((0, 2)), test)


def network(key, *, d: int = 2, k: int = 1):
    return eqx.nn.MLP(d, k, 4, 1, activation=jnp.tanh, key=key)


def solved(y, loss=losses.half_mse, measures=None, test=None, stop=None):
    data = dataset(y, test)
    net = network(KEY, k=data.y.shape[1])
    flow = PlainDescent()
    return simbias.solve(net, data, flow, loss, (0.1,), measures or {}, stop=stop)


WRONG_SIGNS = [
    (LABELS % 2, r"labels 0 and 1\. Example: y = 2 \* y - 1\."),
    (1 + LABELS % 2, r"labels 1 and 2\. Example: y = 2 \* y - 3\."),
    (3 + 4 * (LABELS % 2), r"labels 3 and 7.*y = np\.where\(y == 7, 1\.0, -1\.0\)"),
    (LABELS, r"numbers from 0 to 2.*y = np\.eye\(k\)\[labels\].*cross_entropy"),
    (np.linspace(-1, 1, 9), r"numbers from -1 to 1\. Use half_mse"),
    (np.full(9, 2.0), r"the label 2"),
]


@pytest.mark.parametrize("name", SIGNED)
@pytest.mark.parametrize(("y", "said"), WRONG_SIGNS)
def test_losses_of_signs_refuse_other_labels_with_the_conversion(name, y, said):
    loss = getattr(losses, name)
    with pytest.raises(ValueError, match=rf"data\.y.*−1 and \+1 for the loss {name}"):
        solved(y, loss)
    with pytest.raises(ValueError, match=said):
        solved(y, loss)


@pytest.mark.parametrize("name", SIGNED)
def test_a_conversion_that_is_named_is_right(name):
    for y in (2 * (LABELS % 2) - 1, 2 * (1 + LABELS % 2) - 3, np.ones(9), -np.ones(9)):
        assert solved(y, getattr(losses, name)).status == 1


WRONG_SHARES = [
    (LABELS, r"got one\. Example: y = np\.eye\(k\)\[labels\].*−1 and \+1.*logistic"),
    (2 * ONE_HOT - 1, r"labels -1 and 1 in 3 columns\. Example: y = \(y \+ 1\) / 2\."),
    (2 * ONE_HOT, r"labels 0 and 2 in 3 columns.*y / y\.sum\(axis=1"),
    (np.zeros((9, 3)), r"the label 0 in 3 columns"),
]


@pytest.mark.parametrize("name", ["cross_entropy", "log_cross_entropy"])
@pytest.mark.parametrize(("y", "said"), WRONG_SHARES)
def test_losses_of_shares_refuse_what_is_no_row_of_probabilities(name, y, said):
    with pytest.raises(ValueError, match=name):
        solved(y, getattr(losses, name))
    with pytest.raises(ValueError, match=said):
        solved(y, getattr(losses, name))


def test_one_hot_rows_and_rows_of_probabilities_are_taken():
    smoothed = 0.9 * ONE_HOT + 0.1 / 3
    for y in (ONE_HOT, smoothed, np.round(smoothed, 4)):
        for loss in (losses.cross_entropy, losses.log_cross_entropy):
            assert solved(y, loss).status == 1


@pytest.mark.parametrize("name", ["logistic", "cross_entropy"])
def test_targets_that_are_nan_are_named_as_such(name):
    y = 2.0 * (LABELS % 2) - 1 if name == "logistic" else ONE_HOT
    y = np.where(np.arange(len(y)).reshape(-1, *[1] * (np.ndim(y) - 1)) == 2, np.nan, y)
    with pytest.raises(ValueError, match=rf"holds NaN, which the loss {name}"):
        solved(y, getattr(losses, name))


def test_labels_of_the_test_sample_are_those_of_the_training_sample():
    signs = np.where(LABELS == 1, 1.0, -1.0)
    with pytest.raises(ValueError, match=r"data\.test\.y.*−1 and \+1 as.*1 and 2"):
        solved(signs, losses.logistic, test=dataset(1 + LABELS % 2))
    # A loss of signs may be tested on the values of a function.
    solved(signs, losses.logistic, test=dataset(np.linspace(-1, 1, 9)))
    measures = {"accuracy": TestSignAccuracy()}
    with pytest.raises(ValueError, match=r"data\.test\.y. holds NaN.*accuracy"):
        solved(signs, losses.half_mse, measures, dataset(signs * np.nan))


def test_padding_is_no_label():
    data = dataset(np.array([1.0, -1, 1, 0, 0]))
    data = dataclasses.replace(data, weight=jnp.array([1.0, 1, 1, 0, 0]))
    found = simbias.solve(
        network(KEY), data, PlainDescent(), losses.logistic, (0.1,), {}
    )
    assert found.status == 1


def test_a_log_logistic_loss_of_several_outputs_is_refused():
    with pytest.raises(ValueError, match=r"log_logistic.*one output, got 3.*log_cross"):
        solved(2 * ONE_HOT - 1, losses.log_logistic)


SMOOTHED = 0.9 * ONE_HOT + 0.1 / 3


@pytest.mark.parametrize(
    "y", [LABELS % 2, 1 + LABELS % 2, LABELS, ONE_HOT, SMOOTHED, 0.5 + LABELS % 2]
)
def test_an_accuracy_of_signs_refuses_labels_without_signs(y):
    measures = {"accuracy": TrainSignAccuracy()}
    said = r"`accuracy` \(TrainSignAccuracy\) compares the signs of `data\.y`"
    with pytest.raises(ValueError, match=said):
        solved(y, measures=measures)
    with pytest.raises(ValueError, match=r"`stop` \(TrainAccuracyAbove\)"):
        solved(y, stop=TrainAccuracyAbove(0.9))
    signs = 2 * (LABELS % 2) - 1 if np.ndim(y) == 1 else 2 * ONE_HOT - 1
    with pytest.raises(ValueError, match=r"TestSignAccuracy.*`data\.test\.y`"):
        solved(signs, measures={"a": TestSignAccuracy()}, test=dataset(y))
    assert solved(signs, measures=measures, test=dataset(y)).status == 1


def test_one_hot_targets_are_sent_to_the_accuracy_of_the_largest_output():
    with pytest.raises(ValueError, match="Use ClassAccuracy"):
        solved(ONE_HOT, measures={"accuracy": TrainSignAccuracy()})
    with pytest.raises(ValueError, match=r"one column of targets.*TrainSignAccuracy"):
        solved(LABELS, measures={"accuracy": ClassAccuracy()})
    data = dataset(ONE_HOT)
    net = network(KEY, k=3)
    found = np.argmax(jax.vmap(net)(data.x), axis=1) == LABELS
    train, test = ClassAccuracy()(net, data)
    assert train == pytest.approx(found.mean())
    assert np.isnan(test)
    both = dataclasses.replace(data, test=data)
    np.testing.assert_array_equal(ClassAccuracy()(net, both), [train, train])
    # Padding does not count, and single precision is kept.
    short = dataclasses.replace(data, weight=data.weight.at[4:].set(0))
    single = lambda v: v.astype(jnp.float32) if eqx.is_inexact_array(v) else v
    net, short = jax.tree.map(single, (net, short))
    found_short = ClassAccuracy()(net, short)
    assert found_short[0] == pytest.approx(found[:4].mean())
    assert found_short.dtype == jnp.float32


def test_real_targets_of_both_signs_and_constant_ones_have_an_accuracy():
    for y in (np.linspace(-1.1, 1, 9), np.linspace(0.1, 1, 9), np.full(9, 2.0)):
        assert solved(y, measures={"accuracy": TrainSignAccuracy()}).status == 1


def file_of(tmp_path, y):
    path = tmp_path / "mine.npz"
    np.savez(path, x=np.asarray(dataset(y).x), y=y)
    return str(path)


@pytest.mark.slow
def test_a_run_and_an_evaluation_of_a_file_refuse_them_too(tmp_path):
    law = Npz(file_of(tmp_path, 1.0 + LABELS % 2))
    experiment = simbias.Experiment(
        *("mine", DrawnFrom(law, network), {}, 2, PlainDescent(), losses.logistic),
        *((0.0, 0.1), {}, {}, (0.0, 0.1)),
    )
    with pytest.raises(ValueError, match=r"seed . of .*labels 1 and 2.*2 \* y - 3"):
        simbias.simulate(experiment)
    experiment = dataclasses.replace(experiment, loss=losses.half_mse)
    ds = simbias.simulate(experiment)
    with pytest.raises(ValueError, match=r"TrainSignAccuracy.*signs.*labels 1 and 2"):
        simbias.evaluate(TrainSignAccuracy(), ds, experiment)


@pytest.mark.slow
def test_the_command_line_refuses_a_file_of_other_labels(tmp_path, capsys):
    path = file_of(tmp_path, 1.0 + LABELS % 2)
    out = str(tmp_path / "run")
    words = ["run", "condensation", "--preset", "smoke", "--data", path, "--out", out]
    with pytest.raises(SystemExit) as stopped:
        main(words)
    assert stopped.value.code == 2
    assert "labels 1 and 2" in capsys.readouterr().err
