"""The folder of a run may be a stranger's: nothing in it hangs, leads out or bursts."""

import contextlib
import datetime
import hashlib
import io
import json
import math
import os
import shutil
import signal
import tracemalloc
import zipfile

import numpy as np
import pytest
import xarray as xr

import simbias
from simbias import cli
from simbias.datasets import Npz
from simbias.store import room
from simbias.store._root import attributes_of, sealed
from simbias.store.checkpoint import _header, load_state, run_hash
from simbias.store.evaluations import (
    Evaluation,
    read_evaluations,
    save_evaluation,
)
from simbias.store.layout import open_store
from simbias.verbs.export import export

pytestmark = pytest.mark.process

DESCENT = ["three_points", "--preset", "smoke", "--flow.name", "descent"]
DESCENT += ["--times", "0", "5", "--cell.m", "20", "--seeds", "2"]


def command(*arguments):
    try:
        cli.main([str(word) for word in arguments])
    except SystemExit as leaving:
        return leaving.code or 0
    return 0


@pytest.fixture(autouse=True)
def alarm():
    """Whatever hangs is stopped."""

    def over(*_):
        raise AssertionError("it hangs")

    before = signal.signal(signal.SIGALRM, over)
    signal.alarm(120)
    yield
    signal.alarm(0)
    signal.signal(signal.SIGALRM, before)


@pytest.fixture(scope="module")
def stored(tmp_path_factory):
    folder = tmp_path_factory.mktemp("stored")
    assert command("run", *DESCENT, "--out", folder / "run") == 0
    assert command("run", *DESCENT, "--out", folder / "begun", "--workers", "0") == 0
    return folder


@pytest.fixture
def run(stored, tmp_path):
    return shutil.copytree(stored / "run", tmp_path / "run")


@pytest.fixture
def begun(stored, tmp_path):
    return shutil.copytree(stored / "begun", tmp_path / "begun")


def seal(run, change):
    root = run / "run.zarr" / "zarr.json"
    attributes = attributes_of(json.loads(root.read_text()))
    change(attributes)
    root.write_bytes(sealed(attributes))


def with_seeds(seeds):
    def change(one):
        one["configuration"]["seeds"] = one["extents"][-1]["seeds"] = seeds
        lengths = map(len, one["extents"][-1]["cell"].values())
        members = math.prod([*lengths, seeds])
        one["extents"][-1]["blocks"] = -(-members // one["block"])

    return change


def with_extents(one):
    with_seeds(2**22)(one)
    last = one["extents"][-1]
    one["extents"] = [{**last, "seeds": 2**22 - 40 + i} for i in range(40)] + [last]


def with_shape(size, times=1):
    def change(one):
        one["columns"]["final/x"] = {"dtype": "float64", "dims": ["a"] * times}
        if times > 1:
            one["columns"]["final/x"]["dims"] = [f"a{i}" for i in range(times)]
        for extent in one["extents"]:
            extent["shapes"]["final/x"] = [size] * times

    return change


HOSTILE = {
    "seeds": (with_seeds(2**28), "members, more than"),
    "extents": (with_extents, "members, more than"),
    "blocks": (lambda a: a["extents"][-1].update(blocks=10**15), "members in"),
    "block": (lambda a: a.update(block=2**70), "block is"),
    "shape": (with_shape(10**15), "memory"),
    "large": (with_shape(2**26), "are stored so far"),
    "dims": (with_shape(1, 80), "more than 32 axes"),
    "outside": (lambda a: a["coords"].update({"../x": [1]}), "coords holds"),
    "texts": (lambda a: a["configuration"].update(times=["0", "5"]), "times is"),
    "levels": (lambda a: a["recipe"].update(overrides=nested(900)), "nested too"),
    "digits": (lambda a: a["configuration"].update(root=10**400), "too long"),
    "status": (lambda a: a["columns"].pop("members/status"), "extents holds"),
}


def nested(levels):
    return [] if levels == 0 else [nested(levels - 1)]


@pytest.mark.parametrize("what", HOSTILE)
def test_sizes_that_no_file_could_hold_are_named_and_nothing_is_reserved(run, what):
    change, message = HOSTILE[what]
    seal(run, change)
    tracemalloc.start()
    with pytest.raises(ValueError, match=message):
        simbias.open_result(run)
    assert tracemalloc.get_traced_memory()[1] < 2**26
    tracemalloc.stop()
    assert command("status", run) in (0, 2)


def as_pipe(place):
    os.mkfifo(place)


def as_device(place):
    place.symlink_to("/dev/zero")


def as_folder(place):
    place.mkdir()


def as_link(place):
    outside = place.parent.parent / "outside"
    outside.write_bytes(b"GIF89a")
    place.symlink_to(outside)


KINDS = [as_pipe, as_device, as_folder, as_link]


@pytest.mark.parametrize("kind", KINDS)
def test_a_film_that_is_no_file_is_left_out_of_the_report(run, kind, capsys):
    kind(run / "film.mp4")
    assert command("report", run) == 0
    assert "film.mp4 is not in the report" in capsys.readouterr().err


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize(
    "name",
    ["time_taken/z.json", "run.zarr/evaluations/a", "run.zarr/work/owners/a"],
)
def test_notes_that_are_no_files_are_left_out(begun, kind, name):
    place = begun / name
    place.parent.mkdir(parents=True, exist_ok=True)
    kind(place)
    assert command("status", begun) == 0
    # What is a folder holds no evaluation.
    is_told = "evaluations" in name and kind is not as_folder
    told = pytest.warns(UserWarning, match="is ignored")
    with told if is_told else contextlib.nullcontext():
        simbias.open_result(begun)


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize(
    "name", ["zarr.json", "members/status/c/0", "members/status/zarr.json"]
)
def test_data_that_are_no_files_are_named(run, kind, name):
    place = run / "run.zarr" / name
    place.unlink()
    kind(place)
    if kind is as_folder and "/c/" in name:  # which holds no member
        assert (simbias.open_result(run)["status"] == 0).all()
        return
    with pytest.raises((ValueError, OSError), match=r"not a|link|damaged|a folder"):
        simbias.open_result(run)


@pytest.mark.parametrize("name", ["time_taken", "run.zarr/work", "run.zarr"])
def test_a_folder_that_leads_elsewhere_is_not_written_to(begun, tmp_path, name, capsys):
    place, outside = begun / name, tmp_path / "outside"
    shutil.move(place, outside) if place.exists() else outside.mkdir()
    place.symlink_to(outside)
    before = sorted(outside.rglob("*"))
    code = command("worker", begun, "--quiet")
    assert code == (0 if name == "time_taken" else 2)
    if code:
        assert "links are not allowed in a run" in capsys.readouterr().err
    assert sorted(outside.rglob("*")) == before


def test_a_run_that_the_person_names_by_a_link_is_read_and_gone_on_with(
    begun, run, tmp_path
):
    for folder in (begun, run):
        link = tmp_path / f"link-{folder.name}"
        link.symlink_to(folder)
        assert command("worker", link, "--quiet") == 0
        assert command("report", link) == 0
    store = tmp_path / "store"
    store.symlink_to(begun / "run.zarr")
    xr.testing.assert_equal(simbias.open_result(store), simbias.open_result(run))


def with_data(run, path):
    digest = hashlib.sha256(b"").hexdigest()
    seal(
        run,
        lambda a: a["recipe"]["overrides"].append(
            {"data": {"path": str(path), "sha256": digest}}
        ),
    )


@pytest.mark.parametrize("kind", KINDS)
def test_a_data_path_of_a_stranger_is_not_read_unless_it_is_a_file(
    run, tmp_path, kind, capsys
):
    place = tmp_path / "data.npz"
    kind(place)
    with_data(run, place)
    assert command("resume", run) == 2
    said = capsys.readouterr().err
    assert str(place) in said
    # Nor does anybody learn what is in a file of ours.
    assert hashlib.sha256(b"GIF89a").hexdigest() not in said


def bomb(header, size, packed=zipfile.ZIP_DEFLATED):
    """An archive of an array of zeros."""
    out = io.BytesIO()
    with zipfile.ZipFile(out, "w", packed) as archive:
        archive.writestr("done.npy", header + bytes(size))
    return out.getvalue()


def npy(shape):
    out = io.BytesIO()
    head = {"descr": "<f8", "fortran_order": False, "shape": shape}
    np.lib.format.write_array_header_1_0(out, head)
    return out.getvalue()


@pytest.mark.parametrize("shape", [(2**26,), (10**15,), (2**70, 0)])
def test_a_state_that_unpacks_to_more_than_it_is_is_not_unpacked(begun, shape):
    store = open_store(begun / "run.zarr")
    run, place = run_hash(store.attributes, 0), store.work / "states" / "0"
    body = _header(run, "0") + bomb(npy(shape), 2**29 if shape[0] == 2**26 else 0)
    place.write(hashlib.sha256(body).hexdigest().encode() + b"\n" + body)
    tracemalloc.start()
    with pytest.raises(ValueError, match="is damaged"):
        load_state(place, run, store.block)
    assert tracemalloc.get_traced_memory()[1] < 2**24
    tracemalloc.stop()
    assert command("status", begun) == 0


def test_a_state_too_large_to_unpack_is_not_read(begun, monkeypatch):
    monkeypatch.setattr(room, "physical_memory", lambda: 2**20)
    store = open_store(begun / "run.zarr")
    place = store.work / "states" / "0"
    place.write(b"")
    os.truncate(place.path, 2**31)
    tracemalloc.start()
    with pytest.raises(OSError, match="more than 262144"):
        load_state(place, run_hash(store.attributes, 0), store.block)
    assert tracemalloc.get_traced_memory()[1] < 2**24
    tracemalloc.stop()


def test_an_evaluation_too_large_is_neither_written_nor_read(stored):
    store = open_store(stored / "run" / "run.zarr")
    large = np.broadcast_to(0.0, (2**25,))
    with pytest.raises(ValueError, match="256 MiB, but at most 128"):
        save_evaluation(store, "own", Evaluation(("z",), {}, large, {}))
    place = store.place / "evaluations" / "own"
    place.write(b"")
    os.truncate(place.path, 2**31)
    tracemalloc.start()
    with pytest.warns(UserWarning, match="own is ignored"):
        assert "own" not in read_evaluations(store)
    assert tracemalloc.get_traced_memory()[1] < 2**24
    tracemalloc.stop()
    place.delete()


@pytest.mark.parametrize("rows", [[10**6], [-1], [0, 0], [0.5]])
def test_a_state_of_rows_that_no_block_has_is_not_counted(begun, rows, capsys):
    store = open_store(begun / "run.zarr")
    out = io.BytesIO()
    np.savez(out, done=np.array(rows))
    body = _header(run_hash(store.attributes, 0), "0") + out.getvalue()
    place = store.work / "states" / "0"
    place.write(hashlib.sha256(body).hexdigest().encode() + b"\n" + body)
    assert command("status", begun) == 0
    assert "0 of 2 networks done" in capsys.readouterr().out
    assert (simbias.open_result(begun)["status"] == 0).all()


@pytest.mark.parametrize("shape", [(10**15,), (2**70, 0), (3,) * 40])
def test_a_header_of_an_npz_file_is_not_believed(tmp_path, shape):
    (tmp_path / "x.npz").write_bytes(bomb(npy(shape), 0))
    with pytest.raises(ValueError, match="is no npz file of numbers"):
        Npz(str(tmp_path / "x.npz"))


def test_an_npz_file_that_unpacks_to_gigabytes_is_refused_at_once(tmp_path):
    size, claimed = len(npy((2**28,))) + 2**20, 2**31 + 2**30
    # The archive says it twice.
    raw = bomb(npy((2**28,)), 2**20)
    assert raw.count(size.to_bytes(4, "little")) == 2
    raw = raw.replace(size.to_bytes(4, "little"), claimed.to_bytes(4, "little"))
    (tmp_path / "x.npz").write_bytes(raw)
    with pytest.raises(ValueError, match="it unpacks to 3221225472 bytes, more than"):
        Npz(str(tmp_path / "x.npz"))


NOTES = [10**400, float("inf"), "x", None, [], True]


@pytest.mark.parametrize("began", NOTES)
def test_times_that_are_none_are_left_out(run, began):
    note = {"run": open_store(run / "run.zarr").attributes["run"], "began": began}
    note |= {"ended": 1.0, "cpu": 1.0, "compiling": 0.0}
    (run / "time_taken" / "z.json").write_text(json.dumps(note))
    assert command("status", run) == command("report", run) == 0


def evaluation(run, **changes):
    values = np.arange(3.0)
    head = {"run": open_store(run / "run.zarr").attributes["run"], "name": "own"}
    head |= {"dims": ["z"], "coords": {"z": [1, 2, 3]}, "cell": {}} | changes
    out = io.BytesIO()
    np.save(out, values)
    body = json.dumps(head).encode() + b"\n" + out.getvalue()
    place = run / "run.zarr" / "evaluations" / "own"
    place.parent.mkdir(exist_ok=True)
    place.write_bytes(hashlib.sha256(body).hexdigest().encode() + b"\n" + body)


CHANGES = [
    {"dims": 3},
    {"dims": [["z"]]},
    {"dims": ["z", "z"]},
    {"dims": ["scale"], "coords": {"scale": [[1], [2], [3]]}},
    {"coords": {"z": [[1], [2], [3]]}},
    {"coords": {"z": "abc"}},
    {"coords": [1]},
    {"cell": 3},
    {"cell": {"scale": [1, 2]}},
    {"cell": {"time": {"a": 1}}},
    {"name": 5},
]


@pytest.mark.parametrize("changes", CHANGES)
@pytest.mark.filterwarnings("ignore::UserWarning")
def test_an_evaluation_that_is_none_is_left_out_and_the_run_is_read(run, changes):
    ds = simbias.open_result(run)
    evaluation(run, **changes)
    found = simbias.open_result(run)
    xr.testing.assert_identical(found.drop_vars(["own", "z"], errors="ignore"), ds)


ESCAPE = "\x1b[2J\x9b2J\u202e\x07"


def test_nothing_is_printed_that_a_terminal_would_obey(run, tmp_path, capsys):
    def rename(one):
        one["configuration"]["name"] = f"name{ESCAPE}"
        one["recipe"]["overrides"].append({f"key{ESCAPE}": 1})
        one["versions"][f"v{ESCAPE}"] = ESCAPE

    path = tmp_path / f"data{ESCAPE}.npz"
    seal(run, rename)
    for words in (["status", run], ["resume", run], ["report", run], ["figure", run]):
        command(*words)
    seal(run, lambda one: one["recipe"].update(overrides=[]))
    with_data(run, path)
    command("resume", run)
    command("resume", tmp_path / ESCAPE)
    out, err = capsys.readouterr()
    assert "name?[2J" in out
    assert "key?[2J" in err
    assert "data?[2J" in err
    for text in (out, err):
        assert all(c.isprintable() or c in "\n\t" for c in text)


def test_names_in_a_file_of_tables_stay_in_its_folder(run, tmp_path):
    ds = simbias.open_result(run)
    status = ds["status"]
    bad = xr.DataArray(np.zeros((*status.shape, 2)), dims=(*status.dims, "q"))
    ds = ds.assign(values=bad).rename(q="/../../q")
    (tmp_path / "tables").mkdir()
    files = export(ds, tmp_path / "tables" / "x.csv")
    assert {file.parent for file in files} == {tmp_path / "tables"}


CHECKS = ["[" * 900 + "]" * 900, "[1]", '{"experiment": "x", "preset": "y"}']
CHECKS += ['{"experiment": [], "preset": {}, "claims": []}', "3", "[" * 10**5]
CHECKS += ['{"experiment": "threshold", "preset": "quick", "claims": [{}]}']


@pytest.mark.parametrize("text", CHECKS)
def test_what_is_no_check_is_named(tmp_path, text, capsys):
    (tmp_path / "x.json").write_text(text)
    assert command("ledger", "--checked", tmp_path / "x.json") == 2
    assert "is no check" in capsys.readouterr().err


CONFIGS = {
    "pipe": lambda file: os.mkfifo(file),
    "digits": lambda file: file.write_text(f"seeds = {'9' * 5000}"),
    "times": lambda file: file.write_text(f"times = {list(range(2 * 10**6))}"),
    "more": lambda file: file.write_text(f"times = {list(range(2 * 10**5))}"),
}


@pytest.mark.parametrize("what", CONFIGS)
def test_a_file_of_options_is_read_at_once_or_named(tmp_path, what, capsys):
    CONFIGS[what](tmp_path / "x.toml")
    began = datetime.datetime.now()
    assert command("run", "threshold", "--config", tmp_path / "x.toml") == 2
    assert datetime.datetime.now() - began < datetime.timedelta(seconds=30)
    assert "x.toml" in (err := capsys.readouterr().err) or "`times`" in err


def test_help_ends_in_one_column(monkeypatch, capsys):
    monkeypatch.setenv("COLUMNS", "1")
    assert command("run", "threshold", "--help", "--no-compile-cache") == 0
    assert "--seeds" in capsys.readouterr().out
