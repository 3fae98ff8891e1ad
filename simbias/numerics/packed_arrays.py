"""Arrays from files of NumPy that a stranger may have made.

Nothing is executed, and nothing is reserved that the file does not hold.
"""

import io
import math
import warnings
import zipfile

import numpy as np

from simbias.errors import BadInput

# Axes of an array, and places of one, which an empty array may claim without a byte.
_MOST_DIMS, _MOST_PLACES = 32, 2**31
_HEADERS = {
    (1, 0): np.lib.format.read_array_header_1_0,
    (2, 0): np.lib.format.read_array_header_2_0,
}


def array_of(raw: bytes) -> np.ndarray:
    """The array of a file that `numpy.save` wrote.

    Raises:
        ValueError: if it is none, or does not hold as much as its header says.
    """
    file = io.BytesIO(raw)
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")  # of a header that Python 2 wrote
            read = _HEADERS[np.lib.format.read_magic(file)]
            shape, is_fortran, dtype = read(file)
    except Exception as error:  # of any kind: anybody can write a header
        raise BadInput(f"it is no array ({type(error).__name__}: {error})") from error
    if dtype.hasobject:
        raise BadInput("it holds objects of Python as a pickle, which is not read")
    count, there = math.prod(shape), len(raw) - file.tell()
    is_small = len(shape) <= _MOST_DIMS and max(shape, default=0) <= _MOST_PLACES
    if not (is_small and dtype.itemsize and count * dtype.itemsize == there):
        raise BadInput(
            f"it holds {there} bytes, and its header says {shape!r:.100} of {dtype}"
        )
    flat = np.frombuffer(raw, dtype, count, file.tell())
    return flat.reshape(shape, order="F" if is_fortran else "C").copy()


def arrays_of(raw: bytes, most: int) -> dict[str, np.ndarray]:
    """The arrays of a file that `numpy.savez` wrote, by name.

    Args:
        raw: the file.
        most: bytes that they may have together once they are unpacked.

    Raises:
        ValueError: if it is no such file, or they have more.
    """
    try:
        with zipfile.ZipFile(io.BytesIO(raw)) as archive:
            entries = archive.infolist()
            size = sum(entry.file_size for entry in entries)
            if size > most:
                raise BadInput(f"it unpacks to {size} bytes, more than {most}")
            return {
                entry.filename.removesuffix(".npy"): _entry(archive, entry)
                for entry in entries
            }
    except BadInput:
        raise
    except Exception as error:  # of any kind, as above
        raise BadInput(
            f"it is no archive of arrays ({type(error).__name__}: {error})"
        ) from error


def _entry(archive: zipfile.ZipFile, entry: zipfile.ZipInfo) -> np.ndarray:
    # Others unpack more than they are asked for.
    if entry.compress_type not in (zipfile.ZIP_STORED, zipfile.ZIP_DEFLATED):
        raise BadInput(f"`{entry.filename}` is packed in a way that is not read")
    with archive.open(entry) as file:
        content = file.read(entry.file_size) if entry.file_size else b""
    try:
        return array_of(content)
    except BadInput as error:
        raise BadInput(f"`{entry.filename}`: {error}") from error
