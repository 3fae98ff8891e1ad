"""CIFAR-10, from its binary or its Python version.

Reference: Krizhevsky (2009), Learning multiple layers of features from tiny images.
Digests: SHA-256 of both archives and of the binary batches, MD5 of the Python batches
as in torchvision.
"""

import functools
import io
import pathlib
import pickle
import tarfile
import zlib
from collections.abc import Callable
from typing import Any

import numpy as np

from simbias.datasets.vision._files import check, first_of, folder_of
from simbias.datasets.vision._labelled import Labelled
from simbias.errors import BadInput

_URL = "https://www.cs.toronto.edu/~kriz/cifar.html"
_ROW = 3 * 32 * 32
_ARCHIVES = {
    "cifar-10-binary.tar.gz": (
        "c4a38c50a1bc5f3a1c5537f2155ab9d68f9f25eb1ed8d9ddda3db29a59bca1dd"
    ),
    "cifar-10-python.tar.gz": (
        "6d958be074577803d12ecdefd02955f39262c83c16fe9348329d7fe0b5c001ce"
    ),
}
# Five batches to train on, then the test batch.
_BATCHES = {
    "cifar-10-batches-bin": {
        "data_batch_1.bin": (
            "cee916563c9f80d84e3cc88e17fdc0941787f1244f00a67874d45b261883ada5"
        ),
        "data_batch_2.bin": (
            "a591ca11fa1708a91ee40f54b3da4784ccd871ecf2137de63f51ada8b3fa57ed"
        ),
        "data_batch_3.bin": (
            "bbe8596564c0f86427f876058170b84dac6670ddf06d79402899d93ceea26f67"
        ),
        "data_batch_4.bin": (
            "014e562d6e23c72197cc727519169a60359f5eccd8945ad5a09d710285ff4e48"
        ),
        "data_batch_5.bin": (
            "755304fc0b379caeae8c14f0dac912fbc7d6cd469eb67a1029a08a39453a9add"
        ),
        "test_batch.bin": (
            "8e2eb146ae340b09e24670f29cabc6326dba54da8789dab6768acf480273f65b"
        ),
    },
    "cifar-10-batches-py": {
        "data_batch_1": "c99cafc152244af753f735de768cd75f",
        "data_batch_2": "d4bba439e000b95fd0a9bffe97cbabec",
        "data_batch_3": "54ebc095f3ab1f0389bbae665268c751",
        "data_batch_4": "634d18415352ddfa80567beed471001a",
        "data_batch_5": "482c414d41f54cd18b22e5b47cb7c3cb",
        "test_batch": "40351d587109b95175f43aff81a1287e",
    },
}


@functools.lru_cache(maxsize=2)
def cifar10(data_dir: str, verify: bool = True) -> tuple[Labelled, Labelled]:
    """Training and test set, "n 3 32 32" bytes with labels 0 to 9.

    Args:
        data_dir: folder with `cifar-10-batches-bin` or `cifar-10-batches-py`, or with
            one of the archives, which is read as it is.
        verify: compare with the published digests.

    Raises:
        ValueError: for a file that is missing, another one, damaged or cut off.
    """
    folder = folder_of(data_dir)
    path = first_of(folder, [*_BATCHES, *_ARCHIVES], "CIFAR-10", _URL)
    if path.name in _BATCHES:
        parts = _from_folder(path, verify)
    else:
        parts = _from_archive(path, verify)
    images = np.concatenate([part.image for part in parts[:-1]])
    return Labelled(images, np.concatenate([p.label for p in parts[:-1]])), parts[-1]


def _from_folder(folder: pathlib.Path, verify: bool) -> list[Labelled]:
    parts = []
    for name, digest in _BATCHES[folder.name].items():
        path = first_of(folder, [name], "a batch of CIFAR-10", _URL)
        raw = path.read_bytes()
        check(str(path), raw, digest if verify else None)
        parts.append(_reader(name)(str(path), raw))
    return parts


def _from_archive(path: pathlib.Path, verify: bool) -> list[Labelled]:
    raw = path.read_bytes()
    check(str(path), raw, _ARCHIVES[path.name] if verify else None)
    kind = "bin" if "binary" in path.name else "py"
    folder, parts = f"cifar-10-batches-{kind}", []
    try:
        with tarfile.open(fileobj=io.BytesIO(raw), mode="r:gz") as archive:
            for name in _BATCHES[folder]:
                file = archive.extractfile(f"{folder}/{name}")
                assert file is not None
                parts.append(_reader(name)(f"{path}: {name}", file.read()))
    except (tarfile.TarError, OSError, EOFError, zlib.error, KeyError) as error:
        raise BadInput(
            f"`data_dir`: {path} is no archive of {folder}, or a damaged one: {error}."
        ) from error
    return parts


def _reader(name: str) -> Callable[[str, bytes], Labelled]:
    return _binary if name.endswith(".bin") else _pickled


def _binary(name: str, raw: bytes) -> Labelled:
    """Records of one byte of class and 3072 of colour planes."""
    if not raw or len(raw) % (1 + _ROW):
        raise BadInput(
            f"`data_dir`: {name} has {len(raw):,} bytes, which are no records of "
            f"{1 + _ROW:,}: it is cut off or another file."
        )
    rows = np.frombuffer(raw, np.uint8).reshape(-1, 1 + _ROW)
    return _checked(name, rows[:, 1:], rows[:, 0])


def _pickled(name: str, raw: bytes) -> Labelled:
    try:
        batch = _Arrays(io.BytesIO(raw), encoding="bytes").load()
        data, labels = batch[b"data"], np.asarray(batch[b"labels"])
    except (pickle.UnpicklingError, EOFError, KeyError, TypeError, ValueError) as error:
        raise BadInput(
            f"`data_dir`: {name} is no batch of CIFAR-10, or a damaged one: {error!r}."
        ) from error
    return _checked(name, data, labels)


class _Arrays(pickle.Unpickler):
    """Reads arrays and nothing else: a pickle could otherwise run any code."""

    def find_class(self, module_name: str, global_name: str) -> Any:
        known = {
            "_reconstruct": np._core.multiarray._reconstruct,  # pyright: ignore
            "ndarray": np.ndarray,
            "dtype": np.dtype,
        }
        if module_name.split(".")[0] == "numpy" and global_name in known:
            return known[global_name]
        if (module_name, global_name) == ("_codecs", "encode"):
            return lambda text, _: text.encode("latin1")
        raise pickle.UnpicklingError(f"it asks for {module_name}.{global_name}")


def _checked(name: str, data: Any, labels: np.ndarray) -> Labelled:
    is_sound = isinstance(data, np.ndarray) and data.dtype == np.uint8
    if not is_sound or data.shape != (len(labels), _ROW) or labels.max() > 9:
        raise BadInput(
            f"`data_dir`: {name} is not a batch of CIFAR-10: expected n × {_ROW:,} "
            "bytes and n labels up to 9."
        )
    return Labelled(data.reshape(-1, 3, 32, 32), labels.astype(np.uint8))
