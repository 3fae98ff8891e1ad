"""Where a run is: a folder of a disk, or objects of a store, behind one seam.

A place is a node of a tree, as a path is: something may be there, or below it, or not.
"""

import abc
import contextlib
import os
import pathlib
from collections.abc import Iterator, Mapping

# What says that a store is there, and which one.
ROOT = "zarr.json"


class Unreachable(OSError):
    """A store that does not answer, or refuses to: what is in it is not known."""


class Replaced(OSError):
    """A run that is not where it was when this process began to work on it."""

    def __init__(self, place: "AbstractPlace"):
        OSError.__init__(
            self,
            f"the run in {place} was deleted or replaced while this process computed "
            "it. Nothing was written to the new content. To work on that, start again.",
        )


class AbstractPlace(abc.ABC):
    """One node; every method that reaches the place may raise an OSError naming it."""

    @abc.abstractmethod
    def __truediv__(self, below: str) -> "AbstractPlace":
        """A place below this one; several steps are separated by `/`."""

    @abc.abstractmethod
    def __str__(self) -> str:
        """As a person writes it, to be found again."""

    @property
    @abc.abstractmethod
    def name(self) -> str:
        """The last step."""

    @property
    @abc.abstractmethod
    def parent(self) -> "AbstractPlace":
        """The place that this one is in."""

    @abc.abstractmethod
    def read(self, most: int | None = None) -> bytes:
        """What is there, if it is a file of at most so many bytes.

        Raises:
            FileNotFoundError: if nothing is.
        """

    @abc.abstractmethod
    def write(self, content: bytes) -> None:
        """Put something there, all at once, in place of what was."""

    @abc.abstractmethod
    def create(self, content: bytes) -> bool:
        """Put something there, all at once, unless something is; of two, one does.

        The content should name who puts it: objects take equal content for their own.
        """

    @abc.abstractmethod
    def swap(self, old: bytes, new: bytes) -> bool:
        """Put something there in place of `old` only; of two, at most one does."""

    @abc.abstractmethod
    def delete(self) -> None:
        """Remove what is there, if anything is."""

    @abc.abstractmethod
    def exists(self) -> bool:
        """True if something is there, or below."""

    @abc.abstractmethod
    def is_free(self) -> bool:
        """True if nothing is there but, at most, an empty folder."""

    @abc.abstractmethod
    def files(self) -> list[str]:
        """Everything below, by the steps that lead there; no half-written files."""

    @abc.abstractmethod
    def sizes(self) -> dict[str, int]:
        """Bytes of each of `files` that is one."""

    @abc.abstractmethod
    def clear(self) -> None:
        """Remove everything below."""

    @abc.abstractmethod
    def ready(self) -> None:
        """Make the folder that things are put in, where a place needs one."""

    @abc.abstractmethod
    def make(self, documents: Mapping[str, bytes]) -> None:
        """A new store of these documents, unless there is one.

        Either none of them is there afterwards, or ROOT is.
        """

    @abc.abstractmethod
    def tidy(self) -> None:
        """Remove what writers that were killed have left half-written."""

    @abc.abstractmethod
    def unsynced(self) -> Iterator[pathlib.Path]:
        """What the operating system may still hold in memory of what is here."""

    @abc.abstractmethod
    def tag(self) -> object:
        """Something that is another one once what is there was written again.

        Raises:
            FileNotFoundError: if nothing is, or a folder.
        """

    @abc.abstractmethod
    def held(self) -> "AbstractPlace":
        """The same place, also when its name leads to another one later.

        A place that cannot be held is given back as it is.
        """


Address = str | os.PathLike | AbstractPlace


@contextlib.contextmanager
def naming(place: AbstractPlace) -> Iterator[None]:
    """Errors of a file beside the place, or of a part of it, get its name."""
    try:
        yield
    except (Unreachable, Replaced):
        raise
    except OSError as error:
        raise OSError(error.errno, error.strerror, str(place)) from error
