"""A place in an object store: S3, Google Cloud Storage, Azure, and more, by obstore.

An object appears all at once.  `create` is a put on the condition that nothing is there
(If-None-Match: *), `swap` one on the condition that what is there is what was read
(If-Match: its tag).  A put that has returned is durable.  Requests that fail are tried
again by obstore; an error that persists is raised as Unreachable, with the address.
"""

import contextlib
import dataclasses
import datetime
import errno
import functools
import pathlib
import uuid
from collections.abc import Iterator, Mapping
from typing import Any

import obstore
from obstore.exceptions import AlreadyExistsError, BaseError, PreconditionError
from obstore.store import MemoryStore, from_url

from simbias.errors import BadInput
from simbias.store.place import ROOT, AbstractPlace, Unreachable

# A worker outlives an outage of a minute; by default obstore gives up after seconds.
_RETRY: Any = {"max_retries": 1000, "retry_timeout": datetime.timedelta(minutes=1)}
# What a put raises if the bucket is not there; its object need not be.
_NO_BUCKET = (FileNotFoundError,)


@functools.cache
def connected(scheme: str, bucket: str) -> Any:
    """The obstore store of a bucket; one for all who ask in this process.

    Raises:
        ValueError: with the cause, if it cannot be one.
    """
    if scheme == "memory":
        return MemoryStore()
    patience = {} if scheme == "file" else {"retry_config": _RETRY}
    try:
        return from_url(f"{scheme}://{bucket}/", **patience)
    except BaseError as error:
        raise BadInput(
            f"cannot connect to `{scheme}://{bucket}`: {_cause(error)}."
        ) from error


@dataclasses.dataclass(frozen=True)
class Objects(AbstractPlace):
    """An object, or all whose keys begin with `key/`."""

    store: Any
    bucket: str
    """With its scheme, e.g. s3://bucket."""
    key: str

    def __truediv__(self, below: str) -> "Objects":
        return dataclasses.replace(self, key=f"{self.key}/{below}".strip("/"))

    def __str__(self) -> str:
        return f"{self.bucket}/{self.key}"

    @property
    def name(self) -> str:
        """See AbstractPlace."""
        return self.key.rpartition("/")[2]

    @property
    def parent(self) -> "Objects":
        """See AbstractPlace."""
        return dataclasses.replace(self, key=self.key.rpartition("/")[0])

    def read(self, most: int | None = None) -> bytes:
        """See AbstractPlace."""
        with _reaching(self):
            found = obstore.get(self.store, self.key)
            size = found.meta["size"]
            if most is None or size <= most:
                return bytes(found.bytes())
        what = f"it has {size} bytes, more than {most}"
        raise OSError(errno.EFBIG, what, str(self))

    def write(self, content: bytes) -> None:
        """See AbstractPlace."""
        self._put(content, "overwrite")

    def create(self, content: bytes) -> bool:
        """See AbstractPlace; a put may have been done before its answer was lost."""
        try:
            self._put(content, "create")
        except AlreadyExistsError:
            return self._holds(content)
        return True

    def swap(self, old: bytes, new: bytes) -> bool:
        """See AbstractPlace."""
        try:
            with _reaching(self):
                found = obstore.get(self.store, self.key)
                if bytes(found.bytes()) != old:
                    return False
            tags = {k: found.meta[k] for k in ("e_tag", "version")}
            self._put(new, {k: v for k, v in tags.items() if v is not None})
        except FileNotFoundError:
            return False
        except PreconditionError:
            return self._holds(new)
        except NotImplementedError:
            return self._swap_by_rename(old, new)
        return True

    def delete(self) -> None:
        """See AbstractPlace."""
        with contextlib.suppress(FileNotFoundError), _reaching(self):
            obstore.delete(self.store, self.key)

    def exists(self) -> bool:
        """See AbstractPlace."""
        with _reaching(self):
            with contextlib.suppress(FileNotFoundError):
                obstore.head(self.store, self.key)
                return True
            return any(map(len, obstore.list(self.store, self.key)))

    def is_free(self) -> bool:
        """See AbstractPlace."""
        return not self.exists()

    def files(self) -> list[str]:
        """See AbstractPlace."""
        return [*self.sizes()]

    def sizes(self) -> dict[str, int]:
        """See AbstractPlace."""
        above = f"{self.key}/" if self.key else ""
        with _reaching(self):
            found = [
                one for batch in obstore.list(self.store, self.key) for one in batch
            ]
        return {one["path"].removeprefix(above): one["size"] for one in found}

    def clear(self) -> None:
        """See AbstractPlace."""
        for file in self.files():
            (self / file).delete()

    def ready(self) -> None:
        """Nothing to do."""

    def make(self, documents: Mapping[str, bytes]) -> None:
        """See AbstractPlace.

        ROOT comes first and decides which store it is; what a creator that died has
        not written follows from it.

        Raises:
            ValueError: if the store ignores conditions, so that two might create.
        """
        if not (self / ROOT).create(documents[ROOT]):
            return
        if (self / ROOT).create(documents[ROOT] + b"\n"):
            self.clear()
            raise BadInput(
                f"`{self.bucket}` ignores conditional writes (If-None-Match), which "
                "workers need to share a run. Choose another object store."
            )
        for name, content in documents.items():
            (self / name).create(content)

    def tidy(self) -> None:
        """Nothing to do: an object is never half-written."""

    def unsynced(self) -> Iterator[pathlib.Path]:
        """Nothing: a put that has returned is durable."""
        yield from ()

    def tag(self) -> object:
        """See AbstractPlace."""
        with _reaching(self):
            found = obstore.head(self.store, self.key)
        return tuple(found[k] for k in ("e_tag", "version", "last_modified", "size"))

    def held(self) -> "Objects":
        """See AbstractPlace; a key always leads to what is there now."""
        return self

    def _put(self, content: bytes, mode: Any) -> None:
        with _reaching(self, *_NO_BUCKET):
            obstore.put(self.store, self.key, content, mode=mode)

    def _holds(self, content: bytes) -> bool:
        """True if a put was refused because it had been done, when tried again."""
        with contextlib.suppress(FileNotFoundError):
            return self.read() == content
        return False

    def _swap_by_rename(self, old: bytes, new: bytes) -> bool:
        """The same for files behind obstore, which know no conditions but rename."""
        grave = dataclasses.replace(self, key=f"{self.key}.{uuid.uuid4().hex}.partial")
        with contextlib.suppress(FileNotFoundError, AlreadyExistsError):
            with _reaching(self):
                obstore.rename(self.store, self.key, grave.key)
                if grave.read() != old:
                    # Another one was faster, and this is what it put there.
                    obstore.rename(self.store, grave.key, self.key, overwrite=False)
                    return False
            grave.delete()
            return self.create(new)
        return False


@contextlib.contextmanager
def _reaching(place: Objects, *others: type[Exception]) -> Iterator[None]:
    """Errors that say something about the store, and nothing about what is there."""
    try:
        yield
    except (AlreadyExistsError, PreconditionError):
        raise
    except (BaseError, *others) as error:
        raise Unreachable(errno.EIO, _cause(error), str(place)) from error


def _cause(error: Exception) -> str:
    """What obstore says, without its own innards, which follow."""
    return str(error).partition("\n\nDebug source")[0]
