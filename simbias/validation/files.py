"""Files that a sample is read from: without them a run may be planned, not made."""

from collections.abc import Iterator
from contextlib import contextmanager
from contextvars import ContextVar
from typing import NoReturn

from simbias.errors import BadInput

_ARE_DUE = ContextVar("files_are_due", default=False)


@contextmanager
def files_due() -> Iterator[None]:
    """Here a sample whose files are not named is refused, not only planned."""
    token = _ARE_DUE.set(True)
    try:
        yield
    finally:
        _ARE_DUE.reset(token)


def check_files_due(sources: str) -> None:
    """Refuse a sample without its folder, if this is for a run that is to be made.

    Raises:
        ValueError: naming `data_dir`.
    """
    if _ARE_DUE.get():
        missing_files(sources)


def missing_files(sources: str) -> NoReturn:
    """Refuse a sample without its folder.

    Raises:
        ValueError: naming `data_dir`.
    """
    raise BadInput(
        f"`data_dir` is required for source={sources}: the folder of the published "
        'files. Example: data_dir="/data" or --cell.data-dir /data.'
    )
