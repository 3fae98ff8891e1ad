"""Looking at the claims of a run again and again, while seeds are added.

An interval that holds the truth with probability 0.95 at one number of seeds does so
less often at all of several.  Inside `look(k)`, the k-th look at a run, every interval
of `simbias.analysis` is valid at all looks together, with probability `level`: means,
medians and shares are confidence sequences, which are valid at every number of seeds;
of any other the level is 1 − (1 − level)/(k(k + 1)), whose errors add up to 1 − level
at most.

Reference: Howard et al. (2021), Ann. Stat. 49, 1055.
"""

import contextlib
from collections.abc import Iterator
from contextvars import ContextVar

from simbias.analysis.interval import check_level
from simbias.errors import BadInput

_NUMBER: ContextVar[int] = ContextVar("number of the look", default=0)


@contextlib.contextmanager
def look(number: int) -> Iterator[None]:
    """Intervals that are computed inside are those of this look, 1 for the first.

    Raises:
        ValueError: for a number below 1.
    """
    if number < 1:
        raise BadInput(f"`number` of a look must be 1 or more, got {number}.")
    token = _NUMBER.set(number)
    try:
        yield
    finally:
        _NUMBER.reset(token)


def is_repeated() -> bool:
    """True inside `look`."""
    return _NUMBER.get() > 0


def level_of_look(level: float) -> float:
    """What is left of a confidence at this look; all of it outside of `look`.

    Raises:
        ValueError: for a level that is not between 0 and 1.
    """
    check_level(level)
    k = _NUMBER.get()
    return 1 - (1 - level) / (k * (k + 1)) if k else level
