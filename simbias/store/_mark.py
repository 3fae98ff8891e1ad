"""Where the file of a chunk belongs, said at its end: files that change places show it.

The mark is a frame that every decoder of zstd skips.

Reference: RFC 8878, 3.1.2, skippable frames.
"""

from simbias.errors import BadInput

_MAGIC = (0x184D2A53).to_bytes(4, "little")


def marked(content: bytes, place: str) -> bytes:
    """A chunk with its mark: `place` is its path in the run."""
    said = place.encode()
    return content + _MAGIC + len(said).to_bytes(4, "little") + said


def unmarked(raw: bytes, place: str) -> bytes:
    """A chunk without its mark.

    Raises:
        ValueError: if the mark is missing, or is that of another chunk.
    """
    mark = marked(b"", place)
    if raw.endswith(mark):
        return raw[: -len(mark)]
    _, is_there, said = raw[-len(mark) - 200 :].rpartition(_MAGIC)
    other = said[4:].decode(errors="replace") if is_there else ""
    if other.isprintable() and other:
        raise BadInput(f"it is the file of another chunk, {other:.200}")
    raise BadInput("it does not say which chunk it is")
