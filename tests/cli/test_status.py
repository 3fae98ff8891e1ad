"""`status` says where a run stands, from its store alone, and writes nothing."""

import dataclasses
import json
import time

import numpy as np
import pytest
from small import small

from simbias import cli
from simbias.core import Status
from simbias.ensemble.bar import Pulse
from simbias.ensemble.engine import run_members
from simbias.ensemble.plan import make_plan
from simbias.numerics.exact_numerics import exact_numerics
from simbias.results import attributes
from simbias.store import time_taken, work
from simbias.store.blocks import Blocks
from simbias.store.layout import open_store
from simbias.store.lease import Leases
from simbias.store.progress import finished_so_far, progress_of
from simbias.store.time_taken import Stopwatch
from simbias.verbs.simulate import simulate

PULSE = Pulse(20, 0, 0, 0, 1, False, 0.0, 0.0, None, None)
TWENTY = small(cell={"n": 6}, seeds=20)


@pytest.fixture(params=["folder", "memory"])
def begun(request, tmp_path):
    """A run in which nobody has started: its store, and what computes it."""
    place = {"folder": tmp_path, "memory": f"memory://status-{time.time_ns()}"}
    with exact_numerics():
        plan = make_plan(TWENTY)
    where = f"{place[request.param]}/run.zarr"
    return work.prepare(where, plan, attributes(plan)), plan


def contents(store):
    place = store.place.parent
    return {name: (place / name).read() for name in place.files()}


def of_status(store, capsys, *words):
    assert cli.exit_code(["status", str(store.place.parent), *words]) == 0
    return capsys.readouterr().out


@pytest.mark.process
def test_a_run_is_shown_from_its_beginning_to_its_end_and_nothing_is_written(
    begun, capsys
):
    store, plan = begun
    before = contents(store)
    assert "0 of 20 networks done; 0 of 3 blocks" in of_status(store, capsys)
    assert contents(store) == before
    outcome = next(run_members(plan, {0}))
    with Leases(store.work) as leases:
        blocks = Blocks(plan, store, leases)
        blocks.missing()
        for _ in range(10):
            task = blocks.take(0)
            status = Status.NONFINITE if task.member % 4 == 0 else outcome.status
            blocks.receive(
                dataclasses.replace(outcome, member=task.member, status=status)
            )
        leases._began -= 20
        leases._write_heartbeat()
        before = contents(store)
        now = progress_of(store)
        assert contents(store) == before
        (worker,) = now.workers
        assert (now.members, now.done, now.blocks_done) == (20, 10, 1)
        assert (worker.state, worker.computed) == ("at work", 10)
        assert (now.rate, now.seconds_left) == (0.5, 20.0)
        assert now.blocks_claimed == 1
        # What is saved counts by status as what is written does.
        blocks.checkpoint()
        now = progress_of(store)
        assert now.statuses["NONFINITE"] == now.failed > 1
        assert sum(now.statuses.values()) == 20
        assert now.statuses["RUNNING"] == 10
        assert progress_of(store, time.time() + 60).workers[0].state == "silent"
        assert progress_of(store, time.time() + 60).rate == 0
        said = of_status(store, capsys)
        assert "10 of 20 networks done" in said
        assert "workers: 1 at work" in said
    assert "no worker" in of_status(store, capsys)
    simulate(TWENTY, store=str(store.place))
    line = json.loads(of_status(store, capsys, "--json", "--watch"))
    assert (line["done"], line["is_finished"]) == (20, True)
    assert line["result_bytes"] > 0


def test_the_errors_that_ended_workers_are_shown_and_signals_are_none(begun, capsys):
    store, _ = begun
    for error in (MemoryError("too large"), SystemExit(143), ValueError("<wrong>")):
        with pytest.raises(type(error)):
            fail(store, error)
    found = progress_of(store).errors
    said = ["MemoryError: too large", "ValueError: <wrong>"]
    assert [one.said for one in found] == said
    shown = of_status(store, capsys)
    assert all(f"UTC: {one}" in shown for one in said)
    # Anybody may have written a note.
    folder = store.place.parent / "time_taken"
    for note in ("{", '{"error": 3}', '{"error": "x", "machine": []}'):
        (folder / "strange.json").write(note.encode())
        assert len(time_taken.failures(store)) == 2


def fail(store, error):
    with Stopwatch(store) as watch:
        watch(PULSE)
        raise error


def test_an_old_heartbeat_does_not_count_a_member_twice(begun, monkeypatch):
    store, _ = begun
    members = np.bincount(store.rows() // store.block)
    beat = {"count": 1, "process": 1, "at": int(time.time())}
    for owner, done in {"dead": {"0": 5}, "heir": {"0": 3, "1": 2}}.items():
        said = json.dumps(beat | {"pending": done}).encode()
        (store.work / "owners" / owner).write(said)
    assert progress_of(store).done == finished_so_far(store, members) == 7
    monkeypatch.setattr(type(store), "committed", lambda _: {0})
    assert finished_so_far(store, members) == members[0] + 2


@pytest.mark.parametrize(
    "beat",
    [
        '{"process": 1, "seconds": "x", "computed": []}',
        "[]",
        '{"process": 1}',
        *(f'{{"process": 1, "{k}": 1{"0" * 400}}}' for k in ("computed", "at")),
        f'{{"process": 1, "pending": {{"0": 1{"0" * 400}}}, "seconds": 1}}',
        f'{{"process": 1{"0" * 400}, "machine": "\\u001b[2J here"}}',
    ],
)
def test_a_heartbeat_that_cannot_be_understood_is_no_error(begun, capsys, beat):
    store, _ = begun
    (store.work / "owners" / "strange").write(beat.encode())
    assert "\x1b" not in of_status(store, capsys)
    of_status(store, capsys, "--json")


def test_a_note_that_somebody_else_wrote_is_shown_without_harm(begun, capsys):
    store, _ = begun
    note = {"run": store.attributes["run"], "began": 0.0, "ended": 1e300, "cpu": 0.0}
    note |= {"compiling": 0.0, "error": "\x1b[2Jgone", "machine": "m", "process": 1}
    folder = store.place.parent / "time_taken"
    (folder / "strange.json").write(json.dumps(note).encode())
    assert "at an unknown time: ?[2Jgone" in of_status(store, capsys)


@pytest.mark.parametrize("every", ["0", "inf", "nan", "1e12"])
def test_looks_are_a_day_apart_at_most(begun, every, capsys):
    store, _ = begun
    with pytest.raises(SystemExit):
        cli.main(["status", str(store.place), "--watch", "--every", every])
    assert "`--every` must be positive and at most 86400" in capsys.readouterr().err


def test_a_worker_that_was_killed_on_this_machine_is_gone(begun):
    store, _ = begun
    with Leases(store.work) as leases:
        name = f"owners/{leases.owner}"
        beat = json.loads((store.work / name).read())
        (store.work / "owners" / "dead").write(
            json.dumps({**beat, "began": "0"}).encode()
        )
        states = sorted(
            one.state for one in progress_of(open_store(store.place)).workers
        )
    if beat["machine"] is not None:
        assert states == ["at work", "gone"]


@pytest.mark.parametrize(
    ("words", "message"),
    [
        (["status", "nowhere"], "is not a simbias run"),
        (["status", "nowhere", "--every", "0"], "`--every` must be positive"),
    ],
)
def test_what_has_no_status_is_named(capsys, words, message):
    assert cli.exit_code(words) == 2
    assert message in capsys.readouterr().err


def test_a_clock_that_is_ahead_is_told_of_and_one_that_is_a_little_is_not(
    begun, capsys
):
    store, _ = begun
    for ahead, said in ((7200, "its clock is 7"), (2, "last heartbeat 0 s ago")):
        beat = {"process": 1, "at": int(time.time()) + ahead}
        (store.work / "owners" / "hasty").write(json.dumps(beat).encode())
        assert said in of_status(store, capsys)


@pytest.mark.parametrize("command", ["resume", "status", "report"])
def test_a_folder_of_runs_is_no_run_and_they_are_listed(command, tmp_path, capsys):
    for name in ("one", "runs/two"):
        (tmp_path / name / "run.zarr").mkdir(parents=True)
    assert cli.exit_code([command, str(tmp_path)]) == 2
    said = capsys.readouterr().err
    assert f"{tmp_path} is not a run. These runs are inside it:" in said
    assert f"  {tmp_path}/one\n  {tmp_path}/runs/two\n" in said
