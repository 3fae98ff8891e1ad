"""What happens at one hyperplane, worked out by hand for a single neuron."""

import dataclasses

import equinox as eqx
import jax.numpy as jnp
import numpy as np
import pytest

from simbias import losses
from simbias.core import Dataset
from simbias.flows._relu.crossings import _next_event, _redirected
from simbias.flows._relu.event_rules import (
    Decision,
    _share_in_span,
    decide,
    first_plane,
    jumps_at,
)
from simbias.flows._relu.frozen_field import extended_sample
from simbias.flows._relu.single_neuron import Point, displacement
from simbias.flows._relu.sliding import dual_basis, sliding_normals
from simbias.flows._relu.step_error import _root_mean_square
from simbias.flows._relu.step_trajectory import (
    Sliding,
    StepData,
    Trajectory,
    no_sliding,
)

# Its operations one by one take longer to compile than all together.
sampled = eqx.filter_jit(extended_sample)


def sample(x):
    x = jnp.asarray(x, float)
    y = jnp.zeros((len(x), 1))
    data = Dataset(x, y, jnp.ones(len(x)), y, jnp.zeros((0, x.shape[1])))
    return sampled(data, losses.half_mse, has_bias=False)


def rows(*values):
    return jnp.asarray(values, float)


def trajectory(data, start, end, is_above, slides_on=()):
    """One neuron with a = 1 from `start` to `end`; nothing has happened yet."""
    zero, none = jnp.zeros((1, data.x.shape[1])), jnp.zeros(1)
    count = jnp.zeros(1, jnp.int32)
    point = lambda w: Point(rows(w), rows([1.0]), zero, rows([0.0]))
    sliding = no_sliding(zero, 2)
    plane = sliding.plane.at[0, : len(slides_on)].set(jnp.asarray(slides_on, jnp.int32))
    dual = dual_basis(sliding_normals(data.normal, plane))
    return Trajectory(
        fraction=none,
        start=point(start),
        end=point(end),
        is_above=jnp.asarray([is_above]),
        sliding=Sliding(
            plane, dual, sliding.speed_below, sliding.speed_above, sliding.excursion
        ),
        moment_start=zero[:, None],
        moment_end=zero[:, None],
        shift=none,
        remaining_shift=none,
        event_count=count,
        crossings=count,
        slides=count,
        released=count,
        nonunique_events=count,
        has_no_slot=jnp.zeros(1, bool),
        is_pending=jnp.ones(1, bool),
        events=None,
    )


def constant(data, pull):
    """A step of length 1 whose pulls do not change."""
    pull = jnp.asarray(pull, float)[:, None]
    return StepData(data, pull, pull, jnp.asarray(1.0), 0.0, jnp.asarray(1e-5))


@pytest.mark.slow
def test_the_gain_of_speed_at_a_plane_is_linear_in_time_as_the_residuals_are():
    data = sample([[1.0, 0.0], [0.0, 2.0]])
    rng = np.random.default_rng(0)
    early, late, a = rng.standard_normal((3, 2, 1))
    step = StepData(
        data,
        jnp.asarray(early),
        jnp.asarray(late),
        jnp.asarray(1.0),
        0.1,
        jnp.asarray(1e-5),
    )
    time = np.array([0.0, 0.25])
    plane = jnp.asarray([[0, 1], [1, 0]], jnp.int32)
    got = jumps_at(jnp.asarray(a), plane, jnp.asarray(time), step)
    pull = ((1 - time) * early + time * late)[np.asarray(plane), np.arange(2)[:, None]]
    np.testing.assert_allclose(got, -0.9 * a * pull, rtol=1e-12)


# A neuron that slides on x₁ meets the planes of x₂ and of x₁ + x₂ together.
DEPENDENT = [[1.0, 0, 0], [0, 1.0, 0], [1.0, 1.0, 0]]


@pytest.mark.slow
@pytest.mark.parametrize("is_above", [False, True])
@pytest.mark.parametrize(
    ("pull", "slides_on", "away", "first"),
    [
        # R < 0 at a concave plane, > 0 at a convex one, where a = 1.
        ((1.0, 1.0, -1.0), (0,), False, 2),
        ((1.0, 1.0, 1.0), (0,), False, 1),
        ((1.0, 1.0, -1.0), (0,), True, 1),
        # Without sliding it meets the one that it was found at.
        ((1.0, 1.0, -1.0), (), False, 1),
    ],
    ids=["concave", "convex", "leaves", "free"],
)
def test_of_planes_met_at_once_a_concave_one_comes_first(
    is_above, pull, slides_on, away, first
):
    data, side = sample(DEPENDENT), 1.0 if is_above else -1.0
    there, end = [0.0, 0.0, 1.0], [0.0, side * (0.1 if away else -0.1), 1.0]
    one = trajectory(
        data, [0.0, side, 1.0], end, [False, is_above, is_above], slides_on
    )
    at = Point(rows(there), *one.start[1:])
    k = jnp.asarray([1], jnp.int32)
    got, _ = first_plane(one, constant(data, pull), k, jnp.asarray([0.5]), at)
    assert got.tolist() == [first]


@pytest.mark.parametrize("width", [5, 12])
def test_the_share_in_a_span_is_that_of_the_orthogonal_projection(width):
    rng = np.random.default_rng(0)
    unit = rng.standard_normal((40, width))
    unit /= np.linalg.norm(unit, axis=1, keepdims=True)
    normals = unit[:9].reshape(3, 3, width).copy()
    normals[1, 2], normals[2] = 0.0, 0.0
    got = _share_in_span(jnp.asarray(normals), jnp.asarray(unit))
    for share, span in zip(got, normals, strict=True):
        expected = np.sum(unit @ np.linalg.pinv(span) @ span * unit, axis=1)
        np.testing.assert_allclose(share, expected, atol=1e-14)


@pytest.mark.slow
@pytest.mark.parametrize("order", [(0, 1, 2), (0, 2, 1)])
def test_a_sliding_neuron_crosses_the_concave_plane_of_those_it_meets(order):
    order = np.asarray(order)
    data = sample(np.asarray(DEPENDENT)[order])
    pull = np.array([1.0, 1.0, -1.0])[order]
    one = trajectory(
        data, [0.0, -1.0, 1.0], [0.0, 0.1, 1.0], [False] * 3, slides_on=(0,)
    )
    after = _next_event(constant(data, pull), one)
    np.testing.assert_allclose(after.start.w[0], [0, 0, 1], atol=1e-9)
    assert after.is_above[0].tolist() == (order == 2).tolist()
    assert int(after.crossings[0]) == 1


@pytest.mark.slow
@pytest.mark.parametrize("beyond", [0.3, 0.0])
@pytest.mark.parametrize("starts_sliding", [False, True])
def test_a_neuron_that_stays_ends_at_the_plane_and_the_way_back_is_counted(
    beyond, starts_sliding
):
    # Of the plane of x₁; x₂ = (0, 1, 0), if it slides on it, leaves (1, 0, 0) free.
    data = sample([[3.0, 4.0, 0.0], [0.0, 1.0, 0.0]])
    normal = np.array([0.6, 0.8, 0.0])
    free = np.array([1.0, 0.0, 0.0]) if starts_sliding else normal
    there, end = np.array([0.0, 0.0, 1.0]), np.array([0.0, 0.0, 2.0])
    slides_on = (1,) if starts_sliding else ()
    before = trajectory(
        data, there + free, end - beyond * free, [True, False], slides_on
    )
    at = Point(rows(there), *before.start[1:])
    no = jnp.zeros(1, bool)
    decision = Decision(
        plane=jnp.asarray([[1, 0, 0]], jnp.int32),
        is_used=jnp.asarray([[starts_sliding, False, True]]),
        side_change=jnp.zeros((1, 3), jnp.int32),
        is_kept=jnp.asarray([[starts_sliding, False]]),
        starts_sliding=no,
        stays=~no,
    )
    begin, step = jnp.asarray([0.25]), constant(data, [1.0, 1.0])
    after = _redirected(before, step, begin, at, decision)
    np.testing.assert_allclose(after.end.w[0], end, atol=1e-15)
    assert after.is_above.tolist() == [[True, False]]
    np.testing.assert_allclose(after.shift, [beyond], atol=1e-15)
    np.testing.assert_allclose(after.remaining_shift, [0.75 * beyond], atol=1e-15)
    again = _redirected(after, step, begin, at, decision)
    np.testing.assert_allclose(again.shift, after.shift, atol=1e-15)
    assert [int(c.crossings[0]) for c in (after, again)] == [0, 0]


@pytest.mark.slow
@pytest.mark.parametrize("sign", [1.0, -1.0])
def test_a_plane_is_slid_on_whichever_way_it_points(sign):
    # Free of x₁ the neuron rises at speed 1, above at 1 − 2: it slides.
    data = sample([[sign, sign]])
    normal = sign * np.array([1.0, 1.0]) / np.sqrt(2)
    moment = rows(normal)[:, None]
    one = trajectory(data, -normal, normal, [False])
    one = eqx.tree_at(lambda c: (c.moment_start, c.moment_end), one, (moment, moment))
    at = Point(rows([0.0, 0.0]), *one.start[1:])
    k, begin = jnp.zeros(1, jnp.int32), jnp.asarray([0.5])
    for pull, starts_sliding in ((2.0, True), (0.5, False)):
        decision = decide(one, constant(data, [pull]), k, begin, at)
        assert bool(decision.starts_sliding[0]) == starts_sliding
        assert not bool(decision.stays[0])
        assert int(decision.side_change[0, -1]) == (0 if starts_sliding else 1)


def test_a_lone_neuron_follows_hyperbolic_functions_and_linear_moments_to_order_4():
    w, a, drive = np.array([0.3, -0.2]), 0.7, np.array([0.6, 0.8])
    free = jnp.zeros((1, 0, 2)), jnp.zeros((1, 0, 2))
    zero = rows([0.0, 0.0]), rows([0.0])
    of = lambda frozen: dataclasses.replace(sample([w]), is_output_frozen=frozen)
    ends = []
    for length in (0.2, 0.1):
        moment = rows(drive)[:, None]
        at = Point(rows(w), rows([a]), *zero)
        left = jnp.asarray([length])
        dw, da = displacement(at, moment, moment, left, *free, of(False))
        along = w @ drive
        c, s = np.cosh(length) - 1, np.sinh(length)
        expected = np.append((c * along + s * a) * drive, c * a + s * along)
        ends.append(np.max(np.abs(np.append(dw[0], da[0]) - expected)))
    assert ends[0] < 1e-5
    assert ends[0] / ends[1] == pytest.approx(32, rel=0.2)
    # With a held fixed the velocity is linear in time.
    at = Point(rows(w), rows([a]), *zero)
    left = jnp.asarray([0.2])
    dw, da = displacement(at, 0 * moment, moment, left, *free, of(True))
    np.testing.assert_allclose(dw[0], 0.1 * a * drive, rtol=1e-12)
    assert float(da[0, 0]) == 0


def test_neurons_at_rest_do_not_loosen_an_error_and_alone_have_none():
    mean = lambda *v: float(_root_mean_square(*map(jnp.asarray, v), None))
    assert mean([3.0, 4.0], [1.0, 1.0]) == pytest.approx(np.sqrt(12.5))
    assert mean([3.0, 4.0, 0.0, 0.0], [1.0, 1.0, 0.0, 0.0]) == mean(
        [3.0, 4.0], [1.0, 1.0]
    )
    assert mean([0.0, 0.0], [0.0, 0.0]) == 0.0
