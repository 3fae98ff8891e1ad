import jax
import jax.numpy as jnp
import numpy as np
import pytest
from small import small

from simbias.core import Status
from simbias.ensemble import engine
from simbias.ensemble.events import Members, Progress
from simbias.ensemble.lanes import idle
from simbias.ensemble.pace import Pace
from simbias.ensemble.plan import make_plan
from simbias.ensemble.programs import Programs
from simbias.numerics.exact_numerics import exact_numerics
from simbias.verbs.simulate import simulate

pytestmark = pytest.mark.bits


def test_a_round_ends_with_about_the_seconds_it_should_take():
    pace = Pace()
    for _ in range(20):
        pace.after(seconds=1e-3 * pace.attempts, ended=0, is_spent=True)
    assert 250 <= pace.attempts <= 1000


def test_members_fill_a_round_and_long_ones_come_alone():
    pace, taken = Pace(), []
    for _ in range(6):
        taken.append(pace.members)
        pace.after(seconds=0.01 * pace.members, ended=pace.members, is_spent=False)
    assert taken == [1, 4, 16, 50, 50, 50]
    # One of a batch is long: what it takes is told when it ends.
    pace.after(seconds=0.5, ended=49, is_spent=True)
    for _ in range(40):
        pace.after(seconds=0.5, ended=0, is_spent=True)
    pace.after(seconds=0.5, ended=1, is_spent=False)
    assert pace.members == 1


def test_short_members_are_taken_together_and_end_with_the_same_bytes(monkeypatch):
    experiment = small(cell={"n": 6, "scale": (0.1, 0.5)}, seeds=40)
    alone = simulate(experiment, lanes=1)
    rounds, advance = [], Programs.advance

    def counted(programs, attempts, lanes):
        rounds.append(attempts)
        return advance(programs, attempts, lanes)

    monkeypatch.setattr(Programs, "advance", counted)
    together = simulate(experiment)
    assert len(rounds) < 60
    for name in alone:
        assert alone[name].values.tobytes() == together[name].values.tobytes()


class Greedy(Pace):
    """Wants everything, and learns nothing."""

    def __init__(self):
        super().__init__(attempts=10_000, members=1000)

    def after(self, seconds, ended, is_spent):
        pass


def test_no_station_takes_more_than_a_fair_part_of_what_is_left(monkeypatch):
    plan = make_plan(small(cell={"n": 6, "scale": (0.1, 0.5)}, seeds=40))
    members, taken = Members(plan, range(plan.size)), []
    monkeypatch.setattr(engine, "Pace", Greedy)
    begin = Programs.begin

    def noted(programs, seats, lanes):
        taken.append((len(seats), len(seats) + members.left(0)))
        return begin(programs, seats, lanes)

    monkeypatch.setattr(Programs, "begin", noted)
    programs = Programs(plan, "cpu", Progress())
    with engine.Stations(programs, members, jax.devices()[:1]) as stations:
        seen = [event.member for event in stations.events() if event is not None]
    assert sorted(seen) == list(range(plan.size))
    # One station takes half, and its lanes hold 64.
    assert taken[0] == (40, 80)
    assert all(some == max(1, left // 2) for some, left in taken)


def test_empty_lanes_hold_a_copy_in_which_nothing_runs():
    plan = make_plan(small(cell={"n": 6}, seeds=2))
    with exact_numerics():
        programs = Programs(plan, "gpu", Progress())
        lanes = programs.begin([(1, 2)], idle(plan.groups[0].lane, 4))
        lanes = programs.spread([None, None, 1, None], lanes)
        running = np.asarray(lanes.state.status) == Status.RUNNING
        assert running.tolist() == [False, False, True, False]
        for leaf in jax.tree.leaves((lanes.data, lanes.state.network)):
            np.testing.assert_array_equal(leaf, jnp.stack([leaf[2]] * 4))


def test_lanes_side_by_side_are_filled_and_refilled_by_the_engine(monkeypatch):
    # As on an accelerator; at the end fewer members are left than there are lanes.
    experiment = small(cell={"n": (6, 20), "scale": (0.1, 0.5, 1e200)}, seeds=4)
    in_turn = simulate(experiment)
    monkeypatch.setattr(
        engine, "Programs", lambda plan, _, progress: Programs(plan, "gpu", progress)
    )
    side_by_side = simulate(experiment, lanes=5)
    for name in in_turn:
        np.testing.assert_allclose(in_turn[name], side_by_side[name], rtol=1e-9)
