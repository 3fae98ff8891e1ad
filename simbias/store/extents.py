"""Which row of a store holds which member.

A store grows: its *extents* are the grids it was asked for, each one holding the one
before.  The members that an extent adds follow those that are there, from the start of
a new block, so no block is ever written again and no member moves.
"""

import math
from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np


def extent(configuration: Mapping[str, Any]) -> dict[str, Any]:
    """The grid of a configuration: values of every key of the cell, and the seeds."""
    cell = {
        key: value if isinstance(value, list) else [value]
        for key, value in configuration["cell"].items()
    }
    return {"cell": cell, "seeds": configuration["seeds"]}


def is_same(left: Mapping[str, Any], right: Mapping[str, Any]) -> bool:
    """True if two extents hold the same members."""
    return holds(left, right) and holds(right, left)


def holds(larger: Mapping[str, Any], smaller: Mapping[str, Any]) -> bool:
    """True if every member of the second extent is one of the first."""
    if set(larger["cell"]) != set(smaller["cell"]):
        return False
    return larger["seeds"] >= smaller["seeds"] and all(
        value in larger["cell"][key]
        for key, values in smaller["cell"].items()
        for value in values
    )


def member_rows(
    extents: Sequence[Mapping[str, Any]], block: int, axes: Sequence[str]
) -> list[np.ndarray]:
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
    out, last, end = [], None, 0
    for one in extents:
        rows = np.full([*(len(one["cell"][k]) for k in keys), one["seeds"]], -1)
        if last is not None:
            where = [[one["cell"][k].index(v) for v in last["cell"][k]] for k in keys]
            rows[np.ix_(*where, range(last["seeds"]))] = out[-1]
        is_new = rows < 0
        first = math.ceil(end / block) * block
        rows[is_new] = first + np.arange(is_new.sum())
        end = first + int(is_new.sum())
        out.append(rows)
        last = one
    order = [keys.index(k) for k in axes if k in keys]
    order += [i for i in range(len(keys)) if i not in order]
    return [rows.transpose(*order, len(keys)).reshape(-1) for rows in out]
