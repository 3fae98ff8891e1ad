"""Several workers on this machine, each with its share of the cores."""

import contextlib
import os
import signal
import subprocess
import sys
import threading
import time
from collections.abc import Sequence

import numpy as np

from simbias.cli._terminal import NO_CACHE
from simbias.ensemble.bar import Bar, Report
from simbias.ensemble.plan import Plan
from simbias.errors import BadInput
from simbias.numerics.compiled import keeps_programs
from simbias.store.interrupt import Interrupt
from simbias.store.layout import Store
from simbias.store.lease import heartbeats

_POLL_SECONDS = 0.5


def run_workers(
    plan: Plan,
    store: Store,
    words: Sequence[str],
    count: int,
    lanes: int | None,
    report: Report | None = None,
) -> None:
    """Start workers and wait for them.

    `words` name the run: its place, and a file of yours.

    Raises:
        KeyboardInterrupt, SystemExit: after a signal, when every worker has saved what
            it had in flight.  They do so as well if this process is killed.
        ChildProcessError: if a worker failed.
    """
    members = np.bincount(store.rows() // store.block)
    with (
        Interrupt() as interrupt,
        Bar(plan.experiment.name, plan.size, is_drawn=True, report=report) as bar,
        contextlib.ExitStack() as started,
    ):
        shares = [f"{i + 1}/{count}" for i in range(count)]
        workers = [started.enter_context(_start(words, s, lanes)) for s in shares]
        is_told = False
        while any(worker.poll() is None for worker in workers):
            if interrupt.signal is not None and not is_told:
                is_told = True
                for worker in workers:
                    worker.send_signal(signal.SIGTERM)
            bar.show(finished_so_far(store, members))
            time.sleep(_POLL_SECONDS)
        bar.show(finished_so_far(store, members))
        interrupt.raise_noted()
    failed = [worker for worker in workers if worker.returncode != 0]
    if failed:
        raise ChildProcessError(
            f"{len(failed)} of {count} workers failed, the first with exit code "
            f"{failed[0].returncode}"
        )


def finished_so_far(store: Store, members: np.ndarray) -> int:
    """Members that are done, also those of blocks in flight.

    Args:
        store: that workers are at.
        members: how many each block holds.
    """
    pending = sum(beat.get("pending", 0) for beat in heartbeats(store.work))
    done = sum(int(members[b]) for b in store.committed() if b < members.size)
    return min(done + pending, int(members.sum()))


def take_share(share: str | None) -> None:
    """Keep this process to its share of the cores, given as `1/4`.

    Raises:
        ValueError: for anything else.
    """
    if share is None:
        return
    first, _, second = share.partition("/")
    if not (first.isdigit() and second.isdigit() and 1 <= int(first) <= int(second)):
        raise BadInput(f"`--share` must be like 1/4, got {share!r}.")
    if not hasattr(os, "sched_setaffinity"):
        return
    i, count = int(first) - 1, int(second)
    cores = sorted(os.sched_getaffinity(0))
    os.sched_setaffinity(0, cores[i::count] or [cores[i % len(cores)]])


def end_of_input(handle: int = 0) -> threading.Event:
    """An event that is set when an input has ended, which is standard input.

    The end of a pipe is how any system says that whoever held its other end is gone.
    """
    over = threading.Event()

    def watch() -> None:
        with contextlib.suppress(OSError):
            while os.read(handle, 1024):
                pass
        over.set()

    threading.Thread(target=watch, daemon=True).start()
    return over


def _start(words: Sequence[str], share: str, lanes: int | None) -> subprocess.Popen:
    command = [sys.executable, "-m", "simbias", "worker", *words, "--quiet"]
    command += ["--share", share, "--attached"]
    if lanes is not None:
        command += ["--lanes", str(lanes)]
    if not keeps_programs():
        command.append(NO_CACHE)
    # In a session of its own, so that Ctrl-C reaches a worker once, by way of us.
    return subprocess.Popen(command, stdin=subprocess.PIPE, start_new_session=True)
