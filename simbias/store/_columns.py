"""The arrays of a store, one per column of the table."""

import numpy as np

from simbias.core import Status
from simbias.ensemble.table import Column, Table

STATUS = "members/status"


def fill_value(name: str, dtype: np.dtype) -> float | int:
    """What a row holds that nobody has computed."""
    if dtype.kind == "f":
        return float("nan")
    return int(Status.RUNNING) if name == STATUS else -1


def columns_of(table: Table) -> list[tuple[str, Column]]:
    """Columns by path, the status last."""
    columns = [
        (f"{group}/{key}", column)
        for group, columns in table.groups().items()
        for key, column in columns.items()
    ]
    return sorted(columns, key=lambda pair: pair[0] == STATUS)
