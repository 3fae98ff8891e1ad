"""Results of a run in memory: plain arrays whose first axis is the member."""

import dataclasses
from collections.abc import Mapping

import numpy as np

from simbias.core import Status
from simbias.ensemble.events import Outcome
from simbias.ensemble.leaves import nothing
from simbias.ensemble.plan import Plan

GROUPS = ("members", "trajectories", "final", "networks")


@dataclasses.dataclass(frozen=True)
class Column:
    """An array with one row per member; `dims` names the axes after the first."""

    dims: tuple[str, ...]
    values: np.ndarray


@dataclasses.dataclass(frozen=True)
class Table:
    """Columns in four groups.  Not reached is NaN, with status RUNNING; never 0.

    A count that a member does not have is −1.
    """

    members: dict[str, Column]
    trajectories: dict[str, Column]
    final: dict[str, Column]
    networks: dict[str, Column]

    def groups(self) -> dict[str, dict[str, Column]]:
        """The groups by name."""
        return {name: getattr(self, name) for name in GROUPS}

    def is_done(self) -> np.ndarray:
        """One truth value per member."""
        return self.members["status"].values != Status.RUNNING

    def put(self, outcome: Outcome, row: int) -> None:
        """Write one member's row, the status last."""
        for name, column in self.trajectories.items():
            _put(column, row, outcome.records[name])
        for name, column in self.final.items():
            _put(column, row, outcome.final[name])
        for name, value in outcome.kept.items():
            _put(self.networks[name], row, value)
        for name, value in outcome.stats.items():
            self.members[name].values[row] = value
        self.members["end_time"].values[row] = outcome.time
        self.members["status"].values[row] = outcome.status


def empty_table(plan: Plan, size: int | None = None) -> Table:
    """A table in which nobody has started, of `size` rows or one for every member."""
    size = plan.size if size is None else size
    rows = len(plan.experiment.times)
    members = {
        "status": Column((), np.full(size, Status.RUNNING, np.int32)),
        "end_time": Column((), np.full(size, np.nan)),
    }
    for name in plan.stats:
        members[name] = Column((), np.full(size, -1, np.int64))
    trajectories = {
        name: Column(
            ("time", *f.dims), np.full((size, rows, *f.shape), np.nan, f.dtype)
        )
        for name, f in plan.trajectories.items()
    }
    final = {
        name: Column(f.dims, np.full((size, *f.shape), np.nan, f.dtype))
        for name, f in plan.final.items()
    }
    networks = {}
    for name, f in plan.networks.items():
        values = np.full((size, *f.shape), nothing(f.dtype), f.dtype)
        networks[name] = Column(f.dims, values)
    return Table(members, trajectories, final, networks)


def put_rows(table: Table, rows: np.ndarray, values: Mapping[str, np.ndarray]) -> None:
    """Write rows of every column; `values` is keyed by `group/name`."""
    for group, columns in table.groups().items():
        for name, column in columns.items():
            value = values[f"{group}/{name}"]
            column.values[(rows, *map(slice, value.shape[1:]))] = value


def _put(column: Column, row: int, value: np.ndarray) -> None:
    # A smaller shape (another width, say) fills the front; the rest stays NaN.
    column.values[(row, *map(slice, value.shape))] = value
