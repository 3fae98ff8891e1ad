"""MNIST, from its IDX files.

Reference: LeCun, Cortes & Burges, The MNIST database of handwritten digits.  The
SHA-256 are those of the files in circulation since 1998.
"""

import functools
import pathlib

import numpy as np
from jaxtyping import UInt8

from simbias.datasets.vision._files import contents, first_of, folder_of
from simbias.datasets.vision._idx import both_parts, read_idx
from simbias.datasets.vision._labelled import Labelled

_URL = "https://ossci-datasets.s3.amazonaws.com/mnist/"
# Name -> SHA-256 of the file as it is, and of the gzip file it is published as.
_DIGESTS = {
    "train-images-idx3-ubyte": (
        "ba891046e6505d7aadcbbe25680a0738ad16aec93bde7f9b65e87a2fc25776db",
        "440fcabf73cc546fa21475e81ea370265605f56be210a4024d2ca8f203523609",
    ),
    "train-labels-idx1-ubyte": (
        "65a50cbbf4e906d70832878ad85ccda5333a97f0f4c3dd2ef09a8a9eef7101c5",
        "3552534a0a558bbed6aed32b30c495cca23d567ec52cac8be1a0730e8010255c",
    ),
    "t10k-images-idx3-ubyte": (
        "0fa7898d509279e482958e8ce81c8e77db3f2f8254e26661ceb7762c4d494ce7",
        "8d422c7b0a1c1c79245a5bcf07fe86e33eeafee792b84584aec276f5a2dbc4e6",
    ),
    "t10k-labels-idx1-ubyte": (
        "ff7bcfd416de33731a308c3f266cc351222c34898ecbeaf847f06e48f7ec33f2",
        "f7ae60f92e00ec6debd23a6088c31dbd2371eca3ffa0defaefb259924204aec6",
    ),
}


@functools.lru_cache(maxsize=2)
def mnist(data_dir: str, verify: bool = True) -> tuple[Labelled, Labelled]:
    """Training and test set, "n 1 28 28" bytes with labels 0 to 9.

    Args:
        data_dir: folder with the four files, packed or not, or with torchvision's
            `MNIST/raw` in it.
        verify: compare with the published SHA-256.

    Raises:
        ValueError: for a file that is missing, another one, damaged or cut off.
    """
    folder = folder_of(data_dir)
    return both_parts("MNIST", lambda name: _read(folder, name, verify))


def _read(folder: pathlib.Path, name: str, verify: bool) -> UInt8[np.ndarray, "..."]:
    places = [f"{at}{name}{end}" for at in ("", "MNIST/raw/") for end in ("", ".gz")]
    path = first_of(folder, places, "MNIST", _URL)
    digest = _DIGESTS[name][path.suffix == ".gz"]
    return read_idx(str(path), contents(path, digest if verify else None))
