"""How the record of the exact flow is read."""

import numpy as np
import pytest

from simbias.core import EventKind
from simbias.variational.events import Change, Sides, most_pins, read_events

MEETS = (1.0, 2, 3, EventKind.CROSSES_UP)
LET_GO = (1.0, 2, 0, EventKind.LEAVES_DOWN)


@pytest.mark.parametrize("rows", [[MEETS, LET_GO], [LET_GO, MEETS]])
def test_a_release_at_a_crossing_of_the_same_neuron_is_part_of_it(rows):
    """In whichever order both are recorded: the field jumps at the crossing only."""
    (event,) = read_events(np.array(rows, float))
    assert event.cause == Change(3, EventKind.CROSSES_UP)
    assert event.changes[1:] == (Change(0, EventKind.LEAVES_DOWN),)
    assert not event.is_release
    sides = Sides(np.ones((3, 4)), [[], [], [0]], 0.0)
    sides.change(event)
    assert sides.pins == [[], [], []]
    np.testing.assert_array_equal(sides.gate[2], [0, 1, 1, 1])


def test_releases_that_follow_no_crossing_are_events_by_themselves():
    other = (1.0, 1, 0, EventKind.LEAVES_DOWN)
    two = (1.0, 2, 1, EventKind.LEAVES_UP)
    events = read_events(np.array([LET_GO, other, two], float))
    assert [len(event.changes) for event in events] == [1, 1, 1]
    assert all(event.is_release for event in events)


def test_events_come_in_the_order_of_their_times():
    later = (2.0, 0, 0, EventKind.SLIDES)
    first, second = read_events(np.array([later, MEETS], float))
    assert (first.time, second.time) == (1.0, 2.0)
    assert second.may_precede(first)


def test_a_slide_and_its_end_stay_in_their_order():
    rows = [(1.0, 0, 0, EventKind.SLIDES), (2.0, 0, 0, EventKind.LEAVES_UP)]
    begin, end = read_events(np.array(rows, float))
    assert not end.may_precede(begin)
    assert most_pins([begin, end], 1) == 1
