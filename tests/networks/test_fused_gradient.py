import dataclasses
import functools
import re

import jax
import jax.numpy as jnp
import numpy as np
import pytest

from simbias.losses import half_mse
from simbias.networks import _chosen_gradient, two_layer
from simbias.networks._chosen_gradient import (
    LEAST_PAIRS,
    MOST_INPUTS,
    chosen_gradient,
    works_on_gpu,
)
from simbias.networks._fused_gradient import fused_gradient
from simbias.networks._two_layer_gradient import Problem, two_layer_gradient
from simbias.networks.activations import ACTIVATIONS
from simbias.networks.two_layer import TwoLayer

# JAX 0.12 says so, and that programs should move to another library.
pytestmark = pytest.mark.filterwarnings(
    "ignore:The Pallas Triton backend is deprecated:DeprecationWarning"
)

INTERPRETED = functools.partial(fused_gradient, interpret=True)
RELU = jax.nn.relu


def problem(members=(), n=9, m=37, d=4, k=1, dtype=jnp.float64):
    """Arrays w, a, x, y, weight; the last two samples are padding."""
    rng = np.random.default_rng(0)
    shapes = ((m, d), (m, k), (n, d), (n, k))
    drawn = [
        jnp.asarray(rng.standard_normal((*members, *shape)), dtype) for shape in shapes
    ]
    weight = jnp.broadcast_to(jnp.arange(n) < n - 2, (*members, n)).astype(dtype)
    return (*drawn, weight)


def relu_gradient(form):
    return lambda *arrays: form(Problem(*arrays, RELU, True, half_mse))


def assert_equal_to_rounding(found, expected):
    # Sums of some thousand terms, in another order: 64 ε of the largest entry.
    for mine, theirs in zip(
        jax.tree.leaves(found), jax.tree.leaves(expected), strict=True
    ):
        assert mine.dtype == theirs.dtype
        bound = 64 * float(jnp.finfo(theirs.dtype).eps * jnp.max(jnp.abs(theirs)))
        np.testing.assert_allclose(mine, theirs, rtol=0, atol=bound)


@pytest.mark.slow
@pytest.mark.parametrize(
    ("name", "dtype", "n", "m", "k", "has_bias"),
    [
        ("relu", "float32", 9, 37, 1, True),
        ("relu", "float64", 133, 2055, 3, False),  # two chunks of neurons
        ("relu", "float32", 2100, 64, 1, False),  # two chunks of samples
        ("leaky_relu", "float64", 64, 128, 1, False),  # nothing to fill up
        ("leaky_relu", "float32", 9, 37, 3, True),
        ("identity", "float64", 9, 37, 1, False),
        ("quadratic", "float32", 2, 1, 1, True),
        ("tanh", "float64", 40, 130, 3, True),
        ("gelu", "float32", 9, 37, 1, True),
    ],
)
def test_the_kernels_give_the_plain_gradient(
    name, dtype, n, m, k, has_bias, monkeypatch
):
    w, a, x, y, weight = problem((2,), n=n, m=m, k=k, dtype=dtype)

    def network_of(w, a):
        return TwoLayer(w, a, 0.5 * w[:, 0] if has_bias else None, ACTIVATIONS[name])

    networks = jax.vmap(network_of)(w, a)
    one = lambda net, *sample: net.value_and_gradient(half_mse, *sample)
    results = []
    for form in (INTERPRETED, two_layer_gradient):
        monkeypatch.setattr(two_layer, "chosen_gradient", form)
        # Jitted anew, since a form is chosen while tracing.
        run = jax.jit(lambda *arguments: jax.vmap(one)(*arguments))
        results.append(run(networks, x, y, weight))
    assert_equal_to_rounding(*results)


def test_the_kernels_run_inside_a_loop():
    w, a, x, y, weight = problem()

    def trained(form):
        def step(state):
            w, a, i = state
            _, dw, da = relu_gradient(form)(w, a, x, y, weight)
            return w - 0.1 * dw, a - 0.1 * da, i + 1

        go_on = lambda state: state[2] < 3
        run = lambda w, a: jax.lax.while_loop(go_on, step, (w, a, 0))
        return jax.jit(run)(w, a)[:2]

    assert_equal_to_rounding(trained(INTERPRETED), trained(two_layer_gradient))


def lowered(platform, network_of, n=300, m=700, dtype=jnp.float64, members=2):
    """Text of a loop over steps of several members, for a platform that is not here."""
    w, a, *sample = problem((members,), n=n, m=m, dtype=dtype)

    def step(i, network):
        gradient = jax.vmap(lambda net, *s: net.value_and_gradient(half_mse, *s)[1])
        return jax.tree.map(jnp.subtract, network, gradient(network, *sample))

    run = jax.jit(lambda network: jax.lax.fori_loop(0, 10, step, network))
    return text_for(platform, run, jax.vmap(network_of)(w, a))


def text_for(platform, run, *arguments):
    # JAX 0.12 wants to know the GPU.
    gpu = jax.sharding.AbstractDevice("NVIDIA H200", None, "gpu")
    explicit = (jax.sharding.AxisType.Explicit,)
    mesh = jax.sharding.AbstractMesh((1,), ("x",), explicit, abstract_device=gpu)
    with jax.sharding.use_abstract_mesh(mesh):
        traced = run.trace(*arguments)
        return traced.lower(lowering_platforms=(platform,)).as_text()


def kernels(text):
    return len(re.findall(r"custom_call.*triton", text))


@pytest.fixture
def with_kernels(monkeypatch):
    """As on a GPU where the kernels were tried and found right."""
    monkeypatch.setattr(_chosen_gradient, "works_on_gpu", lambda *_: True)


@pytest.mark.parametrize("dtype", [jnp.float32, jnp.float64])
@pytest.mark.parametrize("name", ["relu", "leaky_relu", "identity", "tanh"])
@pytest.mark.usefixtures("with_kernels")
def test_for_cuda_there_are_two_kernels_and_no_activations(name, dtype):
    network_of = lambda w, a: TwoLayer(w, a, None, ACTIVATIONS[name])
    text = lowered("cuda", network_of, dtype=dtype)
    assert kernels(text) == 2
    assert not re.search("300x700|700x300", text)


@pytest.mark.usefixtures("with_kernels")
def test_where_kernels_are_not_used():
    relu = lambda w, a: TwoLayer(w, a)
    assert kernels(lowered("cuda", relu)) == 2
    assert kernels(lowered("cpu", relu)) == 0
    off = lambda w, a: dataclasses.replace(relu(w, a), may_fuse=False)
    assert kernels(lowered("cuda", off)) == 0
    assert kernels(lowered("cuda", relu, n=10, m=(LEAST_PAIRS - 1) // 10)) == 0
    for n, m, d in ((300, 700, MOST_INPUTS + 1), (20_000, 50_000, 4)):
        shapes = ((m, d), (m, 1), (n, d), (n, 1), (n,))
        arguments = [jax.ShapeDtypeStruct(shape, jnp.float32) for shape in shapes]
        run = jax.jit(relu_gradient(chosen_gradient))
        assert kernels(text_for("cuda", run, *arguments)) == 0


@pytest.mark.usefixtures("with_kernels")
def test_a_loss_that_holds_an_array_takes_the_kernels_too():
    def scaled(factor, *arguments):
        return factor * half_mse(*arguments)

    def run(factor, *arrays):
        loss = jax.tree_util.Partial(scaled, factor)
        return chosen_gradient(Problem(*arrays, RELU, True, loss))

    arguments = jnp.float64(2.0), *problem(n=300, m=64)
    assert kernels(text_for("cuda", jax.jit(run), *arguments)) == 2


@pytest.mark.usefixtures("with_kernels")
def test_the_gradient_can_be_differentiated():
    arguments = problem(n=300, m=64)
    derivatives = [
        jax.jvp(relu_gradient(form), arguments, arguments)
        for form in (chosen_gradient, two_layer_gradient)
    ]
    assert_equal_to_rounding(*derivatives)


def test_without_a_gpu_the_gradient_is_the_plain_one():
    assert not works_on_gpu(RELU, True, "float64", 4, 1)
    arguments = problem(n=300, m=64)
    jitted = [
        jax.jit(relu_gradient(form))(*arguments)
        for form in (chosen_gradient, two_layer_gradient)
    ]
    assert jax.tree.all(jax.tree.map(np.array_equal, *jitted))


def tried(form, monkeypatch):
    """The verdict on a form, asked while a member is traced, with a CPU as the GPU."""
    cpu = jax.local_devices()
    monkeypatch.setattr(jax, "local_devices", lambda backend=None: cpu)
    monkeypatch.setattr(_chosen_gradient, "fused_gradient", form)
    verdicts = []

    def traced(v):
        verdicts.append(works_on_gpu.__wrapped__(RELU, True, "float32", 4, 1))
        return v

    jax.jit(jax.vmap(traced))(jnp.zeros(2))
    return verdicts


def test_kernels_that_are_right_are_used(monkeypatch):
    assert tried(INTERPRETED, monkeypatch) == [True]


def test_kernels_that_fail_or_are_wrong_are_not_used(monkeypatch):
    with pytest.warns(UserWarning, match="plain gradient is used for relu in float32"):
        assert tried(fused_gradient, monkeypatch) == [False]

    def wrong(*arguments):
        value, dw, da = two_layer_gradient(*arguments)
        return value, dw * jnp.float32(1.01), da

    with pytest.warns(UserWarning, match="relative difference 1.0e-02"):
        assert tried(wrong, monkeypatch) == [False]
