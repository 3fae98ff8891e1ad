"""The option --budget: a time, with its unit."""

import re

from simbias.errors import BadInput


def seconds_of(text: str) -> float:
    """The seconds of a time such as 90s, 20m or 2h.

    Raises:
        ValueError: for anything else.
    """
    found = re.fullmatch(r"(\d+(?:\.\d+)?)\s*([smh])", text.strip())
    if found is None or not float(found[1]) > 0:
        raise BadInput(f"`--budget` must be a time, got {text!r}. Example: 20m.")
    return float(found[1]) * {"s": 1, "m": 60, "h": 3600}[found[2]]
