"""Events of deep networks on record: which, where, when, against the weights."""

import jax
import jax.numpy as jnp
import numpy as np
import pytest
from _deep_problems import distance, flat, flowed, problem, started

from simbias.core import EventKind
from simbias.flows.deep_relu_flow import DeepReluFlow
from simbias.losses import half_mse

ROOM = 400
UP = (EventKind.CROSSES_UP, EventKind.LEAVES_UP)
DOWN = (EventKind.CROSSES_DOWN, EventKind.LEAVES_DOWN)

pytestmark = pytest.mark.slow  # one program, of half a minute


def recorded(name, times, room=ROOM):
    """Weights with and without a record, and the events as rows."""
    net, data, loss, _ = problem(name)
    plain = flowed(net, data, times, loss)
    with_events = flowed(net, data, times, loss, events=room)
    history = DeepReluFlow(events=room).history(with_events[-1])
    events = {k.removeprefix("event_"): np.asarray(v) for k, v in history.items()}
    is_one = np.isfinite(events["time"])
    return net, data, plain, with_events, {k: v[is_one] for k, v in events.items()}


@pytest.fixture(scope="module")
def run():
    times = np.linspace(0, 6, 61)[1:]
    return times, *recorded("deep_two_hidden", times)


@pytest.mark.long
def test_a_record_of_events_changes_the_weights_by_no_more_than_rounding(run):
    # The other program adds in another order.
    _, _, _, plain, with_events, _ = run
    for one, other in zip(plain, with_events, strict=True):
        assert distance(flat(one.network), flat(other.network)) < 1e-12
    for name, count in plain[-1].stats.items():
        assert with_events[-1].stats[name] == count


def test_the_record_has_the_events_that_are_counted(run):
    *_, states, events = run
    stats, kind = states[-1].stats, events["kind"]
    count = lambda *kinds: int(np.isin(kind, kinds).sum())
    assert int(stats["slides"]) == count(EventKind.SLIDES) > 5
    leaving = EventKind.LEAVES_UP, EventKind.LEAVES_DOWN
    assert int(stats["releases"]) == count(*leaving) > 5
    crossing = EventKind.CROSSES_UP, EventKind.CROSSES_DOWN
    assert int(stats["crossings"]) == count(*crossing) > 10
    assert int(stats["events"]) == len(kind)
    assert (np.diff(events["time"]) >= 0).all()


def pre_activations(net, x):
    """z of both hidden layers, sample by sample."""
    first = net.weights[0] @ x
    return first, net.weights[1] @ jax.nn.relu(first)


def test_pre_activations_are_where_the_record_says(run):
    times, _, data, _, states, events = run
    z = [jax.vmap(lambda x, n=s.network: pre_activations(n, x))(data.x) for s in states]
    seen = {"up": 0, "down": 0, "slides": 0}
    names = ("layer", "neuron", "sample")
    rows = zip(*(events[name].astype(int) for name in names), strict=True)
    for layer, neuron, i in set(rows):
        mine = (events["layer"] == layer) & (events["neuron"] == neuron)
        mine &= events["sample"] == i
        at, kind = events["time"][mine], events["kind"][mine]
        for t, record in zip(times, z, strict=True):
            if not (at < t).any() or np.abs(at - t).min() < 1e-9:
                continue
            last, value = kind[at < t][-1], float(record[layer][i, neuron])
            # What is 0 for want of a live input has no side.
            if last == EventKind.SLIDES:
                assert abs(value) < 1e-9
                seen["slides"] += 1
            elif last in UP and value != 0:
                assert value > -1e-9
                seen["up"] += 1
            elif last in DOWN and value != 0:
                assert value < 1e-9
                seen["down"] += 1
    assert min(seen.values()) > 20


def test_the_loss_falls_through_crossings_slides_and_releases(run):
    _, net, data, _, states, events = run
    value = lambda net: half_mse(jax.vmap(net)(data.x), data.y, data.weight)
    values = [value(net), *(value(state.network) for state in states)]
    assert len(events["time"]) > 50
    assert (np.diff(values) <= 0).all()


def test_slides_end_by_leaving_and_begin_from_a_side(run):
    *_, events = run
    place = [events[name] for name in ("layer", "neuron", "sample")]
    for one in np.unique(np.stack(place, axis=1), axis=0):
        mine = np.all(np.stack(place, axis=1) == one, axis=1)
        kinds = events["kind"][mine]
        is_sliding = np.concatenate([[False], kinds[:-1] == EventKind.SLIDES])
        leaves = np.isin(kinds, (EventKind.LEAVES_UP, EventKind.LEAVES_DOWN))
        np.testing.assert_array_equal(is_sliding, leaves)


@pytest.mark.long
def test_events_without_room_are_counted_and_the_first_are_on_record(run):
    *_, states, events = run
    times = run[0][-1:]
    *_, few, kept = recorded("deep_two_hidden", times, room=10)
    assert int(few[-1].stats["events"]) > 10
    assert len(kept["time"]) == 10
    np.testing.assert_allclose(kept["time"], events["time"][:10], rtol=1e-4)
    np.testing.assert_array_equal(kept["kind"], events["kind"][:10])


def test_a_flow_without_room_for_events_has_no_history():
    net, data, loss, _ = problem("deep_two_hidden")
    flow = DeepReluFlow()
    state = started(flow, net, data, loss)
    assert flow.history(state) == {}
    assert state.memory.log is None
    assert jnp.isfinite(state.time)
