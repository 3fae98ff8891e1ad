"""An estimate with its interval."""

import dataclasses

from simbias.errors import BadInput


@dataclasses.dataclass(frozen=True)
class Interval:
    """`low` ≤ truth ≤ `high` with confidence `level`, and how that was computed."""

    estimate: float
    low: float
    high: float
    level: float
    method: str


def check_level(level: float) -> None:
    """Refuse a confidence that is none.

    Raises:
        ValueError: naming the field.
    """
    if not 0 < level < 1:
        raise BadInput(f"`level` must lie in (0, 1), got {level}. Example: level=0.95.")
