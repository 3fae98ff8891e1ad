"""What a run will need in memory, before it starts."""

import math
import os
from typing import Any

import jax
from jaxtyping import PyTree

from simbias.ensemble.lane import Lane
from simbias.ensemble.plan import Group, Plan
from simbias.tiling import ROWS, tiles

_MAX_LANES = 4096
# Per member, whatever it records: which row is whose, and what of it is done.
_INDEX_BYTES = 48
# Members that begin or are taken together: at most so many, of so many bytes in all.
_MAX_TOGETHER, _BYTES_TOGETHER = 64, 16 << 20


def check_memory(plan: Plan, holds_result: bool = True) -> None:
    """Refuse a run that cannot fit; who only adds to a store does not hold its result.

    Raises:
        ValueError: with what is needed and what there is.
    """
    lane = max(bytes_per_lane(group.lane) for group in plan.groups)
    result = bytes_of_result(plan) if holds_result else 0
    index = plan.size * _INDEX_BYTES
    needed, present = result + index + lane, physical_memory()
    if present is not None and needed > present:
        raise ValueError(
            f"`cell` × `seeds` is too large: {plan.size} members need about "
            f"{_size(needed)} (results {_size(result)}, index {_size(index)}, one "
            f"member in flight {_size(lane)}) and this machine has "
            f"{_size(present)}. Use fewer seeds, cells, `times` or measures."
        )


def lanes_that_fit(group: Group, device: jax.Device) -> int:
    """Those that begin together on a CPU, as many as half the memory holds elsewhere.

    A CPU computes one of its lanes at a time; the others wait for their turn.
    """
    if device.platform == "cpu":
        return min(group.size, _together(_bytes_of_arrays(group.lane)))
    limit = (device.memory_stats() or {}).get("bytes_limit", 8 << 30)
    fits = int(limit / 2 // bytes_per_lane(group.lane))
    return max(1, min(group.size, fits, _MAX_LANES))


def describe_memory(plan: Plan, lanes: int | None = None) -> str:
    """One line: members, lanes, and what they need."""
    devices = station_devices(jax.local_devices(), plan.size)
    in_turn = devices[0].platform == "cpu"
    largest, at_a_time = 0, 0
    for group in plan.groups:
        width = lanes or lanes_that_fit(group, devices[0])
        computed = 1 if in_turn else width
        arrays = _bytes_of_arrays(group.lane)
        attempts = computed * (bytes_per_lane(group.lane) - arrays)
        # Members that begin are drawn before they are put into their places.
        drawn = (group.lane.data, group.lane.state.network)
        begin = min(width, _together(arrays)) * _bytes_of_arrays(drawn)
        largest = max(largest, width * arrays + max(attempts, begin))
        at_a_time = max(at_a_time, computed)
    count = len(plan.groups)
    shapes = "one shape" if count == 1 else f"{count} shapes"
    return (
        f"{plan.experiment.name}: {plan.size:,} members of {shapes}; "
        f"{len(devices) * at_a_time:,} computed at a time, in about "
        f"{_size(len(devices) * largest)}; results {_size(bytes_of_result(plan))}"
    )


def members_together(lanes: Lane) -> int:
    """How many members of stacked lanes begin, or are taken, in one program."""
    width = lanes.cursor.shape[0]
    return min(width, _together(_bytes_of_arrays(lanes) // width))


def station_devices(devices: list[jax.Device], members: int) -> list[jax.Device]:
    """The device of each station: one per core of a CPU, else one per device."""
    if devices[0].platform != "cpu":
        return devices
    cores = len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else None
    count = max(cores or os.cpu_count() or 1, len(devices))
    return [devices[i % len(devices)] for i in range(min(count, max(members, 1)))]


def physical_memory() -> int | None:
    """Bytes of memory of this machine, None where the system does not tell."""
    try:
        return os.sysconf("SC_PAGE_SIZE") * os.sysconf("SC_PHYS_PAGES")
    except (AttributeError, ValueError, OSError):
        return None


def bytes_per_lane(lane: Lane) -> int:
    """Memory of one lane in a round: its arrays, and what one attempt needs beside.

    For two-layer networks within a quarter of what XLA reserves; for the convolutional
    one of `dominoes` half more than that.  Beside what the flow says of an attempt, a
    measure needs one and a fifth numbers per activation, for the rows of a sample it
    looks at together.
    """
    network, n = lane.state.network, lane.data.x.shape[0]
    itemsize = lane.data.x.dtype.itemsize
    width = _activations(network, lane.data.x)
    _, tile = tiles(n, width, itemsize)
    attempt = lane.flow.attempt_size(network, n, width, tile)
    n_test = 0 if lane.data.test is None else lane.data.test.x.shape[0]
    measures = 6 * (_rows_together(n) + _rows_together(n_test)) * width // 5
    return _bytes_of_arrays(lane) + max(attempt, measures) * itemsize


def bytes_of_result(plan: Plan) -> int:
    """Memory of everything that is recorded."""
    rows = len(plan.experiment.times)
    per_member = sum(
        f.dtype.itemsize * math.prod(f.shape) * rows for f in plan.trajectories.values()
    ) + sum(f.dtype.itemsize * math.prod(f.shape) for f in plan.final.values())
    return plan.size * (per_member + 8 * (len(plan.stats) + 3))


def _activations(network: Any, inputs: Any) -> int:
    """Numbers that one input becomes on its way: outputs of products, once each.

    Those of a convolution count four times: XLA writes them down with their shift,
    rectified and pooled as well.
    """
    one = jax.ShapeDtypeStruct(inputs.shape[1:], inputs.dtype)
    return max(1, _outputs(jax.make_jaxpr(lambda net, x: net(x))(network, one).jaxpr))


def _outputs(jaxpr: Any) -> int:
    times = {"dot_general": 1, "conv_general_dilated": 4}
    total = 0
    for equation in jaxpr.eqns:
        sizes = [math.prod(v.aval.shape) for v in equation.outvars]
        total += times.get(equation.primitive.name, 0) * sum(sizes)
        for inner in jax.tree.leaves(list(equation.params.values())):
            inner = getattr(inner, "jaxpr", inner)
            total += _outputs(inner) if hasattr(inner, "eqns") else 0
    return total


def _bytes_of_arrays(tree: PyTree) -> int:
    return sum(math.prod(v.shape) * v.dtype.itemsize for v in jax.tree.leaves(tree))


def _together(size: int) -> int:
    return max(1, min(_MAX_TOGETHER, _BYTES_TOGETHER // size))


def _rows_together(n: int) -> int:
    """Rows of a sample that are in memory: chunks, and what is left over."""
    return n if n <= ROWS else ROWS + n % ROWS


def _size(size: int) -> str:
    for unit, scale in (("GiB", 30), ("MiB", 20)):
        if size >= 2**scale:
            return f"{size / 2**scale:.3g} {unit}"
    return f"{size / 1024:.3g} KiB"
