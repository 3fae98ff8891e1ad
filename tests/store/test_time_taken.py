"""How long processes were at a run, as far as they have said so."""

import contextlib
import dataclasses
import json
import shutil

import pytest
from small import small

from simbias.ensemble.bar import Pulse
from simbias.ensemble.plan import make_plan
from simbias.numerics.exact_numerics import exact_numerics
from simbias.results import attributes
from simbias.store import time_taken as module
from simbias.store.place import Replaced
from simbias.store.time_taken import Stopwatch, failures, time_taken
from simbias.store.work import prepare

PULSE = Pulse(
    members=9,
    done=0,
    failed=0,
    begun=1,
    shapes=1,
    is_compiling=True,
    seconds=5.0,
    seconds_compiling=4.0,
    rate=None,
    seconds_left=None,
)


@pytest.fixture
def store(tmp_path):
    with exact_numerics():
        plan = make_plan(small())
    return prepare(tmp_path / "run" / "run.zarr", plan, attributes(plan))


def note(store, **changed):
    folder = store.place.parent / "time_taken"
    plain = {"began": 0.0, "ended": 1.0, "cpu": 2.0, "compiling": 0.5}
    plain |= {"run": store.attributes["run"], **changed}
    (folder / f"{len(folder.files())}.json").write(json.dumps(plain).encode())


def test_hours_of_two_processes_at_once_are_counted_once(store):
    assert time_taken(store) is None
    note(store, began=100.0, ended=220.0, cpu=200.0, compiling=30.0)
    note(store, began=160.0, ended=280.0, cpu=100.0, compiling=30.0)
    note(store, began=1000.0, ended=1060.0, cpu=60.0, compiling=0.0)
    found = time_taken(store)
    assert dataclasses.astuple(found) == (240.0, 360.0, 60.0, 3)
    said = "4 min, by 3 processes: 6 min of CPU time, 60 s of compiling"
    assert found.described() == said


@pytest.mark.parametrize(
    "changed", [{"run": "another"}, {"cpu": "<b>"}, {"ended": float("nan")}]
)
def test_what_another_run_left_or_nobody_understands_is_not_counted(store, changed):
    note(store)
    note(store, **changed)
    (store.place.parent / "time_taken" / "half.json").write(b'{"run": ')
    assert time_taken(store).processes == 1


def test_a_process_notes_its_time_now_and_then_and_at_its_end(store, monkeypatch):
    told = []
    monkeypatch.setattr(module, "_SECONDS", 0.0)
    with contextlib.suppress(KeyboardInterrupt), Stopwatch(store, told.append) as clock:
        clock(PULSE)
        assert time_taken(store).compiling == 4.0
        monkeypatch.setattr(module, "_SECONDS", 1e9)
        clock(dataclasses.replace(PULSE, seconds_compiling=9.0))
        assert time_taken(store).compiling == 4.0
        raise KeyboardInterrupt
    found = time_taken(store)
    assert (found.compiling, found.processes) == (5.0, 1)  # no more than it ran
    assert told[0] == PULSE


@pytest.mark.parametrize(
    ("begun", "is_compiling", "said"),
    [(1, True, 1), (0, True, 1), (2, True, 0), (1, False, 0)],
)
def test_who_left_before_anything_was_computed_says_so(
    store, begun, is_compiling, said
):
    with Stopwatch(store) as clock:
        clock(dataclasses.replace(PULSE, begun=begun, is_compiling=is_compiling))
        clock.left_early()
    found = failures(store)
    assert len(found) == said
    assert all("nothing was computed" in one.said for one in found)


def test_who_does_nothing_leaves_nothing(store):
    with Stopwatch(store):
        pass
    assert time_taken(store) is None


def test_nothing_is_left_where_a_run_was_deleted(store):
    folder = store.place.parent.path
    with Stopwatch(store) as clock:
        clock(PULSE)
        shutil.rmtree(folder)
    assert not folder.exists()
    with contextlib.suppress(Replaced), Stopwatch(store) as clock:
        clock(PULSE)
        raise Replaced(store.place)
    assert not folder.exists()
