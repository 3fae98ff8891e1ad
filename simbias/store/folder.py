"""A place on a disk, or on any file system that several machines share."""

import contextlib
import dataclasses
import errno
import os
import pathlib
import shutil
import uuid
from collections.abc import Iterator, Mapping

from simbias.store._disk import sync
from simbias.store.place import ROOT, AbstractPlace

_PARTIAL = ".partial"


@dataclasses.dataclass(frozen=True)
class Folder(AbstractPlace):
    """A folder or a file.  What is written appears by a rename, or by a hard link."""

    path: pathlib.Path

    def __truediv__(self, below: str) -> "Folder":
        return Folder(self.path / below)

    def __str__(self) -> str:
        return str(self.path)

    @property
    def name(self) -> str:
        """See AbstractPlace."""
        return self.path.name

    @property
    def parent(self) -> "Folder":
        """See AbstractPlace."""
        return Folder(self.path.parent)

    def read(self) -> bytes:
        """See AbstractPlace."""
        return self.path.read_bytes()

    def write(self, content: bytes) -> None:
        """See AbstractPlace; after a power cut it is the old content or the new."""
        partial = self._aside()
        try:
            self.path.parent.mkdir(parents=True, exist_ok=True)
            with partial.open("wb") as file:
                file.write(content)
                file.flush()
                os.fsync(file.fileno())
            os.replace(partial, self.path)
        except OSError as error:
            error.filename = str(self.path)  # as the person knows it
            raise
        finally:
            partial.unlink(missing_ok=True)

    def create(self, content: bytes) -> bool:
        """See AbstractPlace."""
        partial = self._aside()
        try:
            self.path.parent.mkdir(parents=True, exist_ok=True)
            partial.write_bytes(content)
            _appear(partial, self.path)
        except FileExistsError:
            return False
        except OSError as error:
            error.filename = str(self.path)
            raise
        finally:
            partial.unlink(missing_ok=True)
        return True

    def swap(self, old: bytes, new: bytes) -> bool:
        """See AbstractPlace."""
        grave = self._aside()
        with contextlib.suppress(OSError):
            os.rename(self.path, grave)
            if grave.read_bytes() != old:
                # Another one was faster, and this is what it put there.
                os.link(grave, self.path)
        grave.unlink(missing_ok=True)
        return self.create(new)

    def delete(self) -> None:
        """See AbstractPlace."""
        self.path.unlink(missing_ok=True)

    def exists(self) -> bool:
        """See AbstractPlace."""
        return self.path.exists()

    def is_free(self) -> bool:
        """See AbstractPlace."""
        return not self.exists() or (self.path.is_dir() and not os.listdir(self.path))

    def files(self) -> list[str]:
        """See AbstractPlace."""
        out = []
        for folder, _, names in os.walk(self.path):
            steps = pathlib.Path(folder).relative_to(self.path).parts
            out += ["/".join((*steps, n)) for n in names if not n.endswith(_PARTIAL)]
        return out

    def clear(self) -> None:
        """See AbstractPlace."""
        shutil.rmtree(self.path, ignore_errors=True)

    def ready(self) -> None:
        """See AbstractPlace."""
        self.path.mkdir(parents=True, exist_ok=True)
        if not os.access(self.path, os.W_OK):
            code = errno.EROFS if _is_read_only(self.path) else errno.EACCES
            raise OSError(code, os.strerror(code), str(self.path))

    def make(self, documents: Mapping[str, bytes]) -> None:
        """See AbstractPlace; the folder appears all at once."""
        partial = self.path.with_name(f".{self.name}.{uuid.uuid4().hex}{_PARTIAL}")
        try:
            self.path.parent.mkdir(parents=True, exist_ok=True)
            for name, content in documents.items():
                file = partial / name
                file.parent.mkdir(parents=True, exist_ok=True)
                file.write_bytes(content)
            sync(partial / ROOT)
            try:
                partial.rename(self.path)
            except OSError:
                if not self.exists():
                    raise
        except OSError as error:
            error.filename = str(self.path)
            raise
        finally:
            shutil.rmtree(partial, ignore_errors=True)

    def tidy(self) -> None:
        """See AbstractPlace."""
        for leftover in self.path.rglob(f"*{_PARTIAL}"):
            leftover.unlink(missing_ok=True)
        for leftover in self.path.parent.glob(f".{self.name}.*{_PARTIAL}"):
            shutil.rmtree(leftover, ignore_errors=True)

    def unsynced(self) -> Iterator[pathlib.Path]:
        """Everything here and below, and the entry in the folder."""
        yield from (self.path, *self.path.rglob("*"), self.path.parent)

    def zarr(self) -> pathlib.Path:
        """See AbstractPlace."""
        return self.path

    def _aside(self) -> pathlib.Path:
        return self.path.with_name(f"{self.name}.{uuid.uuid4().hex}{_PARTIAL}")


def _is_read_only(path: pathlib.Path) -> bool:
    """True on a file system that nobody may write to, where one can ask."""
    if not hasattr(os, "statvfs"):
        return False
    return bool(os.statvfs(path).f_flag & os.ST_RDONLY)


def _appear(partial: pathlib.Path, path: pathlib.Path) -> None:
    """A file under its name, all at once, unless there is one."""
    try:
        os.link(partial, path)
    except FileExistsError:
        raise
    except OSError:  # a file system without hard links
        with path.open("xb") as file:
            file.write(partial.read_bytes())
