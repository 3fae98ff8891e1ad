"""Errors of `figure` and `claims`, kept until all else of a run has been shown."""

import contextlib
import dataclasses
from collections.abc import Iterator

from simbias.cli._source import Source
from simbias.errors import BadInput
from simbias.store.place import AbstractPlace


@dataclasses.dataclass
class Failures:
    """What failed in a run whose data are there: function -> its error."""

    source: Source
    out: AbstractPlace
    errors: dict[str, Exception] = dataclasses.field(default_factory=dict)

    @contextlib.contextmanager
    def of(self, function: str) -> Iterator[None]:
        """Keep an error of a function; one of the machine or the store is raised."""
        try:
            yield
        except (OSError, MemoryError):
            raise
        except Exception as error:
            self.errors[function] = error

    def raise_first(self) -> None:
        """The first error, if any; that of a file of yours is bad input.

        Raises:
            ValueError: which says how to go on once the file is corrected.
        """
        if not self.errors:
            return
        (_, first), *_ = self.errors.items()
        if "file" not in self.source.recipe:
            raise first
        name = self.source.recipe["file"]["name"]
        said = "\n".join(
            f"`{function}` of {name} failed: {_told(error)}"
            for function, error in self.errors.items()
        )
        commands = [self.source.command("resume", self.out)]
        if [*self.errors] == ["figure"]:
            commands.insert(0, self.source.command("figure", self.out))
        error = BadInput(said)
        lines = "\n  ".join(commands)
        error.advice = f"All data are in {self.out}. Correct {name}, then:\n\n  {lines}"
        raise error from first


def _told(error: Exception) -> str:
    return (
        str(error)
        if isinstance(error, BadInput)
        else f"{type(error).__name__}: {error}"
    )
