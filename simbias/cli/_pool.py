"""Several workers on this machine, each with its share of the cores."""

import os
import signal
import subprocess
import sys
import time

import numpy as np

from simbias.compiled import keeps_programs
from simbias.ensemble.bar import Bar
from simbias.ensemble.plan import Plan
from simbias.store.interrupt import Interrupt
from simbias.store.layout import Store
from simbias.store.lease import heartbeats
from simbias.store.place import AbstractPlace

NO_CACHE = "--no-compile-cache"
_POLL_SECONDS = 0.5


def run_workers(
    plan: Plan, store: Store, out: AbstractPlace, count: int, lanes: int | None
) -> None:
    """Start workers and wait for them.

    Raises:
        KeyboardInterrupt, SystemExit: after a signal, when every worker has saved what
            it had in flight.
        ChildProcessError: if a worker failed.
    """
    members = np.bincount(store.rows() // store.block)
    with (
        Interrupt() as interrupt,
        Bar(plan.experiment.name, plan.size, is_drawn=True) as bar,
    ):
        workers = [_start(out, f"{i + 1}/{count}", lanes) for i in range(count)]
        is_told = False
        while any(worker.poll() is None for worker in workers):
            if interrupt.signal is not None and not is_told:
                is_told = True
                for worker in workers:
                    worker.send_signal(signal.SIGTERM)
            bar.show(_finished(store, members))
            time.sleep(_POLL_SECONDS)
        bar.show(_finished(store, members))
        interrupt.raise_noted()
    failed = [worker for worker in workers if worker.returncode != 0]
    if failed:
        raise ChildProcessError(
            f"{len(failed)} of {count} workers failed, the first with exit code "
            f"{failed[0].returncode}"
        )


def take_share(share: str | None) -> None:
    """Keep this process to its share of the cores, given as `1/4`.

    Raises:
        ValueError: for anything else.
    """
    if share is None:
        return
    first, _, second = share.partition("/")
    if not (first.isdigit() and second.isdigit() and 1 <= int(first) <= int(second)):
        raise ValueError(f"`--share` must be like 1/4, got {share!r}.")
    if not hasattr(os, "sched_setaffinity"):
        return
    i, count = int(first) - 1, int(second)
    cores = sorted(os.sched_getaffinity(0))
    os.sched_setaffinity(0, cores[i::count] or [cores[i % len(cores)]])


def _start(out: AbstractPlace, share: str, lanes: int | None) -> subprocess.Popen:
    command = [sys.executable, "-m", "simbias", "worker", str(out), "--quiet"]
    command += ["--share", share]
    if lanes is not None:
        command += ["--lanes", str(lanes)]
    if not keeps_programs():
        command.append(NO_CACHE)
    # In a session of its own, so that Ctrl-C reaches a worker once, by way of us.
    return subprocess.Popen(command, start_new_session=True)


def _finished(store: Store, members: np.ndarray) -> int:
    pending = sum(beat.get("pending", 0) for beat in heartbeats(store.work))
    done = sum(int(members[b]) for b in store.committed() if b < members.size)
    return min(done + pending, int(members.sum()))
