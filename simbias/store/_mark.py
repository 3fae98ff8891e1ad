"""Where the file of a chunk belongs, said at its end: one that is not its own shows it.

The mark is a frame that every decoder of zstd skips.  It says the path of the chunk
and, from format 5 on, a hash of what decides the bits of its block: two runs that
compute the same have the same files, and a chunk of any other run is refused.

Reference: RFC 8878, 3.1.2, skippable frames.
"""

import dataclasses
import functools
import hashlib
import json
from collections.abc import Mapping
from typing import Any

from simbias.errors import BadInput
from simbias.store._root import MARKS_A_PLACE, MARKS_NOTHING
from simbias.store.extents import extent_of

_MAGIC = (0x184D2A53).to_bytes(4, "little")
_GRID = ("cell", "seeds")
_HEX = 16


def deciding(attributes: Mapping[str, Any], extent: int) -> list[Any]:
    """What decides the bits of the blocks that an extent added, as tables.

    The grids are those that the run was asked for until then, so that a run which
    grows keeps what it has.
    """
    configuration = {
        k: v for k, v in attributes["configuration"].items() if k not in _GRID
    }
    versions = {k: v for k, v in attributes["versions"].items() if k != "python"}
    extents = attributes["extents"][: extent + 1]
    grids = [{k: one[k] for k in _GRID} for one in extents]
    return [grids, configuration, versions, attributes["device"]]


@dataclasses.dataclass(frozen=True)
class Marks:
    """The marks of a run's chunks."""

    attributes: Mapping[str, Any]

    @functools.cached_property
    def _origins(self) -> list[str]:
        return [self._origin(k) for k in range(len(self.attributes["extents"]))]

    def _origin(self, extent: int) -> str:
        grids, configuration, *rest = deciding(self.attributes, extent)
        configuration = {k: v for k, v in configuration.items() if k != "name"}
        text = json.dumps([grids, configuration, *rest], sort_keys=True)
        return hashlib.sha256(text.encode()).hexdigest()[:_HEX]

    def of(self, path: str) -> bytes:
        """The end of the file at `GROUP/NAME/c/BLOCK/…`; nothing in format 3."""
        if self.attributes["format"] == MARKS_NOTHING:
            return b""
        if self.attributes["format"] == MARKS_A_PLACE:
            return _frame(path)
        block = int(path.split("/")[3])
        return _frame(f"{path} {self._origins[extent_of(self.attributes, block)]}")


def _frame(said: str) -> bytes:
    raw = said.encode()
    return _MAGIC + len(raw).to_bytes(4, "little") + raw


def unmarked(raw: bytes, mark: bytes) -> bytes:
    """A chunk without its mark.

    Raises:
        ValueError: if the mark is missing, or is that of another chunk.
    """
    if raw.endswith(mark):
        return raw[: len(raw) - len(mark)]
    _, is_there, said = raw[-len(mark) - 200 :].rpartition(_MAGIC)
    other = said[4:].decode(errors="replace") if is_there else ""
    if not other.isprintable() or not other:
        raise BadInput("the name of its chunk is missing")
    path = other.partition(" ")[0]
    if path == mark[len(_MAGIC) + 4 :].decode().partition(" ")[0]:
        raise BadInput("it belongs to another run")
    raise BadInput(f"it is the file of another chunk, {path:.200}")
