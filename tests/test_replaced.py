"""A run that was deleted or replaced while somebody worked on it is left alone."""

import itertools

import durable
import pytest
import xarray as xr
from durable import LONG
from small import small

from simbias.ensemble import pace
from simbias.results import open_result
from simbias.simulate import simulate
from simbias.store.address import place_at
from simbias.store.blocks import Blocks
from simbias.store.layout import Store
from simbias.store.lease import Leases
from simbias.store.place import Replaced
from simbias.store.watch import Watch

_NUMBERS = itertools.count()
# Of other members, with as many rows, arrays and blocks.
OTHER = small(
    cell={"n": 6, "scale": (0.1, 0.5), "sigma": 5.0}, seeds=18, times=LONG.times
)


@pytest.fixture(params=["folder", "memory"])
def address(request, tmp_path):
    name = f"memory://replaced-{next(_NUMBERS)}/run.zarr"
    return name if request.param == "memory" else str(tmp_path / "run.zarr")


@pytest.fixture(autouse=True)
def short_rounds(monkeypatch):
    monkeypatch.setattr(pace, "_ROUND_SECONDS", 0.005)


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


def replaced(address, experiment, is_worked_on):
    """Another run in the place of the one that is there; its files."""
    with pytest.MonkeyPatch.context() as patch:
        place_at(address).clear()
        if is_worked_on:
            # it is stopped at work: states and some of its blocks are there.
            def stop():
                raise KeyboardInterrupt

            once(patch, Store, "commit", 3, stop)
            with pytest.raises(KeyboardInterrupt):
                durable.run_at(address, experiment)
        else:
            simulate(experiment, store=address)
    return contents(address)


# Before a member is received, a block is claimed, a chunk written, a state saved.
MOMENTS = [(Blocks, "receive", 4), (Blocks, "_claim", 2), (Store, "_put", 4)]
MOMENTS += [
    (Store, "_put", 5),
    (Blocks, "checkpoint", 3),
    (Leases, "_write_heartbeat", 1),
]


@pytest.mark.parametrize("moment", MOMENTS, ids=lambda m: f"{m[1]}{m[2]}")
def test_a_worker_of_a_run_that_was_replaced_says_so_and_writes_nothing(
    address, monkeypatch, moment
):
    new = []
    is_first = moment[2] % 2 == 0

    def act():
        monkeypatch.undo()
        new.append(replaced(address, OTHER, is_worked_on=is_first))

    once(monkeypatch, *moment, act)
    with pytest.raises(Replaced, match="was deleted or replaced while this process"):
        durable.run_at(address, LONG)
    assert contents(address) == new[0]
    durable.run_at(address, OTHER)
    xr.testing.assert_identical(open_result(address), simulate(OTHER))


def test_the_same_experiment_begun_again_is_another_run(address, monkeypatch):
    new = []

    def act():
        monkeypatch.undo()
        new.append(replaced(address, LONG, is_worked_on=True))

    once(monkeypatch, Blocks, "receive", 4, act)
    with pytest.raises(Replaced):
        durable.run_at(address, LONG)
    assert contents(address) == new[0]


def test_a_worker_of_a_run_that_was_deleted_leaves_nothing(address, monkeypatch):
    def act():
        monkeypatch.undo()
        place_at(address).clear()

    once(monkeypatch, Blocks, "receive", 4, act)
    with pytest.raises(Replaced):
        durable.run_at(address, LONG)
    assert not place_at(address).exists()


@pytest.mark.parametrize("chunk", range(1, 6))
def test_who_is_asleep_between_a_look_and_a_write_does_no_harm(
    address, monkeypatch, chunk
):
    """The run is replaced after the number was compared and before the write."""
    check, looks = Watch.check, itertools.count(1)

    def late(self):
        check(self)
        if next(looks) == wanted:
            monkeypatch.undo()
            replaced(address, OTHER, is_worked_on=True)

    # The looks of the first commit are counted from its beginning.
    wanted = 0
    commit = Store.commit

    def begins(self, *arguments):
        nonlocal looks, wanted
        looks, wanted = itertools.count(1), chunk
        monkeypatch.setattr(Store, "commit", commit)
        return commit(self, *arguments)

    monkeypatch.setattr(Watch, "check", late)
    monkeypatch.setattr(Store, "commit", begins)
    with pytest.raises(Replaced):
        durable.run_at(address, LONG)
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr("warnings.warn", lambda *_, **__: None)
        durable.run_at(address, OTHER)
    xr.testing.assert_identical(open_result(address), simulate(OTHER))


def test_a_worker_goes_on_in_a_run_that_grew_meanwhile(address, monkeypatch):
    less = small(cell=LONG.cell, seeds=12, times=LONG.times)

    def act():
        monkeypatch.undo()
        simulate(LONG, store=address)

    once(monkeypatch, Blocks, "receive", 4, act)
    durable.run_at(address, less)
    xr.testing.assert_identical(open_result(address), simulate(LONG))
