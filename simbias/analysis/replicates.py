"""Which values of an array are replicates: independent, one per seed."""

from typing import Any

import numpy as np

from simbias.errors import BadInput

# Axes along which values are independent; `member` is that of a part of a grid.
REPLICATES = frozenset({"seed", "member"})


def check_replicates(name: str, values: Any, pooled: tuple[str, ...] = ()) -> None:
    """Refuse what would count the places of an axis as seeds.

    Cells of a grid may share the sample of a seed, so that they are no replicates.

    Args:
        name: of the argument, for the error.
        values: an array; one with names of its axes may have several `REPLICATES`.
        pooled: further axes whose values count as replicates.

    Raises:
        ValueError: for an array with another axis that is longer than 1.
    """
    shape = np.shape(values)
    dims = getattr(values, "dims", None) or range(len(shape))
    long = [dim for dim, size in zip(dims, shape, strict=True) if size > 1]
    replicates = {*REPLICATES, *pooled}
    is_one = len(long) < 2 if isinstance(dims, range) else {*long} <= replicates
    if not is_one:
        raise BadInput(
            f"`{name}` must be one per seed, got {dict(zip(dims, shape, strict=True))}."
            f" Select a value of each other axis, or reduce it: {name}.mean('n')."
        )


def are_of_same_seeds(one: Any, other: Any) -> bool:
    """False for two arrays with axes or coordinates that differ."""
    if not (hasattr(one, "coords") and hasattr(other, "coords")):
        return True
    shared = {*one.dims} & {*one.coords} & {*other.coords}
    is_same = lambda dim: np.array_equal(one[dim].values, other[dim].values)
    return one.dims == other.dims and all(map(is_same, shared))
