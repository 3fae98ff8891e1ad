"""What a run will need in memory, before it starts."""

import math
import os
import pathlib
from typing import Any

import jax
from jaxtyping import PyTree

from simbias.ensemble.compiling import (
    KEPT,
    bytes_of_compiling,
    describe_programs,
)
from simbias.ensemble.footprint import footprint
from simbias.ensemble.lane import Lane
from simbias.ensemble.plan import Group, Plan
from simbias.errors import BadInput
from simbias.introspection.kinks import kink
from simbias.introspection.trained_arrays import size
from simbias.network import hook
from simbias.numerics.tiling import tiles

_MAX_LANES = 4096
# Per member, whatever it records: which row is whose, and what of it is done.
_INDEX_BYTES = 48
# Members that begin or are taken together: at most so many, of so many bytes in all.
_MAX_TOGETHER, _BYTES_TOGETHER = 64, 16 << 20
# Bytes that drawing takes per number of a sample, with counters and bits on their way,
# and per weight.
_DRAWING_SAMPLES, _DRAWING_WEIGHTS = 5 * 8, 2 * 8


def check_memory(
    plan: Plan,
    holds_result: bool = True,
    lanes: int | None = None,
    devices: list[jax.Device] | None = None,
) -> None:
    """Refuse a run that cannot fit; who only adds to a store does not hold its result.

    Raises:
        ValueError: with what is needed and what there is.
    """
    devices = station_devices(devices or jax.local_devices(), plan.size)
    flight = bytes_in_flight(plan, devices, lanes)
    result = bytes_of_result(plan) if holds_result else 0
    is_cpu = devices[0].platform == "cpu"
    index = plan.size * _INDEX_BYTES
    needed, present = result + index + flight * is_cpu, physical_memory()
    if present is not None and needed > present:
        raise BadInput(
            f"`cell` × `seeds` is too large: {plan.size} networks need about "
            f"{_size(needed)} (results {_size(result)}, index {_size(index)}, "
            f"networks in progress {_size(flight * is_cpu)}), but this machine has "
            f"{_size(present)}. Use fewer seeds, cells, `times` or measures, or "
            "smaller networks, datasets and batches."
        )
    if is_cpu:
        _check_limit(plan, devices)
    present = _memory_of(devices[0])
    largest = max(bytes_per_lane(group) for group in plan.groups)
    if not is_cpu and present is not None and largest > present:
        raise BadInput(
            f"`cell`: one network needs about {_size(largest)}, but the "
            f"{devices[0].platform} has {_size(present)}. Use smaller networks, "
            "batches and datasets, or dtype float32."
        )


def _check_limit(plan: Plan, devices: list[jax.Device]) -> None:
    """Refuse a run that the limit of this process ends, which XLA does by `abort`.

    Raises:
        ValueError: with what is needed and what the limit leaves.
    """
    left = memory_limit_left()
    if left is not None and (needed := bytes_at_most(plan, devices)) > left:
        raise BadInput(
            f"`ulimit -v` leaves this process {_size(left)}, but the run needs about "
            f"{_size(needed)}, most of it to compile. Raise the limit: ulimit -v "
            "unlimited."
        )


def lanes_that_fit(group: Group, device: jax.Device) -> int:
    """Those that begin together on a CPU, as many as half the memory holds elsewhere.

    A CPU computes one of its lanes at a time; the others wait for their turn.  Their
    number is a power of 2 or the most there may be: a run of a few seeds more reads the
    programs of the one before.
    """
    if device.platform == "cpu":
        fewest = 1 << (group.size - 1).bit_length()
        return min(fewest, _together(_bytes_of_arrays(group.lane)))
    limit = _memory_of(device) or 8 << 30
    fits = int(limit / 2 // bytes_per_lane(group))
    return max(1, min(group.size, fits, _MAX_LANES))


def describe(plan: Plan, lanes: int | None = None) -> str:
    """One line: networks, programs, and what they need in memory."""
    devices = station_devices(jax.local_devices(), plan.size)
    computed = max(_computed(group, devices[0], lanes)[1] for group in plan.groups)
    return (
        f"{plan.experiment.name}: {plan.size:,} networks; "
        f"{describe_programs(plan, len(devices))}. "
        f"Memory: {_size(bytes_in_flight(plan, devices, lanes))} for "
        f"{len(devices) * computed:,} at a time, {_size(bytes_of_result(plan))} of "
        f"results, about {_size(bytes_of_compiling(plan, len(devices)))} to compile"
    )


def bytes_at_most(plan: Plan, devices: list[jax.Device]) -> int:
    """Memory of a run from its first program to its result, above what was taken."""
    compiling = bytes_of_compiling(plan, len(devices))
    running = round(KEPT * compiling) + bytes_in_flight(plan, devices)
    return max(compiling, running) + bytes_of_result(plan) + plan.size * _INDEX_BYTES


def bytes_in_flight(
    plan: Plan, devices: list[jax.Device], lanes: int | None = None
) -> int:
    """Memory of what all stations compute at a time, of the largest shape."""
    largest = 0
    for group in plan.groups:
        width, computed = _computed(group, devices[0], lanes)
        arrays = _bytes_of_arrays(group.lane)
        attempts = computed * (bytes_per_lane(group) - arrays)
        begin = _bytes_of_beginning(group.lane, min(width, _together(arrays)))
        largest = max(largest, width * arrays + max(attempts, begin))
    return len(devices) * largest


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


def memory_limit_left() -> int | None:
    """Bytes that `ulimit -v` still leaves this process, None without a limit."""
    try:
        import resource  # not on Windows

        limit = resource.getrlimit(resource.RLIMIT_AS)[0]
        if limit == resource.RLIM_INFINITY:
            return None
        pages = int(pathlib.Path("/proc/self/statm").read_text().split()[0])
    except (ImportError, OSError, ValueError):
        return None
    return max(0, limit - pages * os.sysconf("SC_PAGE_SIZE"))


def bytes_per_lane(group: Group) -> int:
    """Memory of one lane in a round: its arrays, and what one attempt needs beside.

    That is what the flow says of an attempt, or what the measures need if that is
    more.  `benchmarks/memory.py` compares it with what is taken.
    """
    lane = group.lane
    network, n = lane.state.network, lane.data.x.shape[0]
    itemsize = lane.data.x.dtype.itemsize
    one = jax.ShapeDtypeStruct(lane.data.x.shape[1:], lane.data.x.dtype)
    with jax.enable_x64(True):  # whatever the process has chosen, as when it runs
        width = max(1, footprint(lambda net, x: net(x), network, one))
        tile = _held_twice(network, one, n, width)
    attempt = lane.flow.attempt_size(network, n, width, tile)
    return _bytes_of_arrays(lane) + max(attempt, group.recording) * itemsize


def bytes_of_result(plan: Plan) -> int:
    """Memory of everything that is recorded."""
    rows = len(plan.experiment.times)
    per_member = sum(
        f.dtype.itemsize * math.prod(f.shape) * rows for f in plan.trajectories.values()
    ) + sum(
        f.dtype.itemsize * math.prod(f.shape)
        for f in (*plan.final.values(), *plan.networks.values())
    )
    return plan.size * (per_member + 8 * (len(plan.stats) + 3))


def _computed(group: Group, device: jax.Device, lanes: int | None) -> tuple[int, int]:
    """Lanes of a station, and how many of them are computed at a time."""
    width = lanes or lanes_that_fit(group, device)
    return width, 1 if device.platform == "cpu" else width


def _held_twice(network: Any, x: Any, n: int, width: int) -> int:
    """Activations of one input of which a gradient holds two copies."""
    if hook(network, "value_and_gradient") is not None:
        return tiles(n, width, x.dtype.itemsize, x.size)[1]
    # Autodiff keeps all layers; without kinks their derivatives follow from the values.
    return width if kink(network, x) is not None else 3 * width // 4


def _bytes_of_beginning(lane: Lane, together: int) -> int:
    """Members are drawn, one after another, before they are put into their places."""
    data, network = lane.data, lane.state.network
    drawing = _DRAWING_SAMPLES * size(data) + _DRAWING_WEIGHTS * size(network)
    return together * _bytes_of_arrays((data, network)) + drawing


def _memory_of(device: jax.Device) -> int | None:
    return (device.memory_stats() or {}).get("bytes_limit")


def _bytes_of_arrays(tree: PyTree) -> int:
    return sum(math.prod(v.shape) * v.dtype.itemsize for v in jax.tree.leaves(tree))


def _together(size: int) -> int:
    return max(1, min(_MAX_TOGETHER, _BYTES_TOGETHER // size))


def _size(size: int) -> str:
    for unit, scale in (("GiB", 30), ("MiB", 20)):
        if size >= 2**scale:
            return f"{size / 2**scale:.3g} {unit}"
    return f"{size / 1024:.3g} KiB"
