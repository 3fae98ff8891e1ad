"""Titles whose places hold coordinates, such as "m = {m}"."""

import re

import xarray as xr

from simbias.errors import BadInput
from simbias.figures.look import Look
from simbias.suggestion import suggestion

# A coordinate in a title, {m} or {scale:g}.
_PLACE = re.compile(r"\{([\w.]+)(?::([^}]*))?\}")


def filled(text: str, part: xr.Dataset, look: Look) -> str:
    """The text with coordinates of the part in its places, {m} or {scale:g}.

    Raises:
        ValueError: for a place that is no coordinate with one value.
    """

    def found(match: re.Match[str]) -> str:
        key, form = match.groups()
        if key not in part.variables or part[key].size != 1:
            single = [str(k) for k, v in part.coords.items() if v.size == 1]
            raise BadInput(
                f"the title {text!r} names `{key}`, which is no coordinate with one "
                f"value here.{suggestion(key, single)}"
            )
        value = part[key].item()
        return (
            format(value, form) if form else look.names_of(key).get(value, f"{value}")
        )

    return _PLACE.sub(found, text)


def places_of(text: str) -> list[str]:
    """Coordinates that a title names in its places."""
    return [key for key, _ in _PLACE.findall(text)]
