"""The verbs: `simulate` a whole experiment, `solve` one member."""

import dataclasses
import os
import pathlib
import time
from collections.abc import Mapping
from typing import Any

import equinox as eqx
import jax
import jax.numpy as jnp
import numpy as np
import xarray as xr
from tqdm.auto import tqdm

from simbias.core import (
    AbstractFlow,
    AbstractMeasure,
    AbstractNetwork,
    AbstractStop,
    Dataset,
    Experiment,
    Loss,
    Status,
)
from simbias.ensemble.engine import Progress, exact_numerics, run_members
from simbias.ensemble.lane import Recorder, advance, start
from simbias.ensemble.memory import check_memory
from simbias.ensemble.plan import Plan, make_plan
from simbias.ensemble.table import empty_table
from simbias.results import attributes, to_xarray

# Finished members wait at most this long before they are written.
_FLUSH_SECONDS = 5.0


def simulate(
    experiment: Experiment,
    *,
    store: str | os.PathLike | None = None,
    lanes: int | None = None,
    devices: list[jax.Device] | None = None,
    progress: bool = False,
) -> xr.Dataset:
    """Train every member of an experiment and return what was measured.

    Args:
        experiment: what to run.
        store: folder of a zarr store.  A store of the same configuration is
            continued: members that are there are not computed again.
        lanes: members in flight per station; chosen from the memory if not given.
        devices: where to run; all local devices if not given.
        progress: draw a progress bar.

    Returns:
        A Dataset over the axes of the grid, `seed`, `time` and the measures' own axes.

    Raises:
        ValueError: for a wrong field (named), a grid that does not fit in memory, or a
            store of another configuration.  Nothing has been written then.
    """
    if lanes is not None and (not isinstance(lanes, int) or lanes < 1):
        raise ValueError(f"`lanes` must be a positive integer, got {lanes}.")
    with exact_numerics():
        plan = make_plan(experiment)
    check_memory(plan)
    described = attributes(plan)
    table, sink = empty_table(plan), None
    if store is not None:
        # Imported here: zarr is not needed to run in memory.
        from simbias.store.layout import check_same, create_store, open_store

        path = pathlib.Path(store)
        if path.exists():
            sink = open_store(path)
            check_same(sink, described["configuration"])
            table = sink.read()
        else:
            sink = create_store(path, table, described)
    missing = {int(m) for m in np.flatnonzero(~table.is_done())}
    bar = _Bar(plan, len(missing), is_drawn=progress)
    unwritten: list[int] = []
    flushed = time.monotonic()
    try:
        for outcome in run_members(
            plan, missing, lanes=lanes, devices=devices, progress=bar.progress
        ):
            table.put(outcome)
            unwritten.append(outcome.member)
            bar.tick(outcome.status)
            if sink is not None and time.monotonic() - flushed > _FLUSH_SECONDS:
                sink.write(table, unwritten)
                unwritten, flushed = [], time.monotonic()
    finally:
        if sink is not None and unwritten:
            sink.write(table, unwritten)
        bar.close()
    return to_xarray(table, described)


@dataclasses.dataclass(frozen=True)
class Trajectory:
    """One member's history: `records` by measure, NaN after a failure."""

    times: np.ndarray
    records: dict[str, np.ndarray]
    network: Any
    end_time: float
    status: Status
    stats: dict[str, int]


def solve(
    network: AbstractNetwork,
    data: Dataset,
    flow: AbstractFlow,
    loss: Loss,
    times: tuple[float, ...],
    measures: Mapping[str, AbstractMeasure],
    *,
    stop: AbstractStop | None = None,
    key: jax.Array | None = None,
) -> Trajectory:
    """Train one network, for notebooks and tests; the arrays decide the dtype.

    Raises:
        ValueError: if network and data have different dtypes.
    """
    if not times or any(b <= a for a, b in zip((-1e-300, *times), times, strict=False)):
        raise ValueError(
            f"`times` must increase from 0 or later, got {times}. Example: (0.0, 1.0)."
        )
    dtypes = {
        str(v.dtype)
        for v in jax.tree.leaves((network, data))
        if eqx.is_inexact_array(v)
    }
    if len(dtypes) != 1:
        raise ValueError(
            f"`network` and `data` must share one dtype, got {sorted(dtypes)}. "
            "Draw both inside `simbias.exact_numerics()`."
        )
    with exact_numerics():
        key = jax.random.key(0) if key is None else key
        recorder = Recorder(loss, tuple(times), dict(measures), stop)
        lane = _solve(recorder, flow, network, data, key)
        records = {k: np.asarray(v) for k, v in lane.records.items()}
        state = lane.state
        return Trajectory(
            np.asarray(times),
            records,
            state.network,
            float(state.time),
            Status(int(state.status)),
            {k: int(v) for k, v in state.stats.items()},
        )


@eqx.filter_jit
def _solve(recorder, flow, network, data, key):
    lane = start(recorder, flow, network, data, key)
    return advance(recorder, lane, jnp.int32(2**31 - 1))


class _Bar:
    """Members done and failed."""

    def __init__(self, plan: Plan, missing: int, *, is_drawn: bool):
        self.progress = Progress()
        self._failed = 0
        self._bar = tqdm(
            total=plan.size,
            initial=plan.size - missing,
            unit="member",
            disable=not is_drawn,
            desc=plan.experiment.name,
        )

    def tick(self, status: Status) -> None:
        self._failed += status.is_failure
        self._bar.set_postfix(failed=self._failed, refresh=False)
        self._bar.update()

    def close(self) -> None:
        self._bar.close()
