"""What a run will need in memory, before it starts."""

import os

import jax

from simbias.ensemble.plan import Group, Plan, bytes_of_result, bytes_per_lane

_MAX_LANES = 4096


def check_memory(plan: Plan) -> None:
    """Refuse a run that cannot fit.

    Raises:
        ValueError: with what is needed and what there is.
    """
    lane = max(bytes_per_lane(group.lane) for group in plan.groups)
    needed, present = bytes_of_result(plan) + lane, physical_memory()
    if present is not None and needed > present:
        raise ValueError(
            f"`cell` × `seeds` is too large: {plan.size} members need about "
            f"{_gigabytes(needed)} (results {_gigabytes(bytes_of_result(plan))}, one "
            f"member in flight {_gigabytes(lane)}) and this machine has "
            f"{_gigabytes(present)}. Use fewer seeds, cells, `times` or measures."
        )


def lanes_that_fit(group: Group, device: jax.Device) -> int:
    """One at a time on a CPU, as many as half the memory holds elsewhere."""
    if device.platform == "cpu":
        return 1
    limit = (device.memory_stats() or {}).get("bytes_limit", 8 << 30)
    fits = int(limit / 2 // bytes_per_lane(group.lane))
    return max(1, min(group.size, fits, _MAX_LANES))


def physical_memory() -> int | None:
    """Bytes of memory of this machine, None where the system does not tell."""
    try:
        return os.sysconf("SC_PAGE_SIZE") * os.sysconf("SC_PHYS_PAGES")
    except (AttributeError, ValueError, OSError):
        return None


def _gigabytes(size: int) -> str:
    return f"{size / 2**30:.3g} GiB"
