"""Waiting for the workers of a pool, with what all of them have done in one bar."""

import time
import warnings
from collections.abc import Sequence

import numpy as np

from simbias.ensemble.bar import Bar, Report
from simbias.store.interrupt import Interrupt
from simbias.store.layout import Store
from simbias.store.progress import finished_so_far
from simbias.workers.pool import AbstractPool, State, Worker

_POLL_SECONDS = 0.5
# Of the time, how much of it goes into asking the pool at most.
_SHARE = 20


def wait(
    pool: AbstractPool,
    store: Store,
    title: str,
    *,
    is_drawn: bool = True,
    report: Report | None = None,
) -> None:
    """Return when the run is finished and no worker is at it any more.

    Workers that still wait for their turn then are called off.  After a signal all are,
    unless they outlive this process; then they are left to themselves.

    Args:
        pool: entered, with workers that were submitted.
        store: what they work on.
        title: of the bar.
        is_drawn: whether there is a bar.
        report: told where the run is, now and then.

    Raises:
        KeyboardInterrupt, SystemExit: after a signal, when every worker has saved what
            it had in flight.
        ChildProcessError: if all have ended and the run is not finished.
    """
    members = np.bincount(store.rows() // store.block)
    total = int(members.sum())
    with (
        Interrupt() as interrupt,
        Bar(title, total, is_drawn=is_drawn, report=report) as bar,
    ):
        is_told = False
        while True:
            began = time.monotonic()
            workers = pool.status()
            bar.show(finished_so_far(store, members))
            is_whole = store.is_whole()
            states = {worker.state for worker in workers}
            if is_whole and states <= {State.WAITING, State.DONE, State.FAILED}:
                break
            if all(state.is_over for state in states):
                break
            if interrupt.signal is not None and not is_told:
                is_told = True
                if pool.outlives:
                    break
                pool.cancel()
            time.sleep(max(_POLL_SECONDS, _SHARE * (time.monotonic() - began)))
        if is_whole:
            pool.cancel()
        interrupt.raise_noted()
    _judge(workers, is_whole)


def _judge(workers: Sequence[Worker], is_whole: bool) -> None:
    failed = [worker for worker in workers if worker.state is State.FAILED]
    said = f"{len(failed)} of {len(workers)} workers failed"
    said += f", the first, {failed[0].name}: {failed[0].said}" if failed else ""
    if not is_whole:
        raise ChildProcessError(
            said if failed else "all workers left before the run was finished"
        )
    if failed:
        warnings.warn(f"{said}. The others have finished the run.", stacklevel=3)
