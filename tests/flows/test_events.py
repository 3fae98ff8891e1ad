"""Pieces of the event handling: zeros of cubics, and loops over members."""

import jax
import jax.numpy as jnp
import numpy as np

from simbias.flows._relu.cubic import (
    Cubic,
    approximate_root,
    crosses_at_most_once,
    first_root,
    may_cross_twice,
    single_root,
)
from simbias.flows._relu.releases import _travelled
from simbias.numerics.conditionals import if_else, repeat_while


def cubics(bend=1.0, count=2000):
    """Cubics that start positive and are bent as much as said, and their zeros."""
    rng = np.random.default_rng(0)
    h0, h1, v0, v1 = rng.normal(size=(4, 1, count))
    h0 = np.abs(h0)
    v0, v1 = (h1 - h0 + bend * v for v in (v0, v1))
    p = Cubic(*map(jnp.asarray, (h0, v0, h1, v1)))
    c2, c3 = p.coefficients()
    zeros = []
    for c in zip(*(np.asarray(v[0]) for v in (c3, c2, p.v0, p.h0)), strict=True):
        real = [z.real for z in np.roots(c) if abs(z.imag) < 1e-9]
        zeros.append(min((z for z in real if 0 < z < 1), default=np.inf))
    return p, np.asarray(zeros)


ROUNDING = jnp.asarray(1e-14)


def test_the_first_zero_is_that_of_numpy():
    p, zeros = cubics()
    rough = np.asarray(approximate_root(p, ROUNDING))[0]
    np.testing.assert_array_equal(np.isfinite(rough), np.isfinite(zeros))
    crosses = np.isfinite(zeros)
    some = jax.tree.map(lambda v: v[0][crosses], p)
    np.testing.assert_allclose(first_root(some), zeros[crosses], atol=1e-9)


def test_rough_zeros_of_what_is_hardly_bent_say_which_comes_first():
    p, zeros = cubics(bend=0.05)
    rough = np.asarray(approximate_root(p, ROUNDING))[0]
    crosses = np.isfinite(zeros)
    apart = np.abs(rough[crosses] - zeros[crosses])
    assert np.median(apart) < 1e-4
    assert np.quantile(apart, 0.99) < 1e-2


def test_what_is_called_plain_needs_no_look_at_the_minimum():
    p, zeros = cubics()
    plain = np.asarray(crosses_at_most_once(p, ROUNDING))[0]
    assert 0.3 < plain.mean() < 0.9
    short, whole = (
        np.asarray(f(p, ROUNDING))[0] for f in (single_root, approximate_root)
    )
    np.testing.assert_array_equal(short[plain], whole[plain])
    # Every cubic that goes below zero and comes back is looked at.
    dips = np.isfinite(zeros) & np.asarray(p.h1 > 0)[0]
    assert np.all(np.asarray(may_cross_twice(p, ROUNDING))[0][dips])


def test_a_plain_zero_is_newtons_first_from_the_line_where_the_cubic_falls():
    rng = np.random.default_rng(1)
    h0, v0, v1 = rng.normal(size=(3, 3000))
    h0, h1 = np.abs(h0), -np.abs(rng.normal(size=3000))
    h0[:5] = [0, 0, -1e-16, 0, 0]
    p = Cubic(*(jnp.asarray(v)[None] for v in (h0, v0, h1, v1)))
    got = np.asarray(single_root(p, ROUNDING))
    cubic = [h0, v0, 3 * (h1 - h0) - 2 * v0 - v1, 2 * (h0 - h1) + v0 + v1]
    line = h0 / (h0 - h1)
    value = np.polynomial.polynomial.polyval(line, cubic, tensor=False)
    slope = cubic[1] + 2 * cubic[2] * line + 3 * cubic[3] * line**2
    with np.errstate(divide="ignore"):
        newton = line - value / slope
    is_better = (slope < 0) & (newton > 0) & (newton < 1)
    assert 0.05 < 1 - is_better.mean() < 0.95
    expected = np.where(h0 <= 0, 0, np.where(is_better, newton, line))
    np.testing.assert_allclose(got[0], expected, rtol=1e-9, atol=1e-12)


def test_a_sliding_neuron_at_rest_sets_off_where_its_speed_turns_positive():
    # Speed linear from −1 to 3 over 2: positive for the last 3/2, at 3/2 on average.
    far = [
        (0.0, -1.0, 3.0, 2.25),
        (1.0, -1.0, 3.0, 3.0),
        (0.5, 1.0, -3.0, 0.0),
        (0.0, 1.0, 2.0, 3.0),
        (-1.0, -2.0, -1.0, 0.0),
        # Also where the speed does not change at all.
        (-1.0, -1.0, -1.0, 0.0),
    ]
    distance, before, after, expected = np.asarray(far).T[:, None]
    got = _travelled(*map(jnp.asarray, (distance, before, after)), jnp.asarray(2.0))
    np.testing.assert_allclose(got, expected, rtol=1e-12)


def test_each_member_takes_its_own_branch():
    branch = if_else(lambda v: (v + 1, v > 0), lambda v: (2 * v, v < 0))
    holds, values = jnp.asarray([True, False, True]), jnp.asarray([3.0, 5.0, -2.0])
    alone = [branch(h, v) for h, v in zip(holds, values, strict=True)]
    found, sign = jax.jit(jax.vmap(branch))(holds, values)
    np.testing.assert_array_equal(found, [4.0, 10.0, -1.0])
    np.testing.assert_array_equal(found, [v for v, _ in alone])
    np.testing.assert_array_equal(sign, [s for _, s in alone])


def test_a_member_turns_as_often_beside_others_as_alone():
    def change(step, value):
        return jnp.where(value < 10, value + step, value)

    turns = repeat_while(lambda value: value < 10, change)
    steps, values = jnp.asarray([1.0, 3.0, 7.0]), jnp.asarray([0.0, 1.0, 20.0])
    alone = [turns(s, v) for s, v in zip(steps, values, strict=True)]
    np.testing.assert_array_equal(jax.jit(jax.vmap(turns))(steps, values), alone)
    shared = jax.vmap(lambda v: turns(jnp.asarray(3.0), v))(values)
    np.testing.assert_array_equal(shared, [12.0, 10.0, 20.0])
