"""Networks of layers: their laws, what they show of themselves, what is frozen."""

import dataclasses

import jax
import jax.numpy as jnp
import numpy as np
import pytest

from simbias.core import Dataset, Experiment
from simbias.flows.descent import Descent
from simbias.flows.relu_flow import ReluFlow
from simbias.introspection.trained_arrays import split_trained
from simbias.losses import half_mse
from simbias.networks import convolutional, deep_linear, mlp, standard
from simbias.networks.activations import identity
from simbias.networks.dense.deep_linear import DeepLinear
from simbias.networks.dense.mlp import Mlp
from simbias.verbs.simulate import simulate

KEY = jax.random.key(0)


def error_of(call):
    with pytest.raises(ValueError, match="`") as caught:
        call()
    return str(caught.value)


@pytest.mark.parametrize(
    ("law", "variance"),
    [
        ("kaiming", lambda p, q: 2 / q),
        ("glorot", lambda p, q: 2 / (p + q)),
        ("lecun", lambda p, q: 1 / q),
        ("torch", lambda p, q: 1 / (3 * q)),
    ],
)
def test_entries_have_the_variance_of_the_law(law, variance):
    net = mlp(KEY, (40, 200, 300, 50), law=law, scale=0.5)
    for w in net.weights:
        expected = 0.25 * variance(*w.shape)
        # The variance of a variance is at most 2σ⁴/size.
        assert abs(np.var(w) / expected - 1) < 5 * (2 / w.size) ** 0.5
        assert abs(np.mean(w)) < 5 * (expected / w.size) ** 0.5


def test_orthogonal_layers_have_orthonormal_rows_or_columns():
    for w in deep_linear(KEY, (5, 9, 3), law="orthogonal").weights:
        gram = w @ w.T if w.shape[0] < w.shape[1] else w.T @ w
        np.testing.assert_allclose(gram, np.eye(len(gram)), atol=1e-14)


@pytest.mark.parametrize("widths", [(4, 6), (4, 6, 3), (3, 7, 5, 4)])
def test_balanced_layers_are_balanced_and_make_a_matrix_of_the_law(widths):
    net = deep_linear(KEY, widths, scale=0.3)
    for a, b in zip(net.weights, net.weights[1:], strict=False):
        np.testing.assert_allclose(b.T @ b, a @ a.T, atol=1e-14)
    whole = np.linalg.multi_dot([*net.weights[::-1], np.eye(widths[0])])
    np.testing.assert_allclose(net.product, whole, atol=1e-15)
    deep = 0.3 ** (len(widths) - 1)
    single = deep_linear(KEY, (widths[0], widths[-1]), scale=1.0).product
    np.testing.assert_allclose(net.product, deep * single, atol=1e-14)


@pytest.mark.slow
def test_activations_are_those_of_the_layers():
    net = mlp(KEY, (3, 5, 4, 2), law="torch", linear=1, activation="tanh")
    x = jax.random.normal(KEY, (3,))
    first, second = net.activations(x)
    biases = [np.asarray(bias) for bias in net.biases]
    np.testing.assert_allclose(first, np.tanh(net.weights[0] @ x + biases[0]))
    np.testing.assert_allclose(second, net.weights[1] @ first + biases[1])
    np.testing.assert_array_equal(net.features(x), second)
    np.testing.assert_allclose(net(x), net.weights[2] @ second + biases[2])
    assert net.has_kinks is False
    assert mlp(KEY, (3, 5, 4, 2), linear=1).has_kinks is True
    assert mlp(KEY, (3, 5, 2), linear=1).has_kinks is False
    assert mlp(KEY, (3, 5, 2), has_bias=False).biases == (None, None)
    single = deep_linear(KEY, (3, 2))
    np.testing.assert_array_equal(single.features(x), x)
    np.testing.assert_array_equal(single.activations(x)[-1], single(x))


@pytest.mark.parametrize(
    ("call", "named"),
    [
        (lambda: mlp(KEY, (3,)), "widths"),
        (lambda: mlp(KEY, (3, 0, 1)), "widths"),
        (lambda: mlp(KEY, (3, 4, 1), linear=2), "linear"),
        (lambda: mlp(KEY, (3, 4, 1), linear=-1), "linear"),
        (lambda: mlp(KEY, (3, 4, 1), activation="sin"), "activation"),
        (lambda: deep_linear(KEY, (4, 2, 4)), "widths"),
        (lambda: deep_linear(KEY, (4, 2), scale=0.0), "scale"),
        (lambda: DeepLinear(()), "weights"),
        (lambda: DeepLinear((jnp.ones((2, 3)), jnp.ones((1, 3)))), "weights"),
        (
            lambda: Mlp((jnp.ones((2, 3)),), (None,), (identity,)),
            "activation",
        ),
        (lambda: convolutional(KEY, image=(1, 8, 8), k=1, size=4), "size"),
        (lambda: convolutional(KEY, image=(1, 8, 8), k=1, stride=3), "image"),
        (lambda: convolutional(KEY, image=(0, 16, 16), k=1), "image"),
        (lambda: convolutional(KEY, image=(1, -16, 16), k=1), "image"),
        (lambda: convolutional(KEY, image=(1, 16, 16), k=1, channels=(0,)), "channels"),
    ],
)
def test_bad_input_is_named(call, named):
    assert f"`{named}`" in error_of(call)


@pytest.mark.slow
def test_convolutions_with_large_kernels_and_strides():
    net = convolutional(KEY, image=(3, 16, 16), k=2, channels=(4,), size=7, stride=2)
    assert net.kernels[0].shape == (4, 3, 7, 7)
    image = jax.random.normal(KEY, (3, 16, 16))
    (after, features) = net.activations(image.reshape(-1))
    assert after.shape == (4, 4, 4)
    # By hand: rows and columns 0, 2, 4, … of the correlation with a border of 3.
    wide = np.pad(np.asarray(image), ((0, 0), (3, 3), (3, 3)))
    at = lambda c, i, j: max(
        0.0,
        float(
            np.sum(wide[:, 2 * i : 2 * i + 7, 2 * j : 2 * j + 7] * net.kernels[0][c])
            + net.shifts[0][c]
        ),
    )
    mean = np.mean([at(1, i, j) for i in (2, 3) for j in (4, 5)])
    np.testing.assert_allclose(after[1, 1, 2], mean, rtol=1e-12)
    np.testing.assert_array_equal(net.features(image.reshape(-1)), features)


def test_what_is_frozen_is_not_trained():
    net = mlp(KEY, (3, 5, 2))
    frozen = dataclasses.replace(net, frozen=("weights.0", "biases"))
    trained, rest = split_trained(frozen)
    assert trained.weights[0] is None
    assert trained.biases == (None, None)
    assert trained.weights[1] is not None
    assert rest.weights[0] is not None


def _experiment(flow, frozen=("a",), **changes):
    def make(key, *, n: int = 12):
        key_x, key_net = jax.random.split(key)
        x = jax.random.normal(key_x, (n, 3), jnp.float64)
        y = x[:, :1] ** 2
        net = standard(key_net, d=3, m=6)
        data = Dataset(x, y, jnp.ones(n), y, jnp.eye(3))
        return data, dataclasses.replace(net, frozen=frozen)

    measures = {"w": lambda net, _: net.w, "a": lambda net, _: net.a}
    known = {"cell": {"n": 12}, "seeds": 3, "times": (0.0, 4.0), "measures": measures}
    return Experiment("mine", make, flow=flow, loss=half_mse, **(known | changes))


@pytest.mark.long
def test_relu_flow_with_frozen_outputs_is_the_limit_of_descent():
    exact = simulate(_experiment(ReluFlow(rtol=1e-8)))
    ends = [simulate(_experiment(Descent(rate=r))) for r in (8e-4, 1e-4)]
    for ds in (exact, *ends):
        np.testing.assert_array_equal(ds["a"][..., -1, :, :], ds["a"][..., 0, :, :])
    gaps = [float(abs(ds["w"] - exact["w"]).max()) for ds in ends]
    # Of first order, but for the steps that end beyond a kink.
    assert gaps[1] < min(gaps[0] / 4, 1e-4)


@pytest.mark.slow
def test_momentum_and_decay_leave_what_is_frozen():
    flow = Descent(rate=0.01, optimiser="adamw", weight_decay=0.1)
    ds = simulate(_experiment(flow, ("w",)))
    np.testing.assert_array_equal(ds["w"][..., -1, :, :], ds["w"][..., 0, :, :])
    assert float(abs(ds["a"][..., -1, :, :] - ds["a"][..., 0, :, :]).min()) > 0


@pytest.mark.parametrize("frozen", [("b",), ("weights.0",), ("w", "c")])
def test_a_frozen_name_that_is_not_there_is_refused(frozen):
    text = error_of(lambda: simulate(_experiment(Descent(), frozen)))
    assert "`frozen`" in text


def test_relu_flow_refuses_other_frozen_weights_and_nothing_trained_is_refused():
    assert "`frozen`" in error_of(lambda: simulate(_experiment(ReluFlow(), ("w",))))
    with pytest.raises(ValueError, match="not frozen"):
        simulate(_experiment(Descent(), ("a", "w")))


@pytest.mark.slow
def test_runs_of_time_0_alone():
    for flow in (Descent(), ReluFlow()):
        ds = simulate(_experiment(flow, times=(0.0,)))
        assert (ds["status"] == 1).all()
        assert ds["w"].sizes["time"] == 1


@pytest.mark.slow
@pytest.mark.parametrize("scale", [0.0, -1.0, float("nan"), float("inf")])
def test_a_scale_is_finite_and_positive(scale):
    for network in (mlp, deep_linear):
        assert "`scale` must be" in error_of(
            lambda network=network: network(KEY, (2, 3, 1), scale=scale)
        )
