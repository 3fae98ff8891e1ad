"""Published files on this machine: found, checked, never downloaded."""

import gzip
import hashlib
import pathlib
import zlib
from collections.abc import Sequence

from simbias.errors import BadInput


def folder_of(data_dir: str) -> pathlib.Path:
    """The folder.

    Raises:
        ValueError: if it is not one.
    """
    folder = pathlib.Path(data_dir).expanduser()
    if not folder.is_dir():
        raise BadInput(
            f"`data_dir` must be a folder with the published files, got {data_dir!r}, "
            f"which is {'a file' if folder.exists() else 'not there'}. "
            'Example: data_dir="/data".'
        )
    return folder


def first_of(
    folder: pathlib.Path, places: Sequence[str], what: str, url: str
) -> pathlib.Path:
    """The first of several places in the folder that is there.

    Raises:
        ValueError: if none is, with where to get the files.
    """
    for place in places:
        if (folder / place).exists():
            return folder / place
    raise BadInput(
        f"`data_dir`: {what} is not in {folder}; looked for {', '.join(places)}. "
        f"Nothing is downloaded here: get it from {url}."
    )


def contents(path: pathlib.Path, digest: str | None) -> bytes:
    """All bytes of a file, unpacked if it is gzip.

    Args:
        path: the file.
        digest: published SHA-256 or MD5 (told by its length) of the file as it lies
            there; None is not checked.

    Raises:
        ValueError: for another digest, or a damaged gzip file.
        OSError: if the file cannot be read.
    """
    raw = path.read_bytes()
    check(str(path), raw, digest)
    return unpacked(str(path), raw)


def unpacked(name: str, raw: bytes) -> bytes:
    """The bytes, unpacked if they are gzip.

    Raises:
        ValueError: for a damaged gzip file.
    """
    if raw[:2] != b"\x1f\x8b":
        return raw
    try:
        return gzip.decompress(raw)
    except (OSError, EOFError, zlib.error) as error:
        raise BadInput(
            f"`data_dir`: {name} is a damaged gzip file: {error}."
        ) from error


def check(name: str, raw: bytes, digest: str | None) -> None:
    """Raise ValueError unless the bytes have the published digest."""
    if digest is None:
        return
    kind = "md5" if len(digest) == 32 else "sha256"
    found = hashlib.new(kind, raw, usedforsecurity=False).hexdigest()
    if found != digest:
        raise BadInput(
            f"`data_dir`: {name} is not the published file: its {kind} is {found}, "
            f"expected {digest} ({len(raw):,} bytes; a download that broke off?). Get "
            "it again, or pass verify=False for a file of your own in this format."
        )
