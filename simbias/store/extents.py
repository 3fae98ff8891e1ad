"""Which row of a store holds which member.

A store grows: its *extents* are the grids it was asked for, each one holding the one
before.  The members that an extent adds follow those that are there, from the start of
a new block, so no block is ever written again and no member moves.
"""

import bisect
import collections
import math
from collections.abc import Iterator, Mapping, Sequence
from typing import Any

import numpy as np


def extent(configuration: Mapping[str, Any]) -> dict[str, Any]:
    """The grid of a configuration: values of every key of the cell, and the seeds."""
    cell = {
        key: value if isinstance(value, list) else [value]
        for key, value in configuration["cell"].items()
    }
    return {"cell": cell, "seeds": configuration["seeds"]}


def extent_of(attributes: Mapping[str, Any], block: int) -> int:
    """Number of the extent that added a block."""
    ends = [one["blocks"] for one in attributes["extents"]]
    return bisect.bisect_right(ends, block)


def members_of(extent: Mapping[str, Any]) -> int:
    """Members of an extent."""
    return math.prod([*map(len, extent["cell"].values()), extent["seeds"]])


def blocks_of(counts: Sequence[int], block: int) -> list[int]:
    """Blocks up to each extent, by the members of each; what is new begins a block."""
    out, before = [0], 0
    for count in counts:
        out.append(out[-1] + math.ceil((count - before) / block))
        before = count
    return out[1:]


def is_same(left: Mapping[str, Any], right: Mapping[str, Any]) -> bool:
    """True if two extents hold the same members."""
    return holds(left, right) and holds(right, left)


def holds(larger: Mapping[str, Any], smaller: Mapping[str, Any]) -> bool:
    """True if every member of the second extent is one of the first."""
    if set(larger["cell"]) != set(smaller["cell"]):
        return False
    return larger["seeds"] >= smaller["seeds"] and all(
        _places(values).keys() <= _places(larger["cell"][key]).keys()
        for key, values in smaller["cell"].items()
    )


def member_rows(
    extents: Sequence[Mapping[str, Any]], block: int, axes: Sequence[str]
) -> Iterator[np.ndarray]:
    """For each extent, the row of every one of its members.

    With blocks of 4, a run of n = 10 and 2 seeds has rows 0 and 1.  Asked for n = 10
    and 20 and 3 seeds, it gets an extent whose members, in the order of the grid, have
    rows 0, 1, 4 and 5, 6, 7: what is new begins at the next block.

    Args:
        extents: each one holds the one before.
        block: rows of a block.
        axes: order of the keys of the cell; the seed varies fastest.
    """
    # Rows are dealt out in the order of the sorted keys, whatever `axes` says.
    keys = sorted(extents[0]["cell"])
    order = [keys.index(k) for k in axes if k in keys]
    order += [i for i in range(len(keys)) if i not in order]
    rows, last, end = np.zeros(0, np.int32), None, 0
    for one in extents:
        shape = [*(len(one["cell"][k]) for k in keys), one["seeds"]]
        before, rows = rows, np.full(shape, -1, np.int32)
        if last is not None:
            places = {k: _places(one["cell"][k]) for k in keys}
            where = [[places[k][_key(v)] for v in last["cell"][k]] for k in keys]
            rows[np.ix_(*where, range(last["seeds"]))] = before
        is_new = rows < 0
        first = math.ceil(end / block) * block
        rows[is_new] = first + np.arange(is_new.sum())
        end = first + int(is_new.sum())
        last = one
        yield rows.transpose(*order, len(keys)).reshape(-1)


def last_rows(
    extents: Sequence[Mapping[str, Any]], block: int, axes: Sequence[str]
) -> np.ndarray:
    """The row of every member of the last extent."""
    return collections.deque(member_rows(extents, block, axes), maxlen=1)[0]


def is_distinct(values: Sequence[Any]) -> bool:
    """Whether no value comes twice."""
    return len(_places(values)) == len(values)


def _places(values: Sequence[Any]) -> dict[Any, int]:
    """Where each value is, the first time."""
    return {_key(value): i for i, value in reversed([*enumerate(values)])}


def _key(value: Any) -> Any:
    """Equal for equal values; a table has none of its own."""
    return repr(value) if isinstance(value, (dict, list)) else value
