"""Where networks of which the limit can be written down go."""

import dataclasses

import equinox as eqx
import jax
import jax.numpy as jnp
import numpy as np
import pytest

import simbias
from simbias import losses
from simbias.core import Dataset
from simbias.errors import BadInput
from simbias.flows.relu_flow import ReluFlow
from simbias.limits.basin import basin
from simbias.limits.landing_point import landing_point
from simbias.limits.neurons import read
from simbias.networks.two_layer import TwoLayer


def sample(x, y):
    x, y = jnp.asarray(x, float), jnp.asarray(y, float)[:, None]
    return Dataset(x, y, jnp.ones(len(x)), y, jnp.zeros((0, x.shape[1])))


def network(w, a, **options):
    a = jnp.asarray(a, float)[:, None]
    return TwoLayer(jnp.asarray(w, float), a, None, jax.nn.relu, **options)


@eqx.filter_jit
def known(network, data):
    return basin(*read(network, data, losses.half_mse))


landing = eqx.filter_jit(landing_point)


def ended(network, data, time):
    flow, loss = ReluFlow(rtol=1e-10), losses.half_mse
    return simbias.solve(network, data, flow, loss, (time,), {}).network


def rows(network):
    return np.concatenate([network.w, network.a], axis=1)


def apart(one, other, size):
    size = np.linalg.norm(rows(size), axis=1)
    return (np.linalg.norm(rows(one) - rows(other), axis=1) / size).max()


def risk(network, data):
    f = jax.vmap(network)(data.x)
    return float(losses.half_mse(f, data.y, data.weight))


@pytest.mark.slow
@pytest.mark.parametrize(
    "options", [{}, pytest.param({"frozen": ("a",)}, marks=pytest.mark.long)]
)
def test_the_landing_point_is_as_near_to_the_end_of_the_flow_as_it_says(options):
    rng = np.random.default_rng(0)
    x = rng.standard_normal((40, 2))
    data = sample(x, x.sum(axis=1) / 2**0.5 + 0.3 * rng.standard_normal(40))
    rng, sign = np.random.default_rng(1), np.tile([-1.0, 1.0], 3)
    w = sign[:, None] * (np.ones(2) / 2**0.5 + 0.1 * rng.standard_normal(2))
    w *= 1 + 0.3 * rng.random((6, 1))
    start = network(w, sign * np.linalg.norm(w, axis=1), **options)
    with simbias.exact_numerics():
        flow, loss = ReluFlow(rtol=1e-10), losses.half_mse
        times = (10.0, 20.0, 30.0, 300.0)
        kept = {"w": lambda n, _: n.w, "a": lambda n, _: n.a}
        way = simbias.solve(start, data, flow, loss, times, kept)
        seen = 0
        for i in range(3):
            weights = tuple(jnp.asarray(way.records[k][i]) for k in ("w", "a"))
            here = eqx.tree_at(lambda n: (n.w, n.a), way.network, weights)
            found = landing(here, data, loss)
            seen += bool(found.is_known)
            if found.is_known:
                assert apart(way.network, here, here) <= found.distance * 1.0001
                missed = apart(way.network, found.network, here)
                # The flow itself is known to about its rtol.
                assert missed <= float(found.error) + 1e-9
                assert found.error < 0.02 * found.distance
                end = risk(way.network, data)
                assert float(found.loss) == pytest.approx(end, rel=1e-12)
    assert seen >= 2


@pytest.mark.slow
def test_what_is_left_to_fit_along_a_tiny_input_is_not_taken_for_the_end():
    """Residuals (1, −1)/10 have no force along (1, 1), and one of 1e-6 along the other.

    That mode is below what can be told from none at all, and takes all of the loss away
    in the end.
    """
    data = sample([[1.0, 1e-6], [1.0, -1e-6]], [1.1, 0.9])
    start = network([[1.0, 0.0]], [1.0])
    with simbias.exact_numerics():
        found = known(start, data)
        fitted = known(start, sample(data.x, [1.0, 1.0]))
    assert fitted.is_known
    assert not found.is_known
    assert found.distance == np.inf


@pytest.mark.slow
@pytest.mark.parametrize("size", [0.8, pytest.param(1.2, marks=pytest.mark.long)])
@pytest.mark.parametrize("copies", [pytest.param(1, marks=pytest.mark.long), 2])
def test_a_neuron_may_leave_a_hyperplane_off_which_nothing_is_left_to_fit(size, copies):
    """It fits (1, ½) alone, and is held from above by (0, 1), with a label below 0.

    From below it is pushed to its hyperplane only while f < 1 on the other.  Copies are
    multiples, and opposites that are fitted by nobody.
    """
    across, below = [[0.0, 1.0], [0.0, 2.0]], [-1.0, -1.0]
    data = sample([[1.0, 0.5], *across[:copies]], [1.0, *below[:copies]])
    size = float(np.sqrt(size))
    start = network([[size, 0.0]], [size])
    with simbias.exact_numerics():
        found, lands = known(start, data), landing(start, data, losses.half_mse)
        end = ended(start, data, 200.0)
        later = known(end, data)
    least = copies / 2 / (1 + copies)
    assert float(found.least) == pytest.approx(least, rel=1e-12)
    assert risk(end, data) == pytest.approx(least, rel=1e-12)
    assert (np.asarray(end.w)[0, 1] < -1e-3) == (size > 1)
    for one in (found, later):
        assert apart(end, start if one is found else end, start) <= one.distance
    assert later.is_known
    assert apart(end, lands.network, start) <= float(lands.error)


@pytest.mark.slow
def test_duplicates_and_opposites_on_which_a_neuron_slides_are_one_hyperplane():
    """All that the neuron slides on hold it: f = 0 there, and 1 where it fits."""
    x, y = [[1.0, 0.5], [0.0, 1.0], [0.0, 1.0], [0.0, -3.0]], [1.0, -1.0, -1.0, -1.0]
    data = sample(x, y)
    with simbias.exact_numerics():
        # Pushed up by its own sample, which it does not fit yet, and by the opposite.
        start = network([[0.9, 0.0]], [0.9])
        end = ended(start, data, 300.0)
        found = known(end, data)
        # One of each hyperplane with the labels that push as much: not the same limit
        # of the loss, but the same neurons.
        few = dataclasses.replace(data, weight=jnp.asarray([1.0, 1.0, 0.0, 0.0]))
        other = ended(start, few, 300.0)
    assert np.abs(np.asarray(end.w)[0, 1]) < 1e-12
    assert found.is_known
    assert float(found.least) == pytest.approx(3 / 8, rel=1e-12)
    np.testing.assert_allclose(rows(end), rows(other), atol=1e-9)


@pytest.mark.slow
@pytest.mark.parametrize("ratio", [1.0, 1 - 2e-16, 1.5])
def test_nothing_is_known_of_a_neuron_that_fades_along_a_ray(ratio):
    """a > 0 where labels are −1: shrinks on the hyperplane of (0, 1), which holds it.

    If |w| is the larger by a rounding, a passes through 0 and the neuron grows again.
    """
    data = sample([[0.0, 1.0], [1.0, -1.0], [-1.0, 0.0]], [-2.0, -1.0, 1.0])
    small = 1e-4
    start = network([[small, 0.0], [-1.0, -0.5]], [ratio * small, 1.0])
    with simbias.exact_numerics():
        assert not known(start, data).is_known


@pytest.mark.slow
@pytest.mark.parametrize("side", [-1.0, 0.0, 1.0])
def test_a_neuron_beside_the_plane_of_mirror_images_is_not_dead(side):
    """All other samples are fitted as well as they can be, and leave it a force."""
    rest = 3e-4
    data = sample([[1, 0], [-1, 0], [0, 1], [1, 1]], [1, -0.5, 1, 2 - 3 * rest])
    size = np.sqrt((1 - rest) / np.sqrt(2))
    w, a = [size, size], np.sqrt(2) * size
    start = network([w, [side * 1e-16, -0.01]], [a, 0.01])
    with simbias.exact_numerics():
        found, alone = known(start, data), known(network([w], [a]), data)
    assert alone.is_known
    assert alone.distance < 1e-9
    assert not found.is_known


@pytest.mark.slow
@pytest.mark.parametrize(
    ("a", "fitted", "is_known"), [(1e-4, -1e-5, False), (0.1, 0.0999, True)]
)
def test_a_neuron_that_slides_must_be_sure_of_the_sign_of_a(a, fitted, is_known):
    """It slides on the plane of (1, 0, 0), |w| > |a|, and fits `fitted` in the end."""
    x = [[1, 0, 0], [-0.3, 1, 0], [0.5, 1, 0], [0, 0, 1]]
    data = sample(x, [-1, fitted - 0.5, fitted + 0.5, 1])
    start = network([[0.0, 1.0, -0.5], [-0.3, -0.6, 1.0]], [a, 1.0])
    with simbias.exact_numerics():
        assert bool(known(start, data).is_known) == is_known


@pytest.mark.slow
def test_a_living_neuron_within_rounding_of_its_only_plane_is_not_dead():
    single = lambda tree: jax.tree.map(lambda v: v.astype(jnp.float32), tree)
    data = single(sample([[1.0, 0.0], [0.0, 1.0]], [0.5, 1.0]))
    at = lambda h: single(network([[-0.3, 1.0], [h, -1.0]], [1.0, 1.0]))
    assert not known(at(5e-5), data).is_known
    assert not known(at(0.0), data).is_known
    assert known(at(-5e-4), data).is_known


@pytest.mark.slow
@pytest.mark.parametrize(
    ("h", "a", "is_known"),
    [
        (1e-13, 1e-15, False),
        (1e-14, 1e-300, False),
        (0.0, 1e-14, False),
        (1e-14, 1e-2, True),
        (-1e-3, 1e-300, True),
    ],
)
def test_a_dead_neuron_on_its_plane_must_be_sure_of_the_sign_of_a(h, a, is_known):
    """From h > a > 0 a passes through 0, and the neuron fits the label of (1, 0)."""
    data = sample([[1.0, 0.0], [0.0, 1.0]], [-0.5, 1.0])
    start = network([[-0.3, 1.0], [h, -1.0]], [1.0, a])
    with simbias.exact_numerics():
        assert bool(known(start, data).is_known) == is_known


@pytest.mark.slow
@pytest.mark.parametrize(
    ("dtype", "h", "a", "is_known"),
    [
        ("float32", 5e-5, 1e-5, False),
        ("float64", 1e-13, 1e-14, False),
        ("float64", 0.0, 1e-3, True),
        ("float64", 0.0, -1e-12, False),
        ("float32", 0.0, -1e-5, False),
    ],
)
def test_a_sliding_neuron_within_rounding_must_be_sure_of_the_sign_of_a(
    dtype, h, a, is_known
):
    """Two neurons slide on the plane of (0, 1); a < 0 would be pushed off it."""
    of = lambda tree: jax.tree.map(lambda v: v.astype(dtype), tree)
    data = of(sample([[1.0, 0.5], [1.0, -0.5], [0.0, 1.0]], [1.5, 0.5, -1.0]))
    size = (1 - max(a, 0) * 0.5) ** 0.5
    start = of(network([[size, 0.0], [0.5, h]], [size, a]))
    with simbias.exact_numerics():
        assert bool(known(start, data).is_known) == is_known


@pytest.mark.parametrize(("label", "is_known"), [(-0.5, True), (0.5, False)])
def test_a_dead_neuron_on_its_plane_stays_if_it_is_pushed_back(label, is_known):
    data = sample([[1.0, 0.0], [0.0, 1.0]], [label, 1.0])
    start = network([[-0.3, 1.0], [0.0, -1.0]], [1.0, 1.0])
    with simbias.exact_numerics():
        assert bool(known(start, data).is_known) == is_known


@pytest.mark.slow
def test_what_has_no_landing_point_is_named():
    data = sample([[1.0, 0.0]], [1.0])
    one = network([[1.0, 0.0]], [1.0])
    with pytest.raises(BadInput, match="half_mse"):
        landing_point(one, data, losses.logistic)
    with pytest.raises(BadInput, match="ReLU"):
        landing_point(dataclasses.replace(one, activation=jnp.tanh), data, losses.mse)
