"""Neurons that leave the planes they slide on, worked out by hand."""

import equinox as eqx
import jax
import jax.numpy as jnp
import numpy as np
import pytest

from simbias import losses
from simbias.core import Dataset
from simbias.flows._relu.frozen_field import extended_sample
from simbias.flows._relu.releases import EndState, release
from simbias.flows._relu.sliding import dual_basis, sliding_normals
from simbias.flows._relu.step_trajectory import Sliding

# Its operations one by one take longer to compile than all together.
sampled = eqx.filter_jit(extended_sample)

LENGTH = 0.5
let_go = jax.jit(release, static_argnames=("slope", "rows"))


def released(
    below, pull, before, planes=(1,), excursion=0.0, tolerance=1e-3, last=(0, 0, 1)
):
    """One neuron with a = 1 on the planes of some unit vectors, after a step.

    `below` are its speeds from below all planes, `pull` the loss of speed above each,
    `before` the speeds (below, above) on every plane when the step began.
    """
    x = jnp.eye(3).at[2].set(jnp.asarray(last, float))
    data = Dataset(x, x[:, :1], jnp.ones(3), x[:, :1], jnp.zeros((0, 3)))
    sample = sampled(data, losses.half_mse, has_bias=False)
    plane = jnp.asarray([planes], jnp.int32)
    speeds = jnp.asarray([before], float)
    sliding = Sliding(
        plane=plane,
        dual=dual_basis(sliding_normals(sample.normal, plane)),
        speed_below=speeds[:, :, 0],
        speed_above=speeds[:, :, 1],
        excursion=jnp.full(plane.shape, excursion),
    )
    none = jnp.zeros(1, jnp.int32)
    start = EndState(
        w=jnp.asarray([[0.0, 0.0, 1.0]]),
        a=jnp.ones((1, 1)),
        moment=jnp.asarray(below, float)[None, None],
        is_above=jnp.asarray([[False, False, True]]),
        sliding=sliding,
        released=none,
        nonunique_events=none,
        overshoots=jnp.zeros(1, bool),
    )
    pull = jnp.asarray(pull, float)[:, None]
    left = jnp.asarray([tolerance])
    return let_go(
        start,
        sample,
        pull,
        jnp.asarray(LENGTH),
        0.0,
        left,
        rows=1,
        follow_own_events=None,
    )


# A speed from −b to c, linear in time, is positive for the last c/(b + c) of the step.
def travelled(rest, now):
    return LENGTH / 2 * now**2 / (rest + now)


@pytest.mark.slow
@pytest.mark.parametrize("plane", [0, 1])
def test_a_neuron_let_go_upwards_is_active_and_as_far_as_it_would_be(plane):
    # Below 1, above 1 − 0.4; before it was −0.2 above.
    below, pull = np.array([0.0, 0.0, 0.5]), np.array([0.3, 0.2, 0.0])
    below[plane], pull[plane] = 1.0, 0.4
    end = released(below, pull, [(0.9, -0.2)], planes=(plane,))
    far = travelled(0.2, 0.6)
    expected = np.array([0.0, 0.0, 1.0])
    expected[plane] = far
    np.testing.assert_allclose(end.w[0], expected, rtol=1e-12)
    below[plane] = 0.6
    np.testing.assert_allclose(end.moment[0, 0], below, rtol=1e-12)
    assert end.is_above[0].tolist() == [plane == 0, plane == 1, True]
    assert end.sliding.plane.tolist() == [[-1]]
    assert [int(v[0]) for v in (end.released, end.nonunique_events)] == [1, 0]


@pytest.mark.slow
def test_a_neuron_let_go_downwards_is_inactive():
    end = released([0.0, -0.5, 0.5], [0.0, 0.4, 0.0], [(0.3, -0.1)])
    far = travelled(0.3, 0.5)
    np.testing.assert_allclose(end.w[0], [0, -far, 1], rtol=1e-12)
    np.testing.assert_allclose(end.moment[0, 0], [0, -0.5, 0.5])
    assert end.is_above[0].tolist() == [False, False, True]
    assert end.sliding.plane.tolist() == [[-1]]
    assert [int(v[0]) for v in (end.released, end.nonunique_events)] == [1, 0]


def test_a_neuron_that_has_hardly_left_slides_on_and_the_distance_is_noted():
    end = released([0.0, 1.0, 0.5], [0.0, 0.4, 0.0], [(0.9, -0.2)], tolerance=1.0)
    np.testing.assert_array_equal(end.w[0], [0, 0, 1])
    assert end.sliding.plane.tolist() == [[1]]
    assert float(end.sliding.excursion[0, 0]) == pytest.approx(travelled(0.2, 0.6))
    assert int(end.released[0]) == 0


@pytest.mark.parametrize("share", [0.5, 2.0])
def test_who_catches_up_across_another_plane_says_so(share):
    far = travelled(0.2, 0.6)
    arguments = [0.0, 1.0, 0.5], [0.3, 0.4, 0.0], [(0.9, -0.2)]
    end = released(*arguments, last=(0, -1, share * far))
    assert float(end.w[0, 1]) == pytest.approx(far)
    assert bool(end.overshoots[0]) == (share < 1)
    # By no more than twice the tolerance: the next step begins with that plane.
    end = released(*arguments, last=(0, -1, share * far), tolerance=0.3 * far)
    assert not bool(end.overshoots[0])


@pytest.mark.parametrize("excursion", [0.0, 0.01])
def test_a_plane_that_holds_again_forgets_how_far_the_neuron_had_left(excursion):
    end = released([0.0, 0.5, 0.5], [0.0, 1.0, 0.0], [(0.5, -0.5)], excursion=excursion)
    assert end.sliding.plane.tolist() == [[1]]
    assert float(end.sliding.excursion[0, 0]) == 0
    assert int(end.released[0]) == 0


@pytest.mark.parametrize("planes", [(0, 1), (1, 0), (1, -1, 0)])
def test_of_two_planes_the_one_that_holds_stays(planes):
    before = [{0: (0.5, -0.5), 1: (0.9, -0.2), -1: (0.0, 0.0)}[p] for p in planes]
    end = released([0.5, 1.0, 0.5], [1.0, 0.4, 0.0], before, planes)
    np.testing.assert_allclose(end.w[0], [0, travelled(0.2, 0.6), 1], rtol=1e-12)
    assert end.sliding.plane.tolist() == [[0 if p == 0 else -1 for p in planes]]
    assert end.is_above[0].tolist() == [False, True, True]
    assert int(end.released[0]) == 1


def test_a_neuron_that_nothing_pushes_up_from_below_has_died_and_leaves():
    end = released([0.0, 0.0, 0.0], [0.0, 0.4, 0.0], [(0.0, -0.4)])
    np.testing.assert_array_equal(end.w[0], [0, 0, 1])
    assert end.sliding.plane.tolist() == [[-1]]
    assert not bool(end.is_above[0, 1])
    assert int(end.released[0]) == 1


@pytest.mark.parametrize(("below", "goes_up"), [(-0.1, True), (-0.3, False)])
def test_from_a_kink_that_has_turned_concave_it_goes_where_it_is_faster(below, goes_up):
    end = released([0.0, below, 0.5], [0.0, -0.4, 0.0], [(0.1, -0.1)])
    assert bool(end.is_above[0, 1]) == goes_up
    assert (float(end.w[0, 1]) > 0) == goes_up
    assert end.sliding.plane.tolist() == [[-1]]
    assert [int(v[0]) for v in (end.released, end.nonunique_events)] == [1, 1]
