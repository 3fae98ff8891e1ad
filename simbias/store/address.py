"""From what a person writes, a path or a URL, to a place."""

import os
import pathlib
import re

from simbias.errors import BadInput
from simbias.store.folder import Folder
from simbias.store.place import AbstractPlace, Address

SCHEMES = ("s3", "s3a", "gs", "az", "azure", "abfs", "abfss", "file", "memory")
_URL = re.compile(r"([A-Za-z][A-Za-z0-9+.-]*)://(.*)", re.DOTALL)
_BROKEN_URL = re.compile(rf"({'|'.join(SCHEMES)}):/")


def is_url(address: str) -> bool:
    """True for an address of an object store."""
    return bool(_URL.fullmatch(address))


def place_at(address: Address) -> AbstractPlace:
    """The place of an address, which is a path or a URL; places are given back.

    Raises:
        ValueError: for a URL that is none, a kind of store that is not known, or one
            that needs more than is installed.
    """
    if isinstance(address, AbstractPlace):
        return address
    text = os.fspath(address)
    if not text:
        raise BadInput("the address of a run must not be empty. Example: runs/mine.")
    if url := _URL.fullmatch(text):
        return _objects(text, *url.groups())
    if _BROKEN_URL.match(text):
        raise BadInput(
            f"`{text}` must have two slashes after the colon. pathlib.Path removes one "
            "of them, so give a string. Example: s3://bucket/run.zarr."
        )
    return Folder(pathlib.Path(text))


def _objects(url: str, scheme: str, rest: str) -> AbstractPlace:
    if scheme not in SCHEMES:
        raise BadInput(
            f"`{url}`: `{scheme}` must be one of {', '.join(SCHEMES)}. Example: "
            "s3://bucket/run.zarr."
        )
    bucket, _, key = rest.partition("/")
    if bool(bucket) == (scheme == "file"):
        example = "file:///data/run.zarr" if scheme == "file" else f"{scheme}://bucket"
        raise BadInput(f"`{url}` is not a complete URL. Example: {example}.")
    steps = [step for step in key.split("/") if step]
    if {".", ".."} & set(steps):
        raise BadInput(f"`{url}` must not contain the steps `.` or `..`.")
    try:
        # Imported here: obstore is an extra.
        from simbias.store.objects import Objects, connected
    except ModuleNotFoundError as error:
        if error.name != "obstore":
            raise
        raise BadInput(
            f"`{url}`: object stores need obstore. Install it: pip install "
            "'simbias[cloud]'."
        ) from error
    return Objects(connected(scheme, bucket), f"{scheme}://{bucket}", "/".join(steps))
