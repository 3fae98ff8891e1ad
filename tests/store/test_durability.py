"""A run may be stopped in any way and ends with the bytes of one that was not."""

import errno
import json
import os
import pathlib
import signal

import durable
import numpy as np
import pytest
import xarray as xr
from durable import LONG
from small import small

from simbias.core import Status
from simbias.ensemble import engine, pace, programs
from simbias.ensemble.plan import make_plan
from simbias.ensemble.table import empty_table
from simbias.results import is_finished, open_result
from simbias.store import checkpoint, layout
from simbias.store._root import attributes_of, sealed
from simbias.store.blocks import Blocks
from simbias.verbs.simulate import simulate

pytestmark = pytest.mark.process


@pytest.fixture(scope="module")
def whole():
    return simulate(LONG)


@pytest.fixture
def short_rounds(monkeypatch):
    monkeypatch.setattr(pace, "_ROUND_SECONDS", 0.005)


def same_bytes(left, right):
    xr.testing.assert_identical(left, right)
    for name in left:
        assert left[name].values.tobytes() == right[name].values.tobytes(), name


def stopped(monkeypatch, number):
    """From now on the process is signalled when lanes are first handed over."""
    receive = Blocks.receive

    def signalled(self, event):
        receive(self, event)
        if type(event).__name__ == "Snapshot" and event.lanes:
            monkeypatch.setattr(Blocks, "receive", receive)
            signal.raise_signal(number)

    monkeypatch.setattr(Blocks, "receive", signalled)


@pytest.mark.usefixtures("short_rounds")
@pytest.mark.parametrize(
    ("number", "error"),
    [
        (signal.SIGINT, KeyboardInterrupt),
        (signal.SIGTERM, SystemExit),
        (signal.SIGHUP, SystemExit),
    ],
)
def test_a_signal_saves_what_is_in_flight(tmp_path, monkeypatch, whole, number, error):
    store = tmp_path / "run.zarr"
    stopped(monkeypatch, number)
    before = signal.getsignal(number)
    with pytest.raises(error) as raised:
        durable.run(store)
    if error is SystemExit:
        assert raised.value.code == 128 + number
    assert signal.getsignal(number) == before
    # What is done can be read, nobody holds anything, and nothing is torn.
    part = open_result(store)
    done = is_finished(part).values
    assert not done.all()
    np.testing.assert_array_equal(part["risk"].values[done], whole["risk"].values[done])
    assert part["risk"].where(~is_finished(part)).isnull().all()
    assert not list((store / "work" / "leases").iterdir())
    # Members in flight go on from where they were, not from time 0.
    begun, resumed = [], []
    begin, resume = programs.Programs.begin, programs.Programs.resume
    monkeypatch.setattr(
        programs.Programs,
        "begin",
        lambda self, seats, lanes: begun.extend(seats) or begin(self, seats, lanes),
    )
    monkeypatch.setattr(
        programs.Programs,
        "resume",
        lambda self, *a: resumed.append(a) or resume(self, *a),
    )
    durable.run(store)
    assert resumed
    assert len(begun) + len(resumed) == (~done).sum()
    same_bytes(open_result(store), whole)
    assert not (store / "work").exists()


@pytest.mark.parametrize(
    "way", [["random", "20"], pytest.param(["between"], marks=pytest.mark.long)]
)
def test_a_killed_run_ends_with_the_bytes_of_one_that_was_not(tmp_path, whole, way):
    store = tmp_path / "run.zarr"
    durable.program(store, *way)
    same_bytes(open_result(store), whole)
    assert not list(tmp_path.rglob("*.partial"))


def all_chunks(store, block):
    """Every file of a block."""
    return [
        path
        for path in sorted(store.glob("*/*/c/**/*"))
        if path.is_file() and path.relative_to(store).parts[3] == str(block)
    ]


def truncate(raw):
    return raw[: len(raw) // 2]


def flip(raw):
    return raw[:-6] + bytes([raw[-6] ^ 1]) + raw[-5:]


@pytest.fixture(scope="module")
def stored(tmp_path_factory):
    store = tmp_path_factory.mktemp("stored") / "run.zarr"
    return store, simulate(small(), store=store)


@pytest.mark.parametrize("harm", [truncate, flip, lambda raw: b"", None])
def test_a_damaged_chunk_is_named_and_its_block_computed_again(
    stored, monkeypatch, harm
):
    store, ds = stored
    pristine = {p: p.read_bytes() for p in all_chunks(store, 1)}
    assert len(pristine) == 5
    harvest, seen = engine.harvest, []
    monkeypatch.setattr(engine, "harvest", lambda *a: seen.append(a[0]) or harvest(*a))
    for path, raw in pristine.items():
        if "risk" not in path.parts and "status" not in path.parts:
            continue
        path.unlink() if harm is None else path.write_bytes(harm(raw))
        name = "/".join(path.relative_to(store).parts[:2])
        if harm is not None or name != "members/status":
            # Without its status a block is one that nobody has computed.
            with pytest.raises(ValueError, match=f"{name}/c/1.*(damaged|missing)"):
                open_result(store)
            with pytest.warns(UserWarning, match=f"{name}.*computed again"):
                again = simulate(small(), store=store)
        else:
            again = simulate(small(), store=store)
        same_bytes(again, ds)
        assert path.read_bytes() == raw
        # Twelve members in blocks of eight: the last four, and nobody else.
        assert sorted(seen) == sorted(set(seen))
        assert len(seen) == 4
        seen.clear()


def test_a_chunk_that_holds_nothing_but_nan_is_not_one_that_is_missing(tmp_path):
    store = tmp_path / "run.zarr"
    failing = small(cell={"n": 6, "scale": 1e200}, times=(1.0, 2.0), final={})
    with pytest.warns(UserWarning, match="ended with status NONFINITE"):
        ds = simulate(failing, store=store)
    assert ds["risk"].isnull().all()
    same_bytes(open_result(store), ds)


def flipped(path):
    path.write_bytes(flip(path.read_bytes()))


def made_a_folder(path):
    path.unlink()
    (path / "of" / "somebody").mkdir(parents=True)


@pytest.mark.usefixtures("short_rounds")
@pytest.mark.parametrize(
    ("harm", "said"),
    [(flipped, r"\d+ is damaged"), (made_a_folder, r"\d+'"), (pathlib.Path.unlink, "")],
)
def test_a_damaged_state_is_named_and_not_read(
    tmp_path, monkeypatch, whole, harm, said
):
    store = tmp_path / "run.zarr"
    stopped(monkeypatch, signal.SIGINT)
    with pytest.raises(KeyboardInterrupt):
        durable.run(store)
    states = [p for p in (store / "work" / "states").iterdir()]
    assert states
    for path in states:
        harm(path)
    assert not is_finished(open_result(store)).all()
    if not said:
        durable.run(store)
    else:
        with pytest.warns(
            UserWarning, match=f"{states[0].parent}/{said}.*is computed again"
        ):
            durable.run(store)
    same_bytes(open_result(store), whole)


def test_a_state_that_is_torn_or_of_another_run_is_not_read(tmp_path):
    plan = make_plan(small())
    path = tmp_path / "states" / "3"
    lanes = {1: [np.arange(3.0), np.array(4)], 5: [np.ones(3), np.array(7)]}
    table = empty_table(plan, 8)
    table.members["end_time"].values[2] = 6.0
    checkpoint.save_state(path, "run", table, np.array([2]), lanes)
    state = checkpoint.load_state(path, "run")
    np.testing.assert_equal(state.lanes, lanes)
    assert state.columns["members/end_time"].tolist() == [6.0]
    with pytest.raises(ValueError, match="belongs to another run"):
        checkpoint.load_state(path, "another")
    raw = path.read_bytes()
    for harm in (truncate, flip, lambda raw: b"", lambda raw: raw[1:]):
        path.write_bytes(harm(raw))
        with pytest.raises(ValueError, match=f"{path} is damaged"):
            checkpoint.load_state(path, "run")
    # That of another block, put in its place.
    path.with_name("4").write_bytes(raw)
    with pytest.raises(ValueError, match="belongs to another run"):
        checkpoint.load_state(path.with_name("4"), "run")


def test_damaged_metadata_is_named(tmp_path):
    store = tmp_path / "run.zarr"
    simulate(small(cell={"n": 6}, seeds=1), store=store)
    one = store / "trajectories" / "risk" / "zarr.json"
    one.write_text("{")
    with pytest.raises(ValueError, match=f"{one} is damaged"):
        open_result(store)
    one.unlink()
    with pytest.raises(ValueError, match=f"{one} is missing"):
        open_result(store)
    (store / "zarr.json").write_text("{")
    with pytest.raises(ValueError, match=r"zarr.json is damaged"):
        open_result(store)


@pytest.mark.parametrize(
    ("change", "fault"),
    [
        ({"extents": None}, "extents is missing"),
        ({"extents": [{"cell": {}}]}, "extents holds"),
        ({"block": 0}, "block or extents is empty"),
        ({"configuration": {"cell": "n"}}, "configuration.name is missing"),
        ({"recipe": {}}, "recipe.experiment is missing"),
    ],
)
def test_a_root_that_says_something_else_is_named(tmp_path, change, fault):
    store = tmp_path / "run.zarr"
    simulate(small(cell={"n": 6}, seeds=1), store=store)
    root = attributes_of(json.loads((store / "zarr.json").read_text()))
    kept = {k: v for k, v in {**root, **change}.items() if v is not None}
    (store / "zarr.json").write_bytes(sealed(kept))
    with pytest.raises(ValueError, match=f"zarr.json is damaged: {fault}"):
        open_result(store)


@pytest.mark.usefixtures("short_rounds")
@pytest.mark.parametrize("where", ["chunk", "state"])
def test_a_full_disk_stops_the_run_and_loses_nothing(
    tmp_path, monkeypatch, whole, where
):
    store = tmp_path / "run.zarr"
    full = OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))
    # How often a state is saved is a matter of time: once at least.
    module, room = (layout, 20) if where == "chunk" else (checkpoint, 0)
    sync, calls = module.sync, []

    def filling(path):
        calls.append(path)
        if len(calls) > room:
            raise full
        sync(path)

    monkeypatch.setattr(module, "sync", filling)
    with pytest.raises(OSError, match=f"No space left on device: '{store}") as raised:
        durable.run(store)
    assert raised.value.errno == errno.ENOSPC
    monkeypatch.setattr(module, "sync", sync)
    part = open_result(store)
    done = is_finished(part).values
    assert not done.all()
    assert (part["status"].values[~done] == Status.RUNNING).all()
    np.testing.assert_array_equal(part["risk"].values[done], whole["risk"].values[done])
    durable.run(store)
    same_bytes(open_result(store), whole)


def test_a_folder_that_cannot_be_written_is_an_error_that_names_it():
    with pytest.raises(OSError, match="/proc/simbias"):
        simulate(small(), store="/proc/simbias/run.zarr")
