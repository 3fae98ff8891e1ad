"""Files that a sample is read from: without them a run may be planned, not made."""

from collections.abc import Iterator
from contextlib import contextmanager
from contextvars import ContextVar

_ARE_DUE = ContextVar("files_are_due", default=False)


@contextmanager
def files_due() -> Iterator[None]:
    """Here a sample whose files are missing is refused, not only planned."""
    token = _ARE_DUE.set(True)
    try:
        yield
    finally:
        _ARE_DUE.reset(token)


def are_files_due() -> bool:
    """True for a run that is to be made, not only planned."""
    return _ARE_DUE.get()
