"""Hyperplanes that several samples share."""

import jax.numpy as jnp
import numpy as np
import pytest

from simbias.numerics.planes import find_planes


def units(x):
    x = np.asarray(x, float)
    length = np.linalg.norm(x, axis=1, keepdims=True)
    return jnp.asarray(x / np.where(length > 0, length, 1))


def test_duplicates_multiples_and_mirror_images_are_one_plane():
    x = [[1, 2], [0, 0], [3, 1], [-0.3, -0.6], [0, 0], [1, 2], [6, 2], [1, 2.0001]]
    planes = find_planes(units(x))
    assert planes.first.tolist() == [0, 1, 2, 0, 4, 0, 2, 7]
    assert planes.is_reversed.tolist() == [False] * 3 + [True] + [False] * 4
    assert planes.following.tolist() == [3, -1, 6, 5, -1, -1, -1, -1]


def test_inputs_of_single_precision_are_grouped_by_its_rounding():
    x = units([[1, 2], [1, 2.00001], [1, 2.01]])
    assert find_planes(x).first.tolist() == [0, 1, 2]
    eps = float(np.finfo(np.float32).eps)
    assert find_planes(x, eps).first.tolist() == [0, 0, 2]


@pytest.mark.parametrize("order", [[0, 1, 2], [1, 0, 2], [2, 1, 0], [2, 0, 1]])
def test_a_chain_of_neighbours_is_cut_the_same_way_in_every_order(order):
    # The first is near to the second and that to the third, but not the first to it.
    turned = np.array([[1, 0], [1, 1.5e-13], [1, 3e-13]]) * [[1], [-2], [3]]
    first = np.asarray(find_planes(units(turned[order])).first)
    # Who leads a plane is in it.
    np.testing.assert_array_equal(first[first], first)
    of = {row: order[first[i]] for i, row in enumerate(order)}
    assert of[0] == of[1] != of[2]


def test_a_crowd_of_neighbours_is_many_planes():
    angle = np.arange(2000) * 0.9 * 1000 * np.finfo(float).eps
    unit = jnp.asarray(np.stack([np.cos(angle), np.sin(angle)], 1))
    planes = find_planes(unit)
    first = np.asarray(planes.first)
    far = np.max(np.abs(np.asarray(unit) - np.asarray(unit)[first]))
    assert far <= 1000 * np.finfo(float).eps
    assert len(np.unique(first)) == 1000
    # Every row is reached from the first of its plane, once.
    totals = np.asarray(planes.totals(jnp.ones((2000, 1))))[:, 0]
    np.testing.assert_array_equal(totals, np.bincount(first, minlength=2000))


def test_lengths_and_rotations_change_planes_by_rounding_only():
    rng = np.random.default_rng(0)
    base = rng.integers(0, 5, 40)
    x = rng.standard_normal((5, 4))[base]
    x = x * rng.choice([-3.7, 1e-8, 1.1e6], 40)[:, None]
    x = x @ np.linalg.qr(rng.standard_normal((4, 4)))[0]
    first = np.asarray(find_planes(units(x)).first)
    np.testing.assert_array_equal(first, [np.argmax(base == b) for b in base])


def test_totals_are_sums_over_planes_in_the_place_of_their_first_row():
    rng = np.random.default_rng(1)
    x = rng.integers(-1, 2, (30, 3))
    planes, values = find_planes(units(x)), rng.standard_normal((30, 2))
    expected = np.zeros_like(values)
    np.add.at(expected, np.asarray(planes.first), values)
    totals = planes.totals(jnp.asarray(values))
    np.testing.assert_allclose(totals, expected, rtol=1e-12, atol=1e-12)
