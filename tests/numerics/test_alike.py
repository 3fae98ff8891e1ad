"""Rows that are equal."""

import jax.numpy as jnp
import numpy as np
import pytest

from simbias.numerics.alike import alike


def test_rows_of_one_class_are_equal_and_those_of_others_are_not():
    rng = np.random.default_rng(0)
    rows = rng.random((5, 30)) < 0.5
    which = rng.integers(0, 5, 40)
    first, kind, is_enough = alike(jnp.asarray(rows[which]), jnp.ones(40, bool), 8)
    assert is_enough
    kind = np.asarray(kind)
    same = kind[:, None] == kind[None, :]
    np.testing.assert_array_equal(same, which[:, None] == which[None, :])
    np.testing.assert_array_equal(rows[which][np.asarray(first)[kind]], rows[which])


@pytest.mark.slow
def test_more_classes_than_room_are_told():
    rows = jnp.asarray(np.eye(6, dtype=bool))
    assert alike(rows, jnp.ones(6, bool), 6)[2]
    assert not alike(rows, jnp.ones(6, bool), 5)[2]


def test_rows_that_are_not_meant_need_no_room():
    rows = jnp.asarray(np.eye(6, dtype=bool))
    is_meant = jnp.asarray([False, True, False, True, False, False])
    first, kind, is_enough = alike(rows, is_meant, 2)
    assert is_enough
    assert {int(first[kind[1]]), int(first[kind[3]])} == {1, 3}
    assert alike(rows, jnp.zeros(6, bool), 2)[2]
