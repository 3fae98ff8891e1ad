"""A run in an object store: the bytes of one in a folder, whatever happens to it."""

import contextlib
import dataclasses
import functools
import itertools
import json
import os
import subprocess
import sys
import threading

import numpy as np
import obstore
import pytest
import xarray as xr
from durable import LONG
from obstore.exceptions import GenericError
from small import small
from tree import ROOT

from simbias import cli
from simbias.ensemble import engine, pace
from simbias.ensemble.plan import make_plan
from simbias.ensemble.table import GROUPS, empty_table
from simbias.numerics.exact_numerics import exact_numerics
from simbias.results import attributes, is_finished, open_result
from simbias.store import work
from simbias.store.address import place_at
from simbias.store.creation import create_store
from simbias.store.lease import Leases
from simbias.store.place import Unreachable
from simbias.store.work import prepare
from simbias.verbs.simulate import simulate

pytestmark = pytest.mark.process

_NUMBERS = itertools.count()


@pytest.fixture
def url():
    """Of a store in memory that no other test sees."""
    return f"memory://bucket-{next(_NUMBERS)}/runs/run.zarr"


@pytest.fixture(scope="module")
def whole(tmp_path_factory):
    """What a run in a folder holds: its Dataset, and its files."""
    path = tmp_path_factory.mktemp("whole") / "run.zarr"
    return simulate(LONG, store=path), contents(path)


@pytest.fixture
def short(monkeypatch):
    """Many rounds, a checkpoint after each, and deaths that are soon noticed."""
    monkeypatch.setattr(pace, "_ROUND_SECONDS", 0.005)
    often = functools.partial(Leases, beat_seconds=0.02, stale_seconds=0.3)
    monkeypatch.setattr(work, "Leases", often)


def contents(address):
    """Every file; the root without what is its own in each run."""
    place = place_at(address)
    files = {name: (place / name).read() for name in place.files()}
    root = json.loads(files["zarr.json"])
    assert {root["attributes"].pop(name) for name in ("run", "sha256")}
    return files | {"zarr.json": json.dumps(root)}


def run(address, **options):
    """What `simulate` does with a store, saving after every round."""
    with exact_numerics():
        plan = make_plan(LONG)
    store = work.prepare(address, plan, attributes(plan))
    while work.complete(store) is None:
        work.work(plan, store, checkpoint_seconds=0.0, **options)


def same_bytes(left, right):
    xr.testing.assert_identical(left, right)
    for name in left:
        assert left[name].values.tobytes() == right[name].values.tobytes(), name


class Outage:
    """A store that takes so many puts and then, until it is over, answers nothing."""

    def __init__(self, monkeypatch, puts, error=GenericError):
        self.left = puts
        self.is_over = False
        self._error = error
        for name in ("put", "get", "head", "delete", "list"):
            monkeypatch.setattr(obstore, name, self._failing(getattr(obstore, name)))

    def _failing(self, act):
        def tried(*arguments, **options):
            self.left -= act.__name__ == "put"
            if self.left < 0 and not self.is_over:
                raise self._error("503 Slow Down\n\nDebug source:\nInnards")
            return act(*arguments, **options)

        return tried


def test_a_run_in_an_object_store_has_the_bytes_of_one_in_a_folder(url, whole):
    ds, files = whole
    same_bytes(simulate(LONG, store=url), ds)
    assert contents(url) == files
    for address in (url, url.removesuffix("/run.zarr")):
        same_bytes(open_result(address), ds)


def test_two_workers_share_a_run_in_an_object_store(url, whole, monkeypatch):
    monkeypatch.setattr(pace, "_ROUND_SECONDS", 0.05)
    harvest, seen = engine.harvest, []
    monkeypatch.setattr(engine, "harvest", lambda *a: seen.append(a[0]) or harvest(*a))
    threads = [threading.Thread(target=run, args=(url,)) for _ in range(2)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    same_bytes(open_result(url), whole[0])
    assert contents(url) == whole[1]
    assert sorted(seen) == list(range(36))


@pytest.mark.usefixtures("short")
def test_an_outage_ends_a_worker_and_the_next_one_takes_over(url, whole, monkeypatch):
    """As kill -9 would: from some moment on, nothing reaches the store any more."""
    for puts in (0, 1, 2, 7, 17, 23, 29, 41, 60, 80):
        with monkeypatch.context() as patch:
            Outage(patch, puts)
            with pytest.raises(OSError, match=f"503 Slow Down: '{url}") as raised:
                run(url)
            assert "Innards" not in str(raised.value)
        with contextlib.suppress(ValueError):  # not there yet
            part = open_result(url)
            done = is_finished(part).values
            ds = whole[0]["risk"].values
            np.testing.assert_array_equal(part["risk"].values[done], ds[done])
    run(url)
    same_bytes(open_result(url), whole[0])
    assert contents(url) == whole[1]


def test_a_creator_who_died_leaves_a_store_that_the_next_one_completes(
    url, whole, monkeypatch
):
    with exact_numerics():
        plan = make_plan(LONG)
    prepare(f"{url}/whole", plan, attributes(plan))
    for puts in (*range(6), 12, 20):
        address = f"{url}/{puts}"
        with monkeypatch.context() as patch:
            Outage(patch, puts)
            with pytest.raises(Unreachable):
                create_store(place_at(address), empty_table(plan, 1), attributes(plan))
        prepare(address, plan, attributes(plan))
        assert contents(address) == contents(f"{url}/whole")
        assert contents(address).items() <= whole[1].items()


def test_a_store_that_ignores_conditions_is_refused_and_left_empty(url, monkeypatch):
    put = obstore.put
    monkeypatch.setattr(obstore, "put", lambda *a, mode: put(*a, mode="overwrite"))
    with pytest.raises(ValueError, match="ignores conditional writes"):
        simulate(small(), store=url)
    assert not place_at(url).exists()


def test_a_swap_of_files_that_comes_late_leaves_what_is_there(tmp_path, monkeypatch):
    # Behind a file:// there are no conditions, and obstore renames.
    place = place_at(f"file://{tmp_path}/run.zarr") / "work/owners/1f"
    place.write(b"old")
    put = obstore.put

    def overtaken(store, key, content, *, mode):
        if isinstance(mode, dict):
            put(store, key, b"of a faster one", mode="overwrite")
        return put(store, key, content, mode=mode)

    with monkeypatch.context() as patch:
        patch.setattr(obstore, "put", overtaken)
        assert not place.swap(b"old", b"new")
    assert place.read() == b"of a faster one"
    assert place.swap(b"of a faster one", b"new")
    assert place.read() == b"new"
    assert place_at(f"file://{tmp_path}/run.zarr").files() == ["work/owners/1f"]


def test_damage_is_named_and_an_outage_is_not_taken_for_it(url, whole, monkeypatch):
    ds = whole[0]
    simulate(LONG, store=url)
    before = contents(url)
    for harm in (lambda raw: raw[: len(raw) // 2], None):
        chunk = place_at(url) / "trajectories/risk/c/1/0"
        chunk.delete() if harm is None else chunk.write(harm(chunk.read()))
        with pytest.raises(ValueError, match="risk/c/1.*(damaged|missing)"):
            open_result(url)
        with pytest.warns(UserWarning, match=f"{url}/trajectories.*computed again"):
            same_bytes(simulate(LONG, store=url), ds)
        assert contents(url) == before
    with monkeypatch.context() as patch:
        original = obstore.get

        def silent(store, key, **options):
            if "/c/" in key:
                raise GenericError("no answer")
            return original(store, key, **options)

        patch.setattr(obstore, "get", silent)
        with pytest.raises(Unreachable, match=f"no answer: '{url}"):
            simulate(LONG, store=url)
    assert contents(url) == before


@pytest.mark.long
def test_a_run_in_an_object_store_grows(url, whole):
    simulate(dataclasses.replace(LONG, seeds=3, cell={"n": 6, "scale": 0.5}), store=url)
    is_of_block = lambda k: "/c/" in k and k.startswith(GROUPS)
    before = {k: v for k, v in contents(url).items() if is_of_block(k)}
    same_bytes(simulate(LONG, store=url), whole[0])
    after = contents(url)
    assert {k: after[k] for k in before} == before


def command(*arguments):
    try:
        cli.main(list(arguments))
    except SystemExit as leaving:
        return leaving.code or 0
    return 0


DESCENT = ["three_points", "--preset", "smoke", "--flow.name", "descent"]
DESCENT += ["--times", "0", "5", "--cell.m", "20", "--seeds", "12"]


@pytest.mark.long
def test_the_command_line_takes_a_url_for_a_folder(tmp_path, capsys, monkeypatch):
    out = f"file://{tmp_path}/mine"
    assert command("run", *DESCENT, "--workers", "0", "--out", out) == 0
    assert f"simbias worker {out}" in capsys.readouterr().err
    # Another process, and then this one.
    line = [sys.executable, "-m", "simbias", "worker", out, "--quiet"]
    paths = [str(ROOT), os.environ.get("PYTHONPATH")]
    monkeypatch.setenv("PYTHONPATH", os.pathsep.join(filter(None, paths)))
    subprocess.run(line, check=True)
    assert is_finished(open_result(out)).all()
    assert command("resume", out) == 0
    assert f"{out}/figure.png" in capsys.readouterr().out
    names = {p.name for p in (tmp_path / "mine").iterdir()}
    shown = {"claims.json", "figure.png", "report.html"}
    assert names == {"run.zarr", "config.json", "time_taken", *shown}
    assert command("figure", f"{out}/run.zarr") == 0
    # What is in a folder may be read as a folder.
    same_bytes(open_result(tmp_path / "mine"), open_result(out))
    other = f"file://{tmp_path}"
    assert command("run", *DESCENT, "--out", other) == 2
    assert "a folder with other content than a run" in capsys.readouterr().err
