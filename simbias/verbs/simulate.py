"""The verbs: `simulate` a whole experiment, `solve` one member."""

import dataclasses
import functools
import os
import threading
from collections.abc import Mapping
from typing import Any

import equinox as eqx
import jax
import jax.numpy as jnp
import numpy as np
import xarray as xr

from simbias.core import (
    AbstractFlow,
    AbstractStop,
    Dataset,
    Experiment,
    Loss,
    Measure,
    Status,
    Times,
)
from simbias.ensemble.arguments import (
    check_arguments,
    checked_dtype,
    checked_times,
)
from simbias.ensemble.bar import Bar
from simbias.ensemble.engine import run_members
from simbias.ensemble.lane import Recorder, advance, start
from simbias.ensemble.measurement import check_stop, measured
from simbias.ensemble.members import traced
from simbias.ensemble.memory import check_memory
from simbias.ensemble.plan import Plan, make_plan
from simbias.ensemble.table import Table, empty_table
from simbias.errors import BadInput
from simbias.introspection.array_network import as_array_network, original_network
from simbias.numerics.exact_numerics import exact_numerics
from simbias.numerics.program_cache import make_room
from simbias.results import attributes, to_xarray
from simbias.validation.agreement import check_fit, check_loss
from simbias.validation.experiment import check_resources
from simbias.validation.files import files_due
from simbias.validation.steps import warn_of_divergence, warn_of_result, warn_of_steps
from simbias.validation.targets import check_targets, readers_of
from simbias.workers.pool import AbstractPool


def simulate(
    experiment: Experiment,
    *,
    store: str | os.PathLike | None = None,
    lanes: int | None = None,
    devices: list[jax.Device] | None = None,
    progress: bool = False,
    workers: AbstractPool | None = None,
) -> xr.Dataset:
    """Train every member of an experiment and return what was measured.

    Args:
        experiment: what to run.
        store: folder of a zarr store, or a URL of one in an object store, e.g.
            "s3://bucket/run.zarr" (needs the extra `cloud`).  A store of the same
            configuration is continued, and grows if the grid is larger: members that
            are there are not computed again, and those in flight go on where they
            were.  Several processes, on any machines that see the store, may call this
            at once and share the work.
        lanes: members in flight per core or accelerator; chosen from the memory if
            not given.
        devices: where to run; all local devices if not given.
        progress: draw a progress bar.
        workers: who computes what is missing in the store, in place of this process:
            `simbias.workers.RayWorkers(8, cpus=4)`, SlurmWorkers, DaskWorkers or
            LocalWorkers.  All must see the store; this process waits for them and
            reads the result.

    Returns:
        A Dataset over the axes of the grid, `seed`, `time` and the measures' own axes.

    Raises:
        ValueError: for a wrong field (named), a grid that does not fit in memory, or a
            store of another configuration.  Nothing has been written then.
        KeyboardInterrupt, SystemExit: after Ctrl-C, and after SIGTERM or SIGHUP with
            a store; members in flight are saved in it first, and the same call goes
            on from there.
        OSError: if the store cannot be written, or does not answer.
        ChildProcessError: if all `workers` have ended and the run is not finished.
    """
    if workers is not None and (store is None or devices is not None):
        raise BadInput(
            "`workers` are other processes: they need a `store`, and use their own "
            "devices. Give `store`, and leave out `devices`."
        )
    plan = planned(experiment, lanes, devices)
    described = attributes(plan)
    if store is None:
        table = _in_memory(plan, lanes, devices, progress)
    else:
        table = _in_store(plan, store, described, lanes, devices, progress, workers)
    ds = to_xarray(table, described)
    warn_of_result(experiment.flow, ds)
    return ds


def planned(
    experiment: Experiment,
    lanes: int | None = None,
    devices: list[jax.Device] | None = None,
    *,
    holds_result: bool = True,
) -> Plan:
    """The plan of an experiment that is sound and fits in memory.

    `holds_result` is False for who adds to a store and never reads it whole.

    Raises:
        ValueError: naming the field that is wrong.
    """
    check_resources(lanes, devices)
    with exact_numerics(), files_due():
        plan = make_plan(experiment)
    check_memory(plan, holds_result, lanes, devices)
    return plan


def _in_memory(
    plan: Plan, lanes: int | None, devices: list[jax.Device] | None, progress: bool
) -> Table:
    table = empty_table(plan)
    with Bar(plan.experiment.name, plan.size, is_drawn=progress) as bar:
        every = run_members(
            plan,
            set(range(plan.size)),
            lanes=lanes,
            devices=devices,
            progress=bar.progress,
        )
        for count, outcome in enumerate(every, start=1):
            table.put(outcome, outcome.member)
            bar.show(count, outcome)
    return table


def _in_store(
    plan: Plan,
    address: str | os.PathLike,
    described: Mapping[str, Any],
    lanes: int | None,
    devices: list[jax.Device] | None,
    progress: bool,
    workers: AbstractPool | None,
) -> Table:
    # Imported here: zarr is not needed to run in memory.
    from simbias.store.address import is_url
    from simbias.store.work import complete, prepare, work
    from simbias.workers.function_worker import function_worker
    from simbias.workers.wait import wait

    if workers is not None and not is_url(os.fspath(address)):
        # A worker may have another working directory.
        address = os.path.abspath(address)
    store = prepare(address, plan, described)
    help_on = functools.partial(join, plan.experiment, address, lanes)
    while (table := complete(store)) is None:
        if workers is None:
            work(plan, store, lanes=lanes, devices=devices, progress=progress)
            continue
        with workers:
            workers.submit(function_worker(help_on))
            wait(workers, store, plan.experiment.name, is_drawn=progress)
    return table


def join(
    experiment: Experiment,
    address: str | os.PathLike,
    lanes: int | None,
    over: threading.Event,
) -> None:
    """Help with a run, as one worker of many, until it is finished or `over` is set.

    Raises:
        SystemExit: with code 143, if it is set.
    """
    from simbias.store.work import prepare, work

    plan = planned(experiment, lanes, holds_result=False)
    store = prepare(address, plan, attributes(plan))
    work(plan, store, lanes=lanes, over=over)


@dataclasses.dataclass(frozen=True)
class Trajectory:
    """One member's history: `records` by measure, NaN after a failure.

    `dtype` is that of the weights, "float64" or "float32".
    """

    times: np.ndarray
    records: dict[str, np.ndarray]
    network: Any
    end_time: float
    status: Status
    stats: dict[str, int]
    history: dict[str, np.ndarray]
    """What the flow itself has written down, such as events."""
    dtype: str


def solve(
    network: Any,
    data: Dataset,
    flow: AbstractFlow,
    loss: Loss,
    times: Times,
    measures: Mapping[str, Measure],
    *,
    stop: AbstractStop | None = None,
    key: jax.Array | None = None,
) -> Trajectory:
    """Train one network, for notebooks and tests; the arrays decide the dtype.

    JAX makes them in float32 unless told otherwise: make both, the sample and the
    network, inside `with simbias.exact_numerics():` to have float64.  A warning says
    so where that was forgotten.

    As under `jax.jit`, what a loss or a measure reads besides its arguments is read
    when it is first called.

    Raises:
        ValueError: for an argument of the wrong kind, wrong times, labels that the
            loss does not see, a measure that returns no array, or network and data
            that do not fit.
    """
    times = checked_times(times)
    check_arguments(network, data, flow, loss, measures, stop, key)
    dtype = checked_dtype(network, data)
    with exact_numerics():
        check_fit(network, data)
        check_loss(loss, data)
        check_targets(loss, readers_of(measures, stop), data)
        for name, measure in measures.items():
            measured(name, measure, network, data)
        check_stop(stop, flow, network, data, loss)
        key = jax.random.key(0) if key is None else key
        recorder = Recorder(loss, times, dict(measures), stop)
        make_room()
        try:
            lane = _solve(recorder, traced(flow), as_array_network(network), data, key)
        except jax.errors.JaxRuntimeError as error:
            if "RESOURCE_EXHAUSTED" not in str(error):
                raise
            raise BadInput(
                "`solve` needs more memory than there is. Use a smaller batch, dataset "
                f"or network. Message of XLA: {str(error).splitlines()[0]}"
            ) from error
        records = {k: np.asarray(v) for k, v in lane.records.items()}
        state = lane.state
        stats = {k: int(v) for k, v in state.stats.items()}
        warn_of_steps(flow, stats, float(state.time))
        warn_of_divergence(flow, state.status)
        return Trajectory(
            np.asarray(times),
            records,
            original_network(state.network),
            float(state.time),
            Status(int(state.status)),
            stats,
            {k: np.asarray(v) for k, v in flow.history(state).items()},
            dtype,
        )


@eqx.filter_jit
def _solve(recorder, flow, network, data, key):
    lane = start(recorder, flow, network, data, key)
    return advance(recorder, lane, jnp.int32(2**31 - 1))
