"""Small pieces that the exact flow is made of."""

import equinox as eqx
import jax
import jax.numpy as jnp
import numpy as np
import pytest

from simbias import losses
from simbias.core import Dataset
from simbias.flows._relu.attempt_step import _rebalanced
from simbias.flows._relu.frozen_field import extended_sample
from simbias.flows._relu.masked_rows import (
    contains,
    least_and_place,
    on_some_rows,
    on_wanted_rows,
    pack_rows,
    with_flips,
)
from simbias.flows._relu.neuron_state import first_neurons
from simbias.flows._relu.norms import norm, norm_of_rows
from simbias.flows._relu.step_error import _change

# Its operations one by one take longer to compile than all together.
sampled = eqx.filter_jit(extended_sample)

placed = jax.jit(first_neurons, static_argnames=("slope", "capacity"))


def whole(*values):
    return jnp.asarray(values, jnp.int32)


def test_the_least_of_a_row_is_where_it_is_said_to_be():
    value = jnp.asarray([[3.0, 1.0, 2.0], [0.0, 5.0, 4.0], [2.0, 2.0, -1.0]])
    least, place = least_and_place(value)
    np.testing.assert_array_equal(least, [1, 0, -1])
    np.testing.assert_array_equal(place, [1, 0, 2])


def test_places_in_slots_are_found_and_crossed():
    slots, place = whole([1, -1, 4], [0, 2, -1]), whole(0, 1, 2, 4, 4)
    expected = [[False, True, False, True, True], [True, False, True, False, False]]
    np.testing.assert_array_equal(contains(slots, place), expected)
    # Upwards over plane 1, not at all over 4; upwards over 0 and downwards over 2.
    gain = whole([1, 0, 0], [1, -1, 0])
    before = jnp.asarray([[False] * 5, [False, False, True, True, True]])
    expected = [[False, True, False, False, False], [True, False, False, True, True]]
    np.testing.assert_array_equal(with_flips(before, slots, gain, place), expected)


def test_norms_do_not_underflow():
    rng = np.random.default_rng(0)
    w, a = rng.standard_normal((4, 3)), rng.standard_normal((4, 2))
    each = np.sqrt((w**2).sum(1) + (a**2).sum(1))
    for scale in (1e-300, 1e-200, 1.0, 1e200):
        parts = jnp.asarray(scale * w), jnp.asarray(scale * a)
        np.testing.assert_allclose(norm_of_rows(*parts), scale * each, rtol=1e-12)
        total = scale * np.linalg.norm(each)
        np.testing.assert_allclose(norm(*parts), total, rtol=1e-12)
    assert float(norm(jnp.zeros((2, 2)))) == 0


def begun(x, w, a):
    """Where a network starts, and its samples."""
    x, w, a = (jnp.asarray(v, float) for v in (x, w, a))
    y = jnp.ones((len(x), 1))
    data = Dataset(x, y, jnp.ones(len(x)), y, jnp.zeros((0, x.shape[1])))
    sample = sampled(data, losses.half_mse, has_bias=False)
    return placed(w, a, sample, slope=0.0, capacity=2), sample


@pytest.mark.slow
def test_what_is_rebalanced_has_its_difference_of_squares_and_its_signs_again():
    rng = np.random.default_rng(0)
    w, a, x = (rng.standard_normal(s) for s in ((5, 3), (5, 2), (4, 3)))
    before, _ = begun(x, w, a[:, :1])
    before = eqx.tree_at(lambda p: p.a, before, jnp.asarray(a))
    square = lambda w, a: np.sum(a**2, axis=1) - np.sum(w**2, axis=1)
    moved = [v + 1e-5 * rng.standard_normal(v.shape) for v in (w, a)]
    back = [np.asarray(v) for v in _rebalanced(*map(jnp.asarray, moved), before)]
    assert np.max(np.abs(square(*moved) - square(w, a))) > 1e-6
    # What is left is of second order.
    np.testing.assert_allclose(square(*back), square(w, a), rtol=0, atol=1e-9)
    np.testing.assert_array_equal(np.sign(back[0]), np.sign(w))


def test_the_change_of_a_moment_is_the_share_of_both_its_ends():
    early, late = np.zeros((2, 3, 2, 4))
    early[0, 0, 0], late[0, 0, 1] = 3.0, 4.0
    early[1], late[1] = 2.0, 2.0
    got = _change(jnp.asarray(early), jnp.asarray(late))
    np.testing.assert_allclose(got, [1.0, 0.0, 0.0], atol=1e-12)


@pytest.mark.slow
@pytest.mark.parametrize("towards", [1.0, -1.0])
def test_a_neuron_without_pull_on_a_plane_starts_on_a_side_that_no_order_decides(
    towards,
):
    # It has no output weight yet; of the two mirror images one is active.
    x = towards * np.array([[1.0, 0.0], [-1.0, 0.0], [0.0, towards]])
    active = []
    for order in ([0, 1, 2], [1, 0, 2], [2, 1, 0]):
        start, sample = begun(x[order], [[0.0, 1.0]], [[0.0]])
        is_active = start.is_above ^ sample.planes.is_reversed[None, :]
        active.append(np.asarray(is_active)[0, np.argsort(order)].tolist())
    assert active[0] == active[1] == active[2]
    assert sum(active[0]) == 2
    # A plane whose samples point one way leaves it inactive.
    for one in (0, 1):
        start, _ = begun(x[[one, 2]], [[0.0, 1.0]], [[0.0]])
        assert start.is_above[0].tolist() == [False, True]


def leaves(m=7):
    whole = jnp.arange(m * 70, dtype=jnp.int32).reshape(m, 70)
    real = jnp.linspace(0.0, 1.0, m * 6)
    return {
        "wide": whole % 3 == 0,
        "sides": whole[:, :4] % 2 == 0,
        "w": real.reshape(m, 2, 3),
        "a": real[:m],
        "count": whole[:, 0],
    }


def test_rows_side_by_side_are_the_tree_and_wide_ones_stay_alone():
    rows = pack_rows(leaves())
    assert sorted(v.shape[1] for v in rows.blocks) == [1, 4, 7, 70]
    for name, leaf in rows.tree.items():
        assert leaf.dtype == leaves()[name].dtype
        np.testing.assert_array_equal(leaf, leaves()[name])


def test_only_wanted_rows_are_changed_some_at_a_time():
    wanted = jnp.asarray([False, True, True, False, True, False, True])
    change = lambda tree: {**tree, "a": tree["a"] + 10, "count": -tree["count"] - 1}
    old = leaves()
    first = on_some_rows(change, pack_rows(old), wanted, 3).tree
    is_first = np.arange(7) <= 4
    new = np.where(wanted & is_first, old["a"] + 10, old["a"])
    np.testing.assert_array_equal(first["a"], new)
    np.testing.assert_array_equal(first["w"], old["w"])
    is_left = lambda tree: wanted & (tree["count"] >= 0)
    change_all = lambda _, tree: change(tree)
    every = on_wanted_rows(change_all, is_left, (), pack_rows(old), 3).tree
    np.testing.assert_array_equal(every["a"], np.where(wanted, old["a"] + 10, old["a"]))
