"""Any number of processes share a store: no member is lost, none is done twice."""

import contextlib
import dataclasses
import json
import os
import pathlib
import shutil
import subprocess
import time

import durable
import numpy as np
import pytest
import xarray as xr
from durable import LONG
from small import small
from tree import ROOT

from simbias import cli
from simbias.core import Status
from simbias.ensemble.engine import run_members
from simbias.ensemble.plan import make_plan
from simbias.results import attributes, open_result
from simbias.store import creation, lease, work
from simbias.store.address import place_at
from simbias.store.blocks import Blocks
from simbias.store.layout import Store
from simbias.store.lease import Leases
from simbias.store.work import prepare
from simbias.verbs.simulate import simulate
from simbias.workers import local_workers

pytestmark = pytest.mark.process


def computed(store, who):
    path = pathlib.Path(f"{store}.{who}")
    return [int(line) for line in path.read_text().split()] if path.exists() else []


@pytest.mark.long
def test_two_share_a_run_and_no_clock_is_compared(tmp_path):
    store = tmp_path / "run.zarr"
    durable.program(store, "together")
    xr.testing.assert_identical(open_result(store), simulate(LONG))
    first, late = computed(store, "first"), computed(store, "late")
    assert first
    assert late
    assert sorted(first + late) == list(range(36))


@pytest.mark.long
def test_what_a_sleeper_held_is_taken_over_and_its_waking_up_changes_nothing(tmp_path):
    store = tmp_path / "run.zarr"
    durable.program(store, "asleep")
    xr.testing.assert_identical(open_result(store), simulate(LONG))
    first, late = computed(store, "first"), computed(store, "late")
    assert set(first + late) == set(range(36))
    assert len(set(first)) == len(first) < 36


def test_workers_do_not_try_every_block_that_others_have(tmp_path, monkeypatch):
    monkeypatch.setattr(creation, "_SMALLEST_BLOCK", 1)
    monkeypatch.setattr(creation, "_LARGEST_BLOCK", 1)
    count, tries = 10, []
    plan = make_plan(small(cell={"n": 6}, seeds=200))
    store = Marked(**vars(prepare(tmp_path / "run.zarr", plan, attributes(plan))))
    claim = Blocks._claim
    monkeypatch.setattr(Blocks, "_claim", lambda *who: (tries.append(who), claim(*who)))
    outcome = next(run_members(plan, {0}))
    with contextlib.ExitStack() as held:
        workers = [
            Blocks(plan, store, held.enter_context(Leases(store.work)))
            for _ in range(count)
        ]
        assert all(worker.missing() for worker in workers)
        turns = 0
        while any(tasks := [worker.take(0) for worker in workers]):
            turns += 1
            for worker, task in zip(workers, tasks, strict=True):
                if task is not None:
                    worker.receive(dataclasses.replace(outcome, member=task.member))
        # Nobody waits while there is a block to have.
        assert turns == 200 / count
        assert len(tries) < 200 * count / 2
        assert not any(worker.missing() for worker in workers)


class Marked(Store):
    """Writes of a block only that it is written."""

    def commit(self, block, table):
        self._status(block).write(b"1")


@pytest.fixture
def two(tmp_path):
    often = {"beat_seconds": 0.02, "stale_seconds": 0.3}
    with Leases(tmp_path, **often) as one, Leases(tmp_path, **often) as other:
        yield one, other


def test_who_waits_for_others_looks_about_once_a_second(tmp_path, monkeypatch):
    plan, pauses = make_plan(small()), []
    store = prepare(tmp_path / "run.zarr", plan, attributes(plan))
    with Leases(store.work) as other:
        assert other.claim("0")

        def pause(_, seconds):
            pauses.append(seconds)
            other.release("0")

        monkeypatch.setattr(work, "_pause", pause)
        work.work(plan, store)
    assert len(pauses) == 1
    assert 1 <= pauses[0] < 20


def test_a_lease_has_one_owner_at_a_time(two):
    one, other = two
    assert one.claim("7")
    assert one.claim("7")
    assert not other.claim("7")
    assert other.claim("8")
    one.release("7")
    assert other.claim("7")
    # Nobody gives back what is another's.
    one.release("7")
    assert other.holder("7") == other.owner


def test_leases_do_without_hard_links(two, monkeypatch):
    def refused(*_):
        raise OSError(95, "Operation not supported")

    monkeypatch.setattr(os, "link", refused)
    test_a_lease_has_one_owner_at_a_time(two)


def test_an_owner_whose_heart_beats_is_not_taken_for_dead(two):
    one, other = two
    one.claim("7")
    for _ in range(10):
        assert not other.claim("7")
        time.sleep(0.06)


def test_an_owner_whose_heart_stands_still_is_dead_whatever_the_clocks_say(
    tmp_path, monkeypatch
):
    monkeypatch.setattr(lease.Leases, "_beat", lambda self: None)
    monkeypatch.setattr(time, "time", lambda: 0.0)
    with (
        Leases(tmp_path) as one,
        Leases(tmp_path, stale_seconds=0.3) as other,
        Leases(tmp_path, stale_seconds=0.3) as third,
    ):
        one.claim("7")
        for path in tmp_path.rglob("*"):
            os.utime(path, (4e9, 4e9))
        # However old it looks, it is watched for a while first.
        assert not other.claim("7")
        assert not third.claim("7")
        time.sleep(0.4)
        assert other.claim("7")
        # Of two that saw it die, one has it.
        assert not third.claim("7")
        assert other.holder("7") == other.owner
        # It wakes up: what is not its own any more it leaves alone.
        one.release("7")
        assert other.holder("7") == other.owner


def test_only_the_lease_of_the_dead_is_removed(two):
    one, other = two
    one.claim("7")
    other._bury("7", b"somebody")
    assert one.holder("7") == one.owner


def test_who_comes_later_begins_with_another_shape(tmp_path, monkeypatch):
    plan = make_plan(small(cell={"n": (6, 8, 20)}))
    store = prepare(tmp_path / "run.zarr", plan, attributes(plan))
    take, asked = Blocks.take, []

    def asking(self, group):
        asked.append(group)
        return take(self, group)

    monkeypatch.setattr(Blocks, "take", asking)
    monkeypatch.setattr(work, "station_devices", lambda devices, _: devices[:1])
    with Leases(store.work):
        work.work(plan, store)
    assert asked[0] == 1


def test_a_process_of_this_machine_that_is_gone_is_dead_at_once(two, tmp_path):
    one, _ = two
    process = subprocess.Popen(["true"])
    process.wait()
    beat = {"count": 1, **lease._process(), "process": process.pid}
    (tmp_path / "owners" / "gone").write_text(json.dumps(beat))
    (tmp_path / "leases" / "7").write_text("gone")
    if beat["machine"] is not None:
        assert one.claim("7")
    # A number that is in use again belongs to another process.
    beat |= {"process": os.getpid(), "began": "0"}
    (tmp_path / "owners" / "before").write_text(json.dumps(beat))
    (tmp_path / "leases" / "8").write_text("before")
    if beat["machine"] is not None:
        assert one.claim("8")


def test_a_process_that_has_ended_and_that_nobody_waited_for_is_dead(two, tmp_path):
    one, _ = two
    process = subprocess.Popen(["sleep", "60"])
    beat = {"count": 1, **lease._process(), "process": process.pid}
    beat |= {"began": lease._began(process.pid)}
    (tmp_path / "owners" / "ended").write_text(json.dumps(beat))
    (tmp_path / "leases" / "7").write_text("ended")
    assert not one.claim("7")
    process.kill()
    os.waitid(os.P_PID, process.pid, os.WEXITED | os.WNOWAIT)
    if beat["machine"] is not None:
        assert one.claim("7")
    process.wait()


@pytest.mark.parametrize("raw", [b"", b"\xff\xfe", b"some/where", b"flipped", None])
def test_a_lease_that_names_nobody_is_taken_over_after_its_time(tmp_path, raw):
    """A None is a folder in its place."""
    lease = tmp_path / "leases" / "7"
    (lease / "x").mkdir(parents=True)
    if raw is not None:
        shutil.rmtree(lease)
        lease.write_bytes(raw)
    with Leases(tmp_path, stale_seconds=0.2) as one:
        assert not one.claim("7")
        time.sleep(0.3)
        if raw == b"flipped":
            assert one.claim("7")
        else:
            with pytest.warns(UserWarning, match=f"{lease} names no worker"):
                assert one.claim("7")
        assert lease.read_text() == one.owner


@pytest.mark.parametrize(
    "beat",
    [
        '{"count": 1}',
        '{"process": "x", "machine": null}',
        '{"count": 1, "process": [1], "pending": {"3": 3}}',
        '{"count": 1, "pending": 3}',
        '{"count": 1, "pending": {"x": 3, "²": 3, "-1": 3, "3": "3", "4": true}}',
        "[1, 2]",
        "7",
        "\udcff",
        "{",
        "[" * 5000 + "]" * 5000,
    ],
)
def test_a_heartbeat_that_cannot_be_understood_stands_still(tmp_path, beat):
    with Leases(tmp_path, stale_seconds=0.2) as one:
        (tmp_path / "leases" / "7").write_text("other")
        damaged = tmp_path / "owners" / "other"
        damaged.write_bytes(beat.encode(errors="surrogateescape"))
        assert not one.claim("7")
        time.sleep(0.3)
        assert one.claim("7")
        beats = lease.heartbeats(place_at(tmp_path))
        assert [lease.pending(beat) for beat in beats] == [{}] * len(beats)


def test_stray_names_stop_nobody(tmp_path):
    store = tmp_path / "run.zarr"
    plan = make_plan(small())
    prepare(store, plan, attributes(plan))
    strays = ["members/status/c/²", "members/status/c/07", "members/status/c/999"]
    strays += ["members/status/c/x", "work/leases/²", "work/leases/y/z", "work/z"]
    strays += ["work/owners/²", "work/states/²", "work/states/999", "work/x.partial/y"]
    strays += ["trajectories/x.partial/y", "work/states/0/y"]
    for stray in strays:
        (store / stray).parent.mkdir(parents=True, exist_ok=True)
        (store / stray).write_text("")
    assert (open_result(store)["status"] == Status.RUNNING).all()
    with pytest.warns(UserWarning, match="states/0'?. Its block is computed again"):
        ds = simulate(small(), store=store)
    xr.testing.assert_identical(ds, simulate(small()))
    assert not (store / "work").exists()


DESCENT = ["three_points", "--preset", "smoke", "--flow.name", "descent"]
DESCENT += ["--times", "0", "5", "--cell.m", "20"]


def command(*arguments):
    try:
        cli.main(list(arguments))
    except SystemExit as leaving:
        return leaving.code or 0
    return 0


def test_workers_of_the_command_line_share_a_run_that_grows_and_resumes(
    tmp_path, capfd, monkeypatch
):
    monkeypatch.setenv("PYTHONPATH", str(ROOT))
    one, two = str(tmp_path / "one"), str(tmp_path / "two")
    assert command("run", *DESCENT, "--seeds", "20", "--out", one) == 0
    options = ["--workers", "2", "--out", two]
    assert command("run", *DESCENT, "--seeds", "12", *options) == 0
    err = capfd.readouterr().err
    assert "three_points: 12 networks; one program to compile" in err
    # The configuration alone says how to go on, with more seeds and without.
    assert command("run", *DESCENT, "--seeds", "20", "--out", two) == 0
    assert command("resume", two) == 0
    # What a worker finds lost of the plain data it writes again.
    files = lambda: {
        p: p.read_bytes() for p in (tmp_path / "two/run.zarr").rglob("*") if p.is_file()
    }
    whole = files()
    next(p for p in whole if "run.zarr/status/c" in str(p)).unlink()
    assert command("worker", two, "--quiet") == 0
    assert files() == whole
    left, right = open_result(one), open_result(two)
    for name in left:
        np.testing.assert_array_equal(left[name], right[name])
    config = json.loads((tmp_path / "two" / "config.json").read_text())
    assert config["configuration"]["seeds"] == 20


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (["resume", "nowhere"], "is not a simbias run"),
        (["worker", "mine", "--share", "3/2"], "`--share` must be like 1/4"),
        (["worker", "mine"], "started by a Python program"),
        (["run", *DESCENT, "--workers", "-1"], "`--workers` must be 0 or more"),
        (["run", *DESCENT, "--out", "/proc/x"], "`--out`: cannot write to /proc/x"),
    ],
)
def test_what_cannot_be_resumed_or_shared_is_said(
    tmp_path, monkeypatch, capsys, arguments, message
):
    monkeypatch.chdir(tmp_path)
    if "mine" in arguments:
        simulate(durable.small(cell={"n": 6}, seeds=1), store="mine/run.zarr")
    assert command(*arguments) == 2
    assert message in capsys.readouterr().err


def test_workers_keep_programs_only_if_who_starts_them_does(tmp_path, monkeypatch):
    process, begun = subprocess.Popen, []

    def start(command, cores=()):
        begun.append(command.words)
        return process(["sh", "-c", "exit 3"], stdin=subprocess.PIPE)

    monkeypatch.setattr(local_workers, "started", start)
    run = ["run", *DESCENT, "--workers", "1", "--out", str(tmp_path / "run")]
    for flag in (["--no-compile-cache"], []):
        assert command(*run, *flag) == 2
        assert [v for v in begun.pop() if "cache" in v] == flag


def test_a_worker_that_fails_is_reported_with_the_way_to_go_on(
    tmp_path, monkeypatch, capsys
):
    failing = lambda *_: subprocess.Popen(["sh", "-c", "exit 3"], stdin=subprocess.PIPE)
    monkeypatch.setattr(local_workers, "started", failing)
    out = str(tmp_path / "run")
    assert command("run", *DESCENT, "--workers", "2", "--out", out) == 2
    err = capsys.readouterr().err
    assert "2 of 2 workers failed, the first, process " in err
    assert ": exit code 3" in err
    assert f"simbias resume {out} --workers 2" in err
