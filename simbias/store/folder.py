"""A place on a disk, or on any file system that several machines share."""

import contextlib
import dataclasses
import errno
import os
import pathlib
import shutil
import stat
import uuid
import weakref
from collections.abc import Callable, Iterator, Mapping
from typing import TypeVar

from simbias.numerics.regular_file import read_regular
from simbias.store._disk import sync
from simbias.store.place import ROOT, AbstractPlace, naming

_T = TypeVar("_T")
_PARTIAL = ".partial"
# Clearing up takes a file for a leftover once, and its folder once.
_TRIES = 3
# Where an open folder is found by its number (Linux).
_OPEN = pathlib.Path("/proc/self/fd")


class _Handle:
    """An open folder, which is the same one whatever its name leads to by now."""

    def __init__(self, name: pathlib.Path, path: pathlib.Path, follows: bool):
        flags = os.O_RDONLY | os.O_DIRECTORY | (0 if follows else os.O_NOFOLLOW)
        number = os.open(path, flags)
        self.name = name
        self.path = _OPEN / str(number)
        weakref.finalize(self, os.close, number).atexit = False


@dataclasses.dataclass(frozen=True)
class Folder(AbstractPlace):
    """A folder or a file.  What is written appears by a rename, or by a hard link."""

    path: pathlib.Path
    """By name, as the person knows it."""
    handle: _Handle | None = None
    """Of a folder above, or of this one."""
    given: pathlib.Path | None = dataclasses.field(default=None, compare=False)
    """What the person named, this place if None: below it no link is followed."""

    def __truediv__(self, below: str) -> "Folder":
        return Folder(self.path / below, self.handle, self._given)

    def __str__(self) -> str:
        return str(self.path)

    @property
    def name(self) -> str:
        """See AbstractPlace."""
        return self.path.name

    @property
    def parent(self) -> "Folder":
        """See AbstractPlace; that of what is held is found by its name."""
        is_held = self.handle is not None and self.handle.name != self.path
        given = None if self._is_given else self._given
        return Folder(self.path.parent, self.handle if is_held else None, given)

    def read(self, most: int | None = None) -> bytes:
        """See AbstractPlace."""
        with naming(self):
            return read_regular(self._here, most, follows=self._is_given)

    def write(self, content: bytes) -> None:
        """See AbstractPlace; after a power cut it is the old content or the new."""
        with naming(self):
            self._in_its_folder(lambda: self._put(content))

    def create(self, content: bytes) -> bool:
        """See AbstractPlace."""
        with naming(self):
            return self._in_its_folder(lambda: self._put_if_none(content))

    def swap(self, old: bytes, new: bytes) -> bool:
        """See AbstractPlace."""
        with naming(self), self._aside() as grave:
            try:
                if self.read() != old:
                    return False
                os.rename(self._here, grave)
                if read_regular(grave, follows=False) == old:
                    return self.create(new)
                # Another one was faster, and this is what it put there.
                _appeared(grave, self._here)
            except FileNotFoundError:
                pass
            return False

    def delete(self) -> None:
        """See AbstractPlace."""
        self._here.unlink(missing_ok=True)

    def exists(self) -> bool:
        """See AbstractPlace."""
        return self._here.exists() if self._is_given else os.path.lexists(self._here)

    def is_free(self) -> bool:
        """See AbstractPlace."""
        return not self.exists() or (self._here.is_dir() and not os.listdir(self._here))

    def files(self) -> list[str]:
        """See AbstractPlace."""
        out, here = [], (self / "any")._here.parent  # which is no link either
        for folder, _, names in os.walk(here):
            steps = pathlib.Path(folder).relative_to(here).parts
            out += ["/".join((*steps, n)) for n in names if not n.endswith(_PARTIAL)]
        return out

    def sizes(self) -> dict[str, int]:
        """See AbstractPlace."""
        out, here = {}, (self / "any")._here.parent
        for name in self.files():
            with contextlib.suppress(FileNotFoundError):
                found = os.lstat(here / name)
                out |= {name: found.st_size} if stat.S_ISREG(found.st_mode) else {}
        return out

    def clear(self) -> None:
        """See AbstractPlace."""
        shutil.rmtree(self._here, ignore_errors=True)

    def ready(self) -> None:
        """See AbstractPlace."""
        for _ in range(_TRIES):
            with naming(self):
                self._here.mkdir(parents=True, exist_ok=True)
            if os.access(self._here, os.W_OK):
                return
            if self.exists():  # else another process has cleared up here meanwhile
                break
        code = errno.EROFS if _is_read_only(self._here) else errno.EACCES
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
        """See AbstractPlace; what is a folder was written by somebody else."""
        for folder, _, names in os.walk(self._here):  # which others may clear meanwhile
            for name in names:
                if name.endswith(_PARTIAL):
                    with contextlib.suppress(PermissionError):
                        (pathlib.Path(folder) / name).unlink(missing_ok=True)
        for leftover in self.path.parent.glob(f".{self.name}.*{_PARTIAL}"):
            shutil.rmtree(leftover, ignore_errors=True)

    def unsynced(self) -> Iterator[pathlib.Path]:
        """Everything here and below, and the entry in the folder."""
        here = self._here
        yield from (here, *filter(_is_plain, here.rglob("*")), here.parent)

    def tag(self) -> object:
        """See AbstractPlace."""
        with naming(self):
            found = os.stat(self._here, follow_symlinks=self._is_given)
        if not stat.S_ISREG(found.st_mode):
            raise FileNotFoundError(errno.ENOENT, "not a file", str(self.path))
        return found.st_dev, found.st_ino, found.st_ctime_ns, found.st_size

    def held(self) -> "Folder":
        """See AbstractPlace; a folder can be where /proc is."""
        if self.handle is not None or not _OPEN.is_dir():
            return self
        if not self._is_given and self._here.is_symlink():
            raise OSError(errno.ELOOP, "links are not allowed in a run", str(self.path))
        handle = _Handle(self.path, self._here, self._is_given)
        return Folder(self.path, handle, self._given)

    @property
    def _given(self) -> pathlib.Path:
        return self.path if self.given is None else self.given

    @property
    def _is_given(self) -> bool:
        return self._given == self.path

    @property
    def _here(self) -> pathlib.Path:
        """Where it is for the operating system.

        Raises:
            OSError: if a step below what the person named is a link.
        """
        if self.handle is None:
            name = here = self._given
        else:
            name, here = self.handle.name, self.handle.path
        *above, last = self.path.relative_to(name).parts or [""]
        for step in above:
            here /= step
            if here.is_symlink():
                raise OSError(
                    errno.ELOOP,
                    "links are not allowed in a run",
                    str(self.path),
                )
        return here / last

    def _put(self, content: bytes) -> None:
        with self._aside() as partial:
            with partial.open("wb") as file:
                file.write(content)
                file.flush()
                os.fsync(file.fileno())
            os.replace(partial, self._here)

    def _put_if_none(self, content: bytes) -> bool:
        with self._aside() as partial:
            partial.write_bytes(content)
            return _appeared(partial, self._here)

    def _in_its_folder(self, act: Callable[[], _T]) -> _T:
        """What writes here, again if others clear up meanwhile and take the folder."""
        for left in reversed(range(_TRIES)):
            try:
                self._here.parent.mkdir(parents=True, exist_ok=True)
                return act()
            except FileNotFoundError:
                if not left:
                    raise
        raise AssertionError

    @contextlib.contextmanager
    def _aside(self) -> Iterator[pathlib.Path]:
        """A name for what is not there yet, or not any more."""
        aside = self._here.with_name(f"{self.name}.{uuid.uuid4().hex}{_PARTIAL}")
        try:
            yield aside
        finally:
            aside.unlink(missing_ok=True)


def _is_plain(path: pathlib.Path) -> bool:
    """Whether it is a file or a folder, and no link, pipe or device."""
    with contextlib.suppress(FileNotFoundError):
        mode = os.lstat(path).st_mode
        return stat.S_ISREG(mode) or stat.S_ISDIR(mode)
    return False


def _is_read_only(path: pathlib.Path) -> bool:
    """True on a file system that nobody may write to, where one can ask."""
    if not hasattr(os, "statvfs"):
        return False
    return bool(os.statvfs(path).f_flag & os.ST_RDONLY)


def _appeared(partial: pathlib.Path, path: pathlib.Path) -> bool:
    """A file under its name, all at once, unless there is one."""
    try:
        os.link(partial, path)
    except FileExistsError:
        return False
    except FileNotFoundError:
        raise
    except OSError:  # a file system without hard links
        content = partial.read_bytes()
        try:
            with path.open("xb") as file:
                file.write(content)
        except FileExistsError:
            return False
    return True
