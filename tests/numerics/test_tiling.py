"""Work cut into tiles gives what it gives whole."""

import jax
import jax.numpy as jnp
import numpy as np
import pytest

from simbias.core import Dataset
from simbias.flows._relu.frozen_field import extended_sample, frozen_field
from simbias.losses import half_mse
from simbias.numerics import tiling
from simbias.numerics.conditionals import when
from simbias.numerics.tiling import columns_cut, columns_joined, tiles


def test_tiles_hold_all_neurons_and_stay_small():
    for n, m in ((1, 1), (1000, 10_000), (100_000, 37), (10_000_000, 3)):
        count, width = tiles(n, m, 8)
        assert count * width >= m > (count - 1) * width
        assert count == 1 or width <= 16 or n * width * 8 <= tiling._TILE_BYTES


def test_long_products_are_not_computed_twice():
    assert tiles(1000, 1000, 8, 5)[0] > 1
    assert tiles(1000, 1000, 8, 20) == (1, 1000)
    assert tiles(10_000, 10_000, 8, 1000)[0] > 1


def test_columns_are_cut_and_joined():
    rows = jnp.arange(14.0).reshape(2, 7)
    pieces = columns_cut(rows, 3, 3)
    assert pieces.shape == (3, 2, 3)
    np.testing.assert_array_equal(columns_joined(pieces, 7), rows)


@pytest.mark.slow
@pytest.mark.parametrize("slope", [0.0, 0.1])
def test_the_frozen_field_in_tiles_is_the_whole_one(slope, monkeypatch):
    rng = np.random.default_rng(0)
    draw = lambda *shape: jnp.asarray(rng.standard_normal(shape))
    n, m, d, k = 9, 37, 4, 2
    data = Dataset(draw(n, d), draw(n, k), jnp.ones(n), draw(n, k), jnp.zeros((0, d)))
    sample = extended_sample(data, half_mse, has_bias=False)
    is_active, w, a = draw(m, n) > 0, draw(d, m), draw(k, m)
    sliding, dual = jnp.full((m, 1), -1, jnp.int32), jnp.zeros((m, 1, d))
    rates = []
    for most in (2**22, 64):
        monkeypatch.setattr(tiling, "_TILE_BYTES", most)
        field = frozen_field(is_active, slope, sliding, dual, sample)
        assert field.pattern.shape[0] == (1 if most > 64 else 3)
        rates.append(field(w, a))
    for whole, cut in zip(*map(jax.tree.leaves, rates), strict=True):
        np.testing.assert_allclose(cut, whole, rtol=1e-12, atol=1e-12)


def test_a_branch_is_taken_by_the_members_it_is_for():
    change = lambda context, carry: (carry[0] + context, carry[1] - 1)
    conditions = jnp.asarray([True, False, True])
    carry = (jnp.arange(3.0), jnp.arange(3))
    for some in (conditions, jnp.zeros(3, bool)):
        out = jax.vmap(when(change), in_axes=(0, None, 0))(some, 10.0, carry)
        taken = np.asarray(some)
        np.testing.assert_array_equal(out[0], np.arange(3) + 10 * taken)
        np.testing.assert_array_equal(out[1], np.arange(3) - taken)
    # One condition for all members, and carries of their own.
    out = jax.vmap(when(change), in_axes=(None, 0, 0))(
        jnp.array(True), jnp.ones(3), carry
    )
    np.testing.assert_array_equal(out[0], carry[0] + 1)
