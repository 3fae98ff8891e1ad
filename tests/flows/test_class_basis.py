"""Neurons of one class and those that stand for them."""

import equinox as eqx
import jax
import jax.numpy as jnp
import numpy as np
import pytest

from simbias.core import Dataset
from simbias.flows._relu import activation_classes as module
from simbias.flows._relu.activation_classes import activation_classes
from simbias.flows._relu.class_basis import class_basis
from simbias.flows._relu.frozen_field import extended_sample, neurons_last
from simbias.flows._relu.frozen_step import field_at
from simbias.flows._relu.neuron_state import rates_at
from simbias.flows._relu.norms import norm_of_rows
from simbias.flows._relu.step_trajectory import no_sliding
from simbias.losses import half_mse

M, N, D, K, KINDS = 700, 30, 3, 2, 6

# Each of their operations by itself takes longer to compile than all together.
basis_of = eqx.filter_jit(class_basis)
classes_of = jax.jit(activation_classes)
rates_of = eqx.filter_jit(rates_at)


@eqx.filter_jit
def sample():
    rng = np.random.default_rng(0)
    x, y = jnp.asarray(rng.standard_normal((N, D))), rng.standard_normal((N, K))
    data = Dataset(x, jnp.asarray(y), jnp.ones(N), jnp.asarray(y), jnp.zeros((0, D)))
    return extended_sample(data, half_mse, has_bias=False)


def neurons(kinds=KINDS, scale=1.0):
    """Of few directions and of sizes that differ by many powers of ten; one is 0."""
    rng = np.random.default_rng(1)
    w = rng.standard_normal((kinds, D))[rng.integers(kinds, size=M)]
    w = w * (1 + 1e-7 * rng.standard_normal(w.shape))
    w = scale * w * np.exp(2 * rng.standard_normal((M, 1)))
    a = scale * rng.standard_normal((M, K))
    w[5], a[5] = 0.0, 0.0
    return jnp.asarray(w), jnp.asarray(a)


def above(w, data):
    return w @ data.normal.T > 0


@pytest.mark.slow
@pytest.mark.parametrize("scale", [1.0, 1e-200])
def test_every_neuron_is_made_of_its_representatives(scale):
    w, a = neurons(scale=scale)
    data, sliding = sample(), no_sliding(w, D)
    basis = basis_of(w, a, classes_of(above(w, data), sliding), sliding, data)
    assert basis.fits
    back = basis.up(*basis.weights(D))
    size = np.maximum(np.linalg.norm(np.concatenate([w, a], axis=1) / scale, axis=1), 1)
    for made, given in zip(back, (w, a), strict=True):
        apart = np.abs(np.asarray(made.T - given)) / scale
        assert np.max(apart / size[:, None]) < 1e-13


@pytest.mark.slow
def test_they_drive_all_others_as_the_neurons_do():
    w, a = neurons()
    data, sliding = sample(), no_sliding(w, D)
    sides = above(w, data)
    plain = rates_of(w, a, sides, sliding, data, 0.1)
    by_class = eqx.filter_jit(field_at)(
        w, a, sides, sliding, classes_of(sides, sliding), data, 0.1, None
    )
    for one, other in zip(plain, by_class, strict=True):
        largest = jnp.max(jnp.abs(one))
        assert jnp.max(jnp.abs(one - other)) < 1e-12 * largest


@pytest.mark.slow
def test_a_direction_of_all_neurons_has_its_length_in_those_that_stand_for_them():
    w, _ = neurons()
    rng = np.random.default_rng(3)
    a = jnp.asarray(rng.standard_normal((M, K)))
    w = w / jnp.maximum(jnp.linalg.norm(w, axis=1, keepdims=True), 1e-3)
    w = w + 1e-3 * rng.standard_normal((M, D))  # no direction is missing
    data, sliding = sample(), no_sliding(w, D)
    known = classes_of(above(*neurons()[:1], data), sliding)
    basis = basis_of(w, a, known, sliding, data)
    norm = lambda w, a: float(jnp.sqrt(jnp.sum(w**2) + jnp.sum(a**2)))
    assert norm(*basis.down(w.T, a.T)) == pytest.approx(norm(w, a), rel=1e-9)


@pytest.mark.slow
@pytest.mark.parametrize("tiny", [1e-3, 1e-9, 1e-30])
def test_an_axis_too_small_to_be_known_has_its_velocity_from_the_start(tiny):
    """Neurons of one direction, and a tiny one of another beside them."""
    y = np.tile([1e-3, 1e-3], (200, 1))
    y[-1] = tiny, -tiny
    w, a = jnp.asarray(y[:, :1]), jnp.asarray(y[:, 1:])
    ones = jnp.ones((1, 1))
    data = Dataset(ones, ones, jnp.ones(1), ones, jnp.zeros((0, 1)))
    data, sliding = extended_sample(data, half_mse, has_bias=False), no_sliding(w, 1)
    sides = jnp.ones((200, 1), bool)
    of_all = neurons_last(rates_of(w, a, sides, sliding, data, 0.0))
    basis = basis_of(w, a, classes_of(sides, sliding), sliding, data)
    of_few = basis.rates(of_all, sliding, data)
    anew = basis.field(sides, sliding, data, 0.0)(*basis.weights(1))
    for one, other in zip(of_few, anew, strict=True):
        np.testing.assert_allclose(one, other, rtol=1e-12, atol=1e-300)
    for one, other in zip(basis.up_rates(of_few), of_all, strict=True):
        np.testing.assert_allclose(one, other, rtol=1e-12, atol=1e-300)


@pytest.mark.slow
def test_those_of_neurons_on_a_plane_are_on_it_however_small_their_axis():
    data, rng = sample(), np.random.default_rng(4)
    plane = 7
    normal = data.normal[plane][None]
    w, a = neurons(kinds=1)
    w = w + 1e-9 * rng.standard_normal(w.shape)
    w = w - (w @ normal.T) * normal
    sliding = no_sliding(w, D)
    sliding = eqx.tree_at(
        lambda p: (p.plane, p.dual),
        sliding,
        (sliding.plane.at[:, 0].set(plane), sliding.dual.at[:, 0].set(normal)),
    )
    basis = basis_of(w, a, classes_of(above(w, data), sliding), sliding, data)
    root = basis.weights(D)[0]
    largest = jnp.max(jnp.linalg.norm(root, axis=0))
    off = jnp.abs(normal[0] @ root)
    assert basis.fits
    assert jnp.all(off <= 4 * jnp.finfo(root.dtype).eps * largest)
    back, _ = basis.up(*basis.weights(D))
    apart = jnp.linalg.norm(back.T - w, axis=1)
    assert jnp.all(apart <= 1e-13 * jnp.hypot(*(norm_of_rows(v) for v in (w, a))))


def test_more_classes_than_there_is_room_for_are_seen():
    w, a = neurons(kinds=M)
    sides = above(w, sample())
    assert len(np.unique(np.asarray(sides), axis=0)) > module.MAX_CLASSES
    assert not classes_of(sides, no_sliding(w, D)).fits


def test_neurons_of_other_sides_are_told_apart_though_their_hashes_are_equal(
    monkeypatch,
):
    monkeypatch.setattr(
        module, "_hashes", lambda sides, _: jnp.zeros((len(sides), 2), jnp.uint32)
    )
    w, a = neurons()
    assert not activation_classes(above(w, sample()), no_sliding(w, D)).fits


def test_neurons_that_slide_on_other_planes_are_of_other_classes():
    w, a = neurons(kinds=1)
    w = w.at[5].set(w[0])
    data = sample()
    sliding = no_sliding(w, D)
    held = sliding.plane.at[:100, 0].set(3)
    sliding = eqx.tree_at(lambda p: p.plane, sliding, held)
    basis = basis_of(w, a, classes_of(above(w, data), sliding), sliding, data)
    assert len(np.unique(basis.class_of[:100])) == 1
    assert basis.class_of[0] not in np.asarray(basis.class_of[100:])
