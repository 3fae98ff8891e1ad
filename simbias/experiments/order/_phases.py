"""Two phases of learning: the part that a line explains, and the part learned later."""

from typing import NamedTuple

import numpy as np
import xarray as xr

from simbias.analysis.first_passage import first_passage
from simbias.errors import BadInput

# An explainer counts as left when this many bits are unexplained.
LEFT = 0.05


class Phases(NamedTuple):
    """One value, or a pair of values, per seed.

    `early` are Σμ and ΣI(F;Y) over the records before the first one with I(F;Y) above ½
    I(L;Y).  `improved` are the gains of μ and I(F;Y) from the start to this record; NaN
    if it is the first record or does not exist.  `gain` is the increase of I(F;Y) from
    its first record at I(L;Y) to the end.  `loss` is the decrease of μ over the same
    time.  Both are NaN if I(L;Y) is never reached.
    """

    early: np.ndarray
    improved: np.ndarray
    gain: np.ndarray
    loss: np.ndarray


def quantity(cell: xr.Dataset, explainer: str, name: str) -> xr.DataArray:
    """Bits over seed and time."""
    found = cell["information"].sel(explainer=explainer, quantity=name)
    return found.transpose("seed", "time")


def is_constant(cell: xr.Dataset) -> bool:
    """True if every network gives one answer on all test inputs, at every time."""
    known = quantity(cell, "linear", "network")
    return bool((known.max("time") <= 0).all())


def phases(cell: xr.Dataset, line: str = "linear") -> Phases:
    """The two phases of every seed, by the information of the line.

    A network that is constant on its test sample at all times adds 0 bits to the sums
    and has no second phase.

    Args:
        cell: a result over seed and time.
        line: name of the explainer that is L.

    Raises:
        ValueError: if all of them are constant, for which μ/I is 0/0.
    """
    if is_constant(cell):
        raise BadInput(
            "the networks say the same of every test input at every time: they have 0 "
            "bits, and μ/I(F;Y) is 0/0. Train them longer, or at a higher rate."
        )
    known = quantity(cell, line, "network").values
    explained = quantity(cell, line, "explained").values
    most = quantity(cell, line, "explainer").values[:, :1]
    is_early = np.cumprod(known <= most / 2, axis=1).astype(bool)
    early = np.stack([explained, known])
    improved = _improved(early, is_early)
    early = np.sum(np.where(is_early, early, 0), axis=2).T
    has_reached = known >= most
    first = np.argmax(has_reached, axis=1)[:, None]
    since = lambda values: (
        values[:, -1] - np.take_along_axis(values, first, axis=1)[:, 0]
    )
    is_there = has_reached.any(axis=1)
    gain = np.where(is_there, since(known), np.nan)
    loss = np.where(is_there, -since(explained), np.nan)
    return Phases(early, improved, gain, loss)


def _improved(bits: np.ndarray, is_early: np.ndarray) -> np.ndarray:
    """Gains of `bits` (quantity, seed, time) until the first late record."""
    first = np.argmin(is_early, axis=1)
    at = np.take_along_axis(bits, first[None, :, None], axis=2)[:, :, 0]
    is_there = ~is_early.all(axis=1) & (first > 0)
    return np.where(is_there, at - bits[:, :, 0], np.nan).T


def departure_time(cell: xr.Dataset, explainer: str) -> np.ndarray:
    """First time per seed at which I(F;Y) − μ reaches `LEFT`; the last one if never."""
    own = quantity(cell, explainer, "network") - quantity(cell, explainer, "explained")
    found = first_passage(own, LEFT).values
    return np.where(np.isnan(found), float(cell["time"][-1]), found)
