"""A run in a store: made ready, worked on by any number of processes, read back."""

import contextlib
import functools
import threading
import time
import warnings
from collections.abc import Mapping
from typing import Any

import jax
import numpy as np
from jaxtyping import Bool

from simbias.ensemble.bar import Bar, Pulse, Report
from simbias.ensemble.engine import Stations
from simbias.ensemble.memory import station_devices
from simbias.ensemble.plan import Plan
from simbias.ensemble.programs import Programs
from simbias.ensemble.table import Table, empty_table, put_rows
from simbias.errors import BadInput
from simbias.store.address import place_at
from simbias.store.block_states import block_states
from simbias.store.blocks import Blocks
from simbias.store.compatible import check_compatible
from simbias.store.creation import (
    clear_stub,
    complete_store,
    create_store,
    grow_store,
)
from simbias.store.interrupt import Interrupt
from simbias.store.layout import Store, open_store
from simbias.store.lease import Leases, alone
from simbias.store.place import Address, Replaced, Unreachable, naming
from simbias.store.plain import lacks_plain, write_plain
from simbias.store.room import TooEarly

# Lanes in flight are saved this often, or less often where saving them takes long:
# at most a twentieth of the time goes there.
CHECKPOINT_SECONDS = 30.0
_SHARE = 20
# How often to look whether blocks that others hold are done, or free again.
_POLL_SECONDS, _RARELY = 1.0, 5


def prepare(address: Address, plan: Plan, attributes: Mapping[str, Any]) -> Store:
    """The store of a run: made, or made larger, or found as it should be.

    Raises:
        ValueError: if it is something else, or a run that may not be continued here.
        OSError: if the place cannot be written, or does not answer.
    """
    place, table = place_at(address), empty_table(plan, 1)
    if not place.exists() or clear_stub(place):
        create_store(place, table, attributes)
    store = open_store(place)
    must_grow = check_compatible(store, attributes)
    complete_store(store, table)
    if must_grow:
        with alone(store.work, store.check):
            store = open_store(place)
            if check_compatible(store, attributes):
                with naming(place):
                    grow_store(store, table, attributes)
        store = open_store(place)
        complete_store(store, table)
    return store


def work(
    plan: Plan,
    store: Store,
    *,
    lanes: int | None = None,
    devices: list[jax.Device] | None = None,
    progress: bool = False,
    report: Report | None = None,
    checkpoint_seconds: float = CHECKPOINT_SECONDS,
    over: threading.Event | None = None,
    wanted: Bool[np.ndarray, " members"] | None = None,
) -> None:
    """Compute what is missing, beside whoever else does, until nothing is.

    Args:
        plan: what there is to compute.
        store: where it goes.
        lanes: members in flight per station.
        devices: where to run.
        progress: draw a progress bar.
        report: told where the run is, now and then.
        checkpoint_seconds: how often to save what is in flight.
        over: set, it asks for the same as SIGTERM.
        wanted: members without which it is not over, True for each; all if not given.

    Raises:
        KeyboardInterrupt, SystemExit: after SIGINT, and after SIGTERM and SIGHUP; what
            was in flight is saved then.
        OSError: if the store cannot be written.
        Replaced: if the run was deleted or replaced; nothing more is written then.
    """
    devices = jax.local_devices() if devices is None else devices
    with (
        Interrupt(over) as interrupt,
        Leases(store.work, check=store.check) as leases,
    ):
        blocks = Blocks(plan, store, leases, wanted)
        with Bar(
            plan.experiment.name,
            blocks.size,
            is_drawn=progress,
            report=functools.partial(_told, leases, report),
        ) as bar:
            programs = Programs(plan, devices[0].platform, bar.progress)
            is_left = blocks.missing()
            while is_left:
                bar.show(blocks.finished)
                driven = station_devices(devices, blocks.size - blocks.finished)
                stations = Stations(
                    programs,
                    blocks,
                    driven,
                    lanes=lanes,
                    snapshot_seconds=checkpoint_seconds,
                    # Behind those of who came before: each compiles another shape.
                    first=leases.others() * len(driven),
                )
                _run(stations, blocks, bar, interrupt, checkpoint_seconds)
                began = time.monotonic()
                is_left = blocks.missing()
                if is_left:
                    # Others are at the rest: done by them, or taken over when they are
                    # dead.  Where looking takes long, or they are many, one looks less.
                    looked = time.monotonic() - began
                    _pause(interrupt, max(_POLL_SECONDS, _RARELY * looked))
            bar.show(blocks.finished)
    finish(store)


def _told(leases: Leases, report: Report | None, pulse: Pulse) -> None:
    """The heartbeat says which program is being compiled, for who looks on."""
    begun = pulse.begun if pulse.is_compiling else 0
    leases.note = {**leases.note, "compiling": begun, "shapes": pulse.shapes}
    if report is not None:
        report(pulse)


def finish(store: Store) -> None:
    """Remove what only unfinished runs need.

    Does nothing if another process has done so, or if the store has grown meanwhile,
    and others are at it.
    """
    store.check()
    if not store.work.exists():
        return
    store = open_store(store.place)
    if not store.is_whole():
        return
    store.place.tidy()
    store.work.clear()


def complete(store: Store) -> Table | None:
    """Everything, if nothing is missing or damaged; what is damaged is given up."""
    try:
        table, wrong = store.read()
    except TooEarly:
        if store.is_whole():
            raise
        return None  # a large run that has just begun
    for block, what in wrong.items():
        warnings.warn(
            f"{store.place}/{what}; block {block} is computed again.", stacklevel=2
        )
        store.forget(block)
    if not table.is_done().all():
        return None
    write_plain(store, table)
    finish(store)
    return table


def complete_by_one(store: Store) -> None:
    """Plain data of a finished run, by the first process that asks.

    For many processes that end at once: the others neither wait nor read anything.  If
    that one is killed, it is left to whoever next asks for the run.

    Raises:
        OSError: if the store cannot be written.
        Replaced: if the run is not there any more.
    """
    store.check()
    store = open_store(store.place)
    blocks = store.attributes["extents"][-1]["blocks"]
    if len(store.committed()) < blocks or not lacks_plain(store):
        return
    with Leases(store.work, check=store.check) as leases:
        if leases.claim("plain") and lacks_plain(store):
            complete(store)
    if not lacks_plain(store):  # else the one that is at it will
        finish(store)


def read_so_far(store: Store) -> Table:
    """What is stored, members of unfinished blocks included.

    Raises:
        ValueError: if a block is damaged.
    """
    table, wrong = store.read()
    if wrong:
        raise BadInput(
            f"{store.place}: {'; '.join(wrong.values())}. To compute these blocks "
            "again, continue the run (`simbias resume`)."
        )
    rows = store.rows()
    members = np.full(int(rows.max()) + store.block, -1)
    members[rows] = np.arange(rows.size)
    for block, state in block_states(store, store.committed()):
        with contextlib.suppress(ValueError, KeyError, IndexError):
            found = members[block * store.block + state.done]
            own = {name: v[found >= 0] for name, v in state.columns.items()}
            put_rows(table, found[found >= 0], own)
    return table


def _run(
    stations: Stations,
    blocks: Blocks,
    bar: Bar,
    interrupt: Interrupt,
    checkpoint_seconds: float,
) -> None:
    """One pass of the stations; however it ends, what is in flight is saved."""
    saved = time.monotonic()
    with stations:
        try:
            for event in stations.events():
                if event is not None:
                    blocks.receive(event)
                if interrupt.signal is not None:
                    stations.stop()
                    bar.progress.is_stopping = True
                bar.show(blocks.finished, event)
                pause = stations.snapshot_seconds or 0.0
                if time.monotonic() - saved >= pause:
                    began = time.monotonic()
                    blocks.checkpoint()
                    saved = time.monotonic()
                    stations.snapshot_seconds = max(
                        checkpoint_seconds, _SHARE * (saved - began)
                    )
        except (Unreachable, Replaced):
            raise  # at once: nothing can be saved, and each try would take a minute
        except BaseException:
            # The error that is raised is the first one, whatever follows from it.
            with contextlib.suppress(OSError):
                for event in stations.drain():
                    blocks.receive(event)
            with contextlib.suppress(OSError):
                blocks.checkpoint()
            raise
        if interrupt.signal is not None:
            blocks.checkpoint()
            interrupt.raise_noted()


def _pause(interrupt: Interrupt, seconds: float) -> None:
    until = time.monotonic() + seconds
    while time.monotonic() < until:
        interrupt.raise_noted()
        time.sleep(0.05)
