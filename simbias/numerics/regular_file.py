"""The only way in which a file is opened that a stranger may have put there."""

import errno
import os
import stat

# Of a pipe one would wait for the other end.
_FLAGS = os.O_RDONLY | getattr(os, "O_NONBLOCK", 0) | getattr(os, "O_BINARY", 0)
_NO_LINK = getattr(os, "O_NOFOLLOW", 0)


def read_regular(
    path: str | os.PathLike, most: int | None = None, *, follows: bool = True
) -> bytes:
    """Content of a regular file: no pipe, no device, no folder.

    The kind and the size are those of what is open, whatever the name leads to by then.

    Args:
        path: where it is.
        most: bytes that it may have at most.
        follows: whether the last step of `path` may be a link.

    Raises:
        FileNotFoundError: if there is none.
        OSError: if it is not a regular file, or too large.
    """
    try:
        number = os.open(path, _FLAGS | (0 if follows else _NO_LINK))
    except OSError as error:
        if error.errno == errno.ELOOP:
            raise OSError(error.errno, "a link, expected a file", path) from None
        if error.errno == errno.ENXIO:  # a socket, which is not opened
            raise OSError(error.errno, "not a regular file", path) from None
        raise
    try:
        found = os.fstat(number)
        if stat.S_ISDIR(found.st_mode):
            raise IsADirectoryError(errno.EISDIR, "a folder, expected a file", path)
        if not stat.S_ISREG(found.st_mode):
            raise OSError(errno.EINVAL, "not a regular file", path)
        if most is not None and found.st_size > most:
            what = f"it has {found.st_size} bytes, more than {most}"
            raise OSError(errno.EFBIG, what, path)
        # What is added to it meanwhile is not read.
        with open(number, "rb", closefd=False) as file:
            return file.read(found.st_size)
    finally:
        os.close(number)
