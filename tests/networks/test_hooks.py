"""What a network has besides `__call__`, and that no wrapper loses it in silence."""

import dataclasses
import importlib
import pkgutil
from typing import Any

import jax
import jax.numpy as jnp
import numpy as np
import optax
import pytest
from toy import KEY, distance, sample, toy_network

import simbias
from simbias.core import AbstractNetwork, AbstractWrapper
from simbias.errors import BadInput
from simbias.experiments.layers._remembering import Remembering, remembering
from simbias.experiments.layers._side_by_side import SideBySide, side_by_side
from simbias.flows._shared.objective import loss_in_training, value_gradient_and_rest
from simbias.flows.descent import Descent
from simbias.introspection.array_network import ArrayNetwork, Rest
from simbias.introspection.trained_arrays import split_trained
from simbias.introspection.training import outputs_in_training, trained_on
from simbias.losses import half_mse
from simbias.measures import FeatureRank
from simbias.network import HOOKS, Pattern, hook
from simbias.networks import Adversarial, Noisy, mlp, noisy, recurrent, resnet
from simbias.networks.population_student import PopulationStudent

TRAINING = ("in_training", "on_sample", "value_and_gradient")
X, WEIGHT = jnp.ones((4, 3)), jnp.ones(4)
KEYS = jax.random.split(KEY, 4)
# No sum of the weights below is 7.
SEVEN = jnp.full((4, 1), 7.0)


class Plain(AbstractNetwork):
    a: jax.Array

    def __call__(self, x):
        return self.a @ x


class Kinked(Plain):
    has_kinks = True


class OwnLaw(Plain):
    has_own_law = True


class Featured(Plain):
    def features(self, x):
        return x + 7.0


class Layered(Plain):
    def activations(self, x):
        return (x + 7.0,)


class Drawing(Plain):
    def in_training(self, x, key):
        return SEVEN[0] + 0 * jax.random.normal(key, (1,))


class Coupled(Plain):
    def on_sample(self, x, weight):
        return jnp.full((len(x), 1), 7.0), dataclasses.replace(self, a=2 * self.a)


class ByHand(Plain):
    def value_and_gradient(self, loss, x, y, weight):
        return jnp.asarray(7.0), dataclasses.replace(self, a=SEVEN[:1])


class Gated(Plain):
    def gated(self, x, pattern):
        return pattern.scale[0] * x[:1] + pattern.shift[0], (x[:1],)


class Sloped(Plain):
    kink_slopes = (0.5,)


HAS = {
    "has_kinks": Kinked,
    "has_own_law": OwnLaw,
    "features": Featured,
    "activations": Layered,
    "in_training": Drawing,
    "on_sample": Coupled,
    "value_and_gradient": ByHand,
    "gated": Gated,
    "kink_slopes": Sloped,
}
WRAPPERS = {
    Noisy: lambda inner: noisy(inner, 0.1),
    Adversarial: Adversarial,
    ArrayNetwork: lambda inner: ArrayNetwork(
        inner, Rest(jax.tree.map(lambda _: None, inner))
    ),
    Remembering: lambda inner: remembering(inner, 4),
}


def inner_of(name):
    return HAS[name](jnp.ones((1, 3)))


def found(network, name):
    """What the hook does, as arrays."""
    if name == "on_sample":
        return outputs_in_training(network, X, WEIGHT, KEYS)[0]
    if name == "value_and_gradient":
        return trained_on(network, half_mse, X, SEVEN, WEIGHT, KEYS)[0]
    if name == "in_training":
        return network.in_training(X[0], KEY)
    if name == "gated":
        return network.gated(X[0], Pattern((X[0, :1],), (X[0, :1],)))[0]
    if name in ("features", "activations"):
        return jnp.stack([*getattr(network, name)(X[0])])
    return getattr(network, name)


def networks_of_the_package():
    for module in pkgutil.walk_packages(simbias.__path__, "simbias."):
        if not module.name.endswith(("__main__", "cli._template")):
            importlib.import_module(module.name)
    every, left = set(), [AbstractNetwork]
    while left:
        below = [cls for cls in left.pop().__subclasses__() if cls not in every]
        every.update(cls for cls in below if cls.__module__.startswith("simbias."))
        left += below
    return every


def test_the_hooks_are_those_that_the_abstract_network_has():
    written = {name for name in vars(AbstractNetwork) if not name.startswith("_")}
    assert written == set(HOOKS) == set(HAS)
    for name in HOOKS:
        assert vars(AbstractNetwork)[name].__doc__
        assert not hook(Plain(X), name)
        assert not hook(lambda x: x, name)


def test_every_network_that_holds_another_one_is_tested_here():
    held = {}
    for cls in networks_of_the_package():
        for field in dataclasses.fields(cls):
            held.setdefault(cls, []).append(field.type)
    wrappers = {cls for cls in held if issubclass(cls, AbstractWrapper)}
    assert wrappers - {AbstractWrapper} == set(WRAPPERS)
    others = {cls: types for cls, types in held.items() if cls not in wrappers}
    is_any = lambda kind: kind in (Any, AbstractNetwork, tuple[Any, ...])
    assert {cls for cls in others if any(map(is_any, others[cls]))} == {SideBySide}
    # Of what the others hold the class is known, and has nothing to lose in training;
    # the teacher of a population student is not trained.
    del others[PopulationStudent]
    for kind in (kind for types in others.values() for kind in types):
        if isinstance(kind, type) and issubclass(kind, AbstractNetwork):
            assert not any(hook(kind, name) for name in TRAINING if name in vars(kind))


@pytest.mark.parametrize("name", HOOKS)
@pytest.mark.parametrize("wrapper", WRAPPERS, ids=lambda cls: cls.__name__)
def test_a_wrapper_has_what_its_network_has_or_refuses_it(wrapper, name):
    inner = inner_of(name)
    if name in wrapper.refuses:
        with pytest.raises(BadInput, match=f"{wrapper.__name__} cannot .*`{name}`"):
            WRAPPERS[wrapper](inner)
        return
    whole = WRAPPERS[wrapper](inner)
    assert hook(whole, name)
    np.testing.assert_array_equal(found(whole, name), found(inner, name))
    if wrapper is not Remembering:
        other = WRAPPERS[wrapper](Plain(inner.a))
        assert name in _OWN.get(wrapper, ()) or not hook(other, name)


# What a wrapper is for: it has that whatever it holds.
_OWN = {Noisy: ("in_training",), Adversarial: ("value_and_gradient",)}


@pytest.mark.parametrize("name", TRAINING)
def test_networks_side_by_side_train_as_each_does_or_are_refused(name):
    if name != "on_sample":
        with pytest.raises(BadInput, match=f"`{name}`"):
            side_by_side(inner_of(name), Plain(X[:1]))
        return
    both = side_by_side(Plain(X[:1]), inner_of(name))
    _, moved = both.on_sample(X, WEIGHT)
    np.testing.assert_array_equal(moved.networks[1].a, 2 * X[:1])


def run(net, data, key=KEY, steps=2):
    flow = Descent(rate=0.05)
    step = jax.jit(lambda state: flow.step(state, data, half_mse, jnp.float64(9.0)))
    state = flow.init(net, data, half_mse, key)
    for _ in range(steps):
        state = step(state)
    return state.network


def images():
    net = resnet(KEY, image=(1, 4, 4), k=1, widths=(2,), depth=1)
    x = jax.random.normal(jax.random.key(3), (6, 16), jnp.float64)
    like = sample(6)
    return net, dataclasses.replace(like, x=x, features=jnp.ones((1, 16)))


@pytest.mark.slow
def test_batch_normalisation_under_noise_uses_the_batch_and_moves_its_averages():
    net, data = images()
    plain, still = run(net, data), run(noisy(net, 0.0), data)
    pairs = zip(jax.tree.leaves(still.inner), jax.tree.leaves(plain), strict=True)
    for one, other in pairs:  # buffers too
        np.testing.assert_allclose(one, other, rtol=1e-12, atol=1e-14)
    moved = run(noisy(net, 0.5), data).inner
    assert distance(moved, plain) > 1e-3
    before, after = (jax.tree.leaves(split_trained(n)[1]) for n in (net, moved))
    assert all(np.any(u != v) for u, v in zip(before, after, strict=True))


@pytest.mark.slow
def test_a_line_search_sees_the_statistics_of_its_batch():
    net, data = images()
    parts, of = split_trained(net), (half_mse, (data.x, data.y, data.weight))
    expected = value_gradient_and_rest(*parts, *of)[0]
    seen = loss_in_training(*parts, *of, None)
    assert float(seen) == pytest.approx(float(expected), rel=1e-12)


@pytest.mark.slow
def test_the_adversarial_gradient_is_used_under_noise():
    net, data = mlp(KEY, (3, 4, 1)), sample()
    robust = Adversarial(net, radius=0.3)
    expected, still = run(robust, data), run(noisy(robust, 0.0), data)
    assert distance(still.inner, expected) < 1e-13
    assert distance(expected.inner, run(net, data)) > 1e-3


@pytest.mark.slow
def test_a_gradient_by_hand_is_used_at_the_inputs_with_noise():
    net, data = toy_network("tanh"), sample()
    noise, keys = noisy(net, 0.5), jax.random.split(KEY, 12)
    value, gradient = noise.value_and_gradient(
        half_mse, data.x, data.y, data.weight, keys
    )
    objective = lambda net: half_mse(
        jax.vmap(noisy(net, 0.5).in_training)(data.x, keys), data.y, data.weight
    )
    expected, slope = jax.value_and_grad(objective)(net)
    assert float(value) == pytest.approx(float(expected), rel=1e-12)
    assert distance(gradient.inner, slope) < 1e-12


@pytest.mark.slow
def test_adversarial_training_of_dropout_draws_it():
    net, data = recurrent(KEY, width=3, depth=1, dropout=0.3), sample()
    # Almost no ball: what is left is the dropout.
    robust = run(Adversarial(net, radius=1e-12, steps=2), data)
    assert distance(robust.inner, run(net, data)) < 1e-9
    other = run(Adversarial(net, radius=1e-12, steps=2), data, jax.random.key(9))
    assert distance(robust, other) > 1e-4


def test_adversarial_training_of_batch_normalisation_is_refused():
    with pytest.raises(ValueError, match="Adversarial cannot train a ResNet.*`on_samp"):
        Adversarial(images()[0])


class HandAndBatch(ByHand):
    def on_sample(self, x, weight):
        return x @ self.a.T, self


class DrawingByHand(ByHand):
    def in_training(self, x, key):
        return self.a @ x


@pytest.mark.parametrize("around", [lambda net: net, lambda net: noisy(net, 0.1)])
@pytest.mark.parametrize(
    ("kind", "message"),
    [
        (HandAndBatch, "both `on_sample` and `value_and_gradient`"),
        (DrawingByHand, "`value_and_gradient` must take a key for each row"),
    ],
)
def test_hooks_that_exclude_each_other_are_refused(kind, message, around):
    with pytest.raises(ValueError, match=message):
        Descent().init(around(kind(jnp.ones((1, 3)))), sample(), half_mse, KEY)


def test_a_measure_names_the_hook_that_it_needs():
    with pytest.raises(ValueError, match="FeatureRank needs .*`features`, got a Plain"):
        FeatureRank()(Plain(X[:1]), sample())


@pytest.mark.slow
def test_a_line_search_runs_on_batch_normalisation_under_noise():
    search = optax.scale_by_backtracking_linesearch(max_backtracking_steps=4)
    net, data = images()
    flow = Descent(optimiser=optax.chain(optax.sgd(1.0), search))
    state = flow.init(noisy(net, 0.1), data, half_mse, KEY)
    after = flow.step(state, data, half_mse, jnp.float64(9.0))
    assert distance(after.network, state.network) > 0
