"""Folders that are full, read-only, deleted at work, or called as the store is."""

import errno
import os
import pathlib
import shutil
from types import SimpleNamespace

import durable
import pytest
import xarray as xr
from small import small

from simbias import cli
from simbias.ensemble import memory, pace
from simbias.ensemble.plan import make_plan
from simbias.ensemble.table import empty_table
from simbias.results import attributes
from simbias.store import creation
from simbias.store.address import place_at
from simbias.store.blocks import Blocks
from simbias.store.creation import create_store
from simbias.store.folder import Folder
from simbias.store.place import Replaced
from simbias.verbs.simulate import simulate

pytestmark = pytest.mark.process

RUN = ["run", "three_points", "--preset", "smoke", "--flow.name", "descent"]
RUN += ["--times", "0", "5", "--cell.m", "20", "--seeds", "2"]
TINY = small(cell={"n": 6}, seeds=1)


def raising(code):
    def refused(*_, **__):
        raise OSError(code, os.strerror(code))

    return refused


@pytest.fixture
def read_only(monkeypatch):
    for name in ("ready", "write", "create", "delete"):
        monkeypatch.setattr(Folder, name, raising(errno.EROFS))


@pytest.mark.parametrize("code", [errno.ENOSPC, errno.EFBIG])
def test_what_cannot_be_created_is_named(tmp_path, monkeypatch, capsys, code):
    monkeypatch.setattr(pathlib.Path, "write_bytes", raising(code))
    run, what = tmp_path / "run", os.strerror(code)
    with pytest.raises(OSError, match=f"{what}: '{tmp_path}/store'"):
        simulate(TINY, store=tmp_path / "store")
    with pytest.raises(OSError, match=f"{what}: '{tmp_path}/leases/7'"):
        place_at(tmp_path / "leases" / "7").create(b"")
    assert cli.exit_code([*RUN, "--workers", "0", "--out", str(run)]) == 2
    assert f"error: {what}: {run}/run.zarr\n" in capsys.readouterr().err


def test_an_error_without_a_file_names_none(monkeypatch, capsys):
    monkeypatch.setattr("simbias.cli.figure.figure", raising(errno.EFBIG))
    assert cli.exit_code(["figure", "somewhere"]) == 2
    err = capsys.readouterr().err
    assert "File too large" in err
    assert "None" not in err


def test_a_folder_that_is_read_only_says_so(tmp_path, monkeypatch):
    monkeypatch.setattr(os, "access", lambda *_: False)
    with pytest.raises(OSError, match=f"Permission denied: '{tmp_path}'"):
        place_at(tmp_path).ready()
    is_read_only = SimpleNamespace(f_flag=os.ST_RDONLY)
    monkeypatch.setattr(os, "statvfs", lambda _: is_read_only)
    with pytest.raises(OSError, match=f"Read-only file system: '{tmp_path}'"):
        place_at(tmp_path).ready()


def test_a_run_is_found_in_a_folder_that_is_called_as_its_store(
    tmp_path, monkeypatch, capsys
):
    monkeypatch.chdir(tmp_path)
    assert cli.exit_code([*RUN, "--workers", "0", "--out", "run.zarr"]) == 0
    for name in ("run.zarr", "run.zarr/run.zarr"):
        assert cli.exit_code(["figure", name]) == 2
        assert "no network has finished yet" in capsys.readouterr().err


def test_a_run_that_is_not_finished_cannot_go_on_where_nothing_can_be_written(
    tmp_path, capsys, request
):
    out = str(tmp_path / "run")
    assert cli.exit_code([*RUN, "--workers", "0", "--out", out]) == 0
    request.getfixturevalue("read_only")
    assert cli.exit_code(["resume", out]) == 2
    err = capsys.readouterr().err
    assert f"cannot write to {out}: Read-only file system. The run in it" in err


def test_a_finished_run_that_is_read_only_shows_its_claims(tmp_path, capsys, request):
    out = tmp_path / "run"
    assert cli.exit_code([*RUN, "--out", str(out)]) == 0
    claims = capsys.readouterr().out
    before = {p: p.stat().st_mtime_ns for p in out.rglob("*")}
    request.getfixturevalue("read_only")
    assert cli.exit_code(["resume", str(out)]) == 0
    shown = capsys.readouterr()
    assert shown.out == claims
    assert f"Nothing was written to {out}: Read-only file system." in shown.err
    assert before == {p: p.stat().st_mtime_ns for p in out.rglob("*")}


@pytest.mark.parametrize("root", ["{}/run.zarr", "memory://stubs/run.zarr"])
def test_what_is_left_of_a_run_that_was_deleted_at_work_is_swept(tmp_path, root):
    address, ds = root.format(tmp_path), simulate(TINY)
    place = place_at(address)
    for name in ("work/owners/1f", "work/leases/0", "work/states/0", "work/states/1"):
        (place / name).write(b"of a worker that went on")
    for name in ("members/status/c/0", "trajectories/risk/c/0/0"):
        (place / name).write(b"of another run")
    xr.testing.assert_identical(simulate(TINY, store=address), ds)
    assert not (place / "work").exists()


def test_a_run_that_is_deleted_at_work_is_not_written_any_more(tmp_path, monkeypatch):
    store, receive = tmp_path / "run.zarr", Blocks.receive
    monkeypatch.setattr(pace, "_ROUND_SECONDS", 0.005)

    def deleting(self, event):
        receive(self, event)
        if type(event).__name__ == "Snapshot":
            shutil.rmtree(store, ignore_errors=True)

    monkeypatch.setattr(Blocks, "receive", deleting)
    with pytest.raises(Replaced, match=f"{store} was deleted or replaced"):
        durable.run(store)
    assert place_at(store).files() == []


def test_empty_folders_that_are_left_are_no_obstacle(tmp_path):
    (tmp_path / "run.zarr" / "work" / "owners").mkdir(parents=True)
    simulate(TINY, store=tmp_path / "run.zarr")


def test_the_root_of_a_run_in_a_folder_that_was_there_is_on_the_disk(
    tmp_path, monkeypatch
):
    plan, synced = make_plan(TINY), []
    path = tmp_path / "run.zarr"
    path.mkdir()
    monkeypatch.setattr(creation, "sync", synced.append)
    create_store(place_at(path), empty_table(plan, 1), attributes(plan))
    # Itself, and its name in the folder.
    assert set(synced) == {path / "zarr.json", path}
    before = (path / "zarr.json").read_bytes()
    synced.clear()
    # Another creator finds it there, and it is the first one's.
    create_store(place_at(path), empty_table(plan, 1), attributes(plan))
    assert not synced
    assert (path / "zarr.json").read_bytes() == before


@pytest.mark.parametrize("name", ["final/thesis.pdf", "work/notes", "mine"])
def test_nothing_of_anybody_else_is_swept(tmp_path, name):
    place = place_at(tmp_path / "run.zarr")
    for each in (name, "work/owners/1f"):
        (place / each).write(b"mine")
    with pytest.raises(ValueError, match="is not a simbias run"):
        simulate(TINY, store=tmp_path / "run.zarr")
    assert sorted(place.files()) == sorted([name, "work/owners/1f"])


def test_a_file_is_no_place_for_a_run(tmp_path):
    (tmp_path / "run.zarr").write_text("mine")
    with pytest.raises(ValueError, match="is not a simbias run"):
        simulate(TINY, store=tmp_path / "run.zarr")
    assert (tmp_path / "run.zarr").read_text() == "mine"


def test_the_index_of_the_members_counts_where_no_result_is_held(monkeypatch):
    monkeypatch.setattr(memory, "physical_memory", lambda: 16 << 30)
    plan = make_plan(small(cell={"n": 6}, seeds=10**9))
    with pytest.raises(ValueError, match=r"too large: .*index 44\.7 GiB"):
        memory.check_memory(plan, holds_result=False)
