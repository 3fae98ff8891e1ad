"""Events of the exact flow of deep networks in a film of the boundary."""

import jax
import jax.numpy as jnp
import numpy as np
import pytest

import simbias
from simbias.core import EventKind
from simbias.figures.style import blank, style
from simbias.films.activation_boundaries import activation_boundaries
from simbias.films.boundary import boundary
from simbias.films.events import Events, events_of
from simbias.films.training import Training
from simbias.flows import DeepReluFlow
from simbias.losses import half_mse
from simbias.networks import Mlp, balanced, mlp

X = np.array([[1.0, 0.0], [0.0, 1.0], [-1.0, -1.0]])
# Neuron 1 of the second layer slides on sample 2 from 1 to 3; sample 0 is crossed at 2.
EVENTS = Events(
    time=np.array([1.0, 2.0, 3.0]),
    layer=np.array([1, 0, 1]),
    neuron=np.array([1, 0, 1]),
    sample=np.array([2, 0, 2]),
    kind=np.array([EventKind.SLIDES, EventKind.CROSSES_UP, EventKind.LEAVES_DOWN]),
)


def sample():
    y = jnp.asarray([[1.0], [1.0], [-1.0]])
    return simbias.Dataset(jnp.asarray(X), y, jnp.ones(3), y, jnp.eye(2))


def training(events=EVENTS, records=5):
    rng = np.random.default_rng(0)
    shapes = (3, 2), (2, 3), (1, 2)
    draw = lambda: tuple(jnp.asarray(rng.standard_normal(v)) for v in shapes)
    nets = [Mlp(draw(), (None,) * 3) for _ in range(records)]
    networks = jax.tree.map(lambda *v: jnp.stack(v), *nets)
    times = np.arange(records, dtype=float)
    return Training(times, networks, sample(), half_mse, "", events)


def test_a_unit_slides_from_its_slide_to_its_release():
    found = [EVENTS.sliding(now) for now in (0.5, 1.0, 2.9, 3.0)]
    assert found == [set(), {(1, 1, 2)}, {(1, 1, 2)}, set()]


def test_places_without_an_event_are_left_out():
    row = lambda *v: np.array([*v, np.nan])
    values = {"event_time": row(0.5, 1.0), "event_layer": row(0, 1)}
    values |= {"event_neuron": row(2, 3), "event_sample": row(4, 5)}
    found = events_of(values | {"event_kind": row(1, 3)})
    assert found is not None
    assert found.neuron.tolist() == [2, 3]
    assert found.times_of(EventKind.SLIDES).tolist() == [1.0]
    assert events_of({"event_time": row(0.5)}) is None


def test_rings_mark_the_samples_of_events():
    with style():
        axes = blank().subplots()
        show = boundary(training()).draw(axes)
    rings = {line.get_label(): line for line in axes.lines}
    places = lambda label: np.asarray(rings[label].get_xydata())
    show(2)
    np.testing.assert_array_equal(places("slides"), X[[2]])
    np.testing.assert_array_equal(places("crosses"), X[[0]])
    assert len(places("is released")) == 0
    show(3)
    assert len(places("slides")) == 0
    np.testing.assert_array_equal(places("is released"), X[[2]])


def test_pre_activations_are_those_of_the_network():
    run = training()
    found = activation_boundaries(run, X)
    assert sorted(found) == [(0, 0), (0, 1), (0, 2), (1, 0), (1, 1)]
    w, v, _ = (np.asarray(one)[3] for one in run.networks.weights)
    np.testing.assert_allclose(found[0, 2][3], X @ w[2], atol=1e-12)
    second = np.maximum(X @ w.T, 0) @ v.T
    np.testing.assert_allclose(found[1, 1][3], second[:, 1], atol=1e-12)


def test_networks_without_gates_have_no_boundaries_of_units_in_a_film():
    net = balanced(jax.random.key(0), m=3, d=2)
    stacked = jax.tree.map(lambda v: jnp.stack([v, v]), net)
    run = Training(np.arange(2.0), stacked, sample(), half_mse, "")
    assert activation_boundaries(run, X) == {}


@pytest.mark.long
def test_a_run_without_networks_is_integrated_again_with_its_events():
    def make(key):
        return sample(), mlp(key, (2, 3, 2, 1))

    experiment = simbias.Experiment(
        name="tiny",
        make=make,
        cell={},
        seeds=2,
        flow=DeepReluFlow(rtol=1e-4),
        loss=half_mse,
        times=(0.0, 4.0),
        measures={},
    )
    ds = simbias.simulate(experiment)
    film = simbias.animate(ds, experiment, kind="boundary", seed=1, frames=5)
    axes = film.figure.get_axes()
    labels = {line.get_label() for one in axes for line in one.lines}
    assert {"slides", "crosses", "is released", "begins to slide"} <= labels
