"""Whether the run that a process works on is still the one at its address."""

from collections.abc import Mapping
from typing import Any

from simbias.store._root import read_root
from simbias.store.place import ROOT, AbstractPlace, Replaced


class Watch:
    """Asked before anything is written.

    A run has a number of its own, made at random at its birth.  It may grow meanwhile,
    which adds to its extents and changes none.
    """

    def __init__(self, place: AbstractPlace, attributes: Mapping[str, Any]):
        self._place = place
        self._mine = attributes
        self._tag: object = None

    def check(self) -> None:
        """Return if the run is still there.

        Raises:
            Replaced: if it is not.
            ValueError: if its root is damaged.
        """
        try:
            tag = (self._place / ROOT).tag()
        except FileNotFoundError:
            raise Replaced(self._place) from None
        if tag == self._tag:
            return
        found, mine = read_root(self._place), self._mine
        count = len(mine["extents"])
        if found["run"] != mine["run"] or found["extents"][:count] != mine["extents"]:
            raise Replaced(self._place)
        self._tag = tag
