"""A run that was deleted or replaced while somebody worked on it is left alone."""

import itertools
import threading

import durable
import pytest
import xarray as xr
from small import small

from simbias.ensemble.plan import make_plan
from simbias.results import attributes, open_result
from simbias.store.address import place_at
from simbias.store.blocks import Blocks
from simbias.store.layout import Store
from simbias.store.lease import Leases
from simbias.store.place import Replaced
from simbias.store.watch import Watch
from simbias.store.work import prepare
from simbias.verbs.simulate import simulate

pytestmark = pytest.mark.process

_NUMBERS = itertools.count()
MINE = small(cell={"n": 6, "scale": (0.1, 0.5)}, seeds=12)
# Of other members, with as many rows, arrays and blocks.
OTHER = small(cell={**MINE.cell, "sigma": 5.0}, seeds=12)


def in_memory():
    return f"memory://replaced-{next(_NUMBERS)}/run.zarr"


@pytest.fixture(params=["folder", "memory"])
def address(request, tmp_path):
    return in_memory() if request.param == "memory" else str(tmp_path / "run.zarr")


def contents(address):
    place = place_at(address)
    return {name: (place / name).read() for name in place.files()}


def once(monkeypatch, owner, name, count, act):
    """`act` before `owner.name` is called for the count-th time."""
    original, calls = getattr(owner, name), itertools.count(1)

    def called(*arguments, **options):
        if next(calls) == count:
            act()
        return original(*arguments, **options)

    monkeypatch.setattr(owner, name, called)


def guard(monkeypatch, owner, name, gate):
    """`owner.name` holds `gate` while it is at work."""
    original = getattr(owner, name)

    def called(*arguments, **options):
        with gate:
            return original(*arguments, **options)

    monkeypatch.setattr(owner, name, called)


@pytest.fixture(scope="module")
def other():
    """The other run: its result, its files, and those of one that was stopped at work,
    with two of three blocks written and a state of the third.
    """

    def stop():
        raise KeyboardInterrupt

    whole, part = in_memory(), in_memory()
    ds = simulate(OTHER, store=whole)
    with pytest.MonkeyPatch.context() as patch:
        once(patch, Store, "commit", 3, stop)
        with pytest.raises(KeyboardInterrupt):
            durable.run_at(part, OTHER)
    part = contents(part)
    assert any(name.startswith("work/states/") for name in part)
    return ds, contents(whole), part


def put(address, files):
    """These files in the place of the run that is there."""
    place = place_at(address)
    place.clear()
    for name, content in files.items():
        (place / name).write(content)


# Before a member is received, a block is claimed, a chunk written, a state saved, a
# heart beats.
MOMENTS = [
    (Blocks, "receive", 4),
    (Blocks, "_claim", 2),
    (Store, "_put", 3),
    (Blocks, "checkpoint", 2),
    (Leases, "_write_heartbeat", 1),
]

# All that write while a run is at work, in three threads.
WRITERS = [
    (Blocks, "receive"),
    (Blocks, "checkpoint"),
    (Blocks, "_claim"),
    (Leases, "_write_heartbeat"),
]


@pytest.mark.parametrize("moment", MOMENTS, ids=lambda m: m[1])
def test_a_worker_of_a_run_that_was_replaced_says_so_and_writes_nothing(
    address, monkeypatch, other, moment
):
    _, whole, part = other
    files = part if moment[2] % 2 else whole
    gate = threading.RLock()

    def act():
        # Blocks are claimed and hearts beat in threads of their own.  Who is between
        # a look and a write then is the matter of a test of its own, below.
        with gate:
            put(address, files)
            monkeypatch.undo()

    for owner, name in WRITERS:
        guard(monkeypatch, owner, name, gate)
    once(monkeypatch, *moment, act)
    with pytest.raises(Replaced, match="was deleted or replaced while this process"):
        durable.run_at(address, MINE)
    assert contents(address) == files


def test_the_same_experiment_begun_again_is_another_run(tmp_path, monkeypatch):
    address, again = tmp_path / "run.zarr", in_memory()
    simulate(MINE, store=again)
    again = contents(again)

    def act():
        monkeypatch.undo()
        put(address, again)

    once(monkeypatch, Blocks, "receive", 4, act)
    with pytest.raises(Replaced):
        durable.run_at(address, MINE)
    assert contents(address) == again


def test_a_worker_of_a_run_that_was_deleted_leaves_nothing(address, monkeypatch):
    def act():
        monkeypatch.undo()
        place_at(address).clear()

    once(monkeypatch, Blocks, "receive", 4, act)
    with pytest.raises(Replaced):
        durable.run_at(address, MINE)
    assert not place_at(address).exists()


@pytest.mark.filterwarnings("ignore:.*block . is computed again")
@pytest.mark.parametrize("look", [1, 3, 5])
def test_who_is_asleep_between_a_look_and_a_write_does_no_harm(
    address, monkeypatch, other, look
):
    """The run is replaced after the number was compared, and before the write."""
    ds, _, part = other
    check, commit, looks = Watch.check, Store.commit, itertools.count(-10_000)

    def late(self):
        check(self)
        # The heart beats in a thread of its own, and would replace it half.
        is_work = threading.current_thread() is threading.main_thread()
        if is_work and next(looks) == look:
            monkeypatch.undo()
            put(address, part)

    def begins(self, *arguments):
        nonlocal looks
        looks = itertools.count(1)
        monkeypatch.setattr(Store, "commit", commit)
        return commit(self, *arguments)

    monkeypatch.setattr(Watch, "check", late)
    monkeypatch.setattr(Store, "commit", begins)
    with pytest.raises(Replaced):
        durable.run_at(address, MINE)
    if not address.startswith("memory"):
        assert contents(address) == part
    durable.run_at(address, OTHER)
    xr.testing.assert_identical(open_result(address), ds)


def test_a_worker_goes_on_in_a_run_that_grew_meanwhile(tmp_path, monkeypatch):
    address, larger = tmp_path / "run.zarr", small(cell=MINE.cell, seeds=20)
    plan = make_plan(larger)

    def act():
        monkeypatch.undo()
        prepare(address, plan, attributes(plan))

    once(monkeypatch, Blocks, "receive", 4, act)
    durable.run_at(address, MINE)
    xr.testing.assert_identical(simulate(larger, store=address), simulate(larger))
