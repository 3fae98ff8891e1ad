"""Fashion-MNIST, from its IDX files: those of Debian's package, or of a folder.

Reference: Xiao, Rasul & Vollgraf (2017), arXiv:1708.07747.  The SHA-256 are those of
the unpacked files: Debian packs them with other headers than the publisher.
"""

import functools
import pathlib

import numpy as np
from jaxtyping import UInt8

from simbias.datasets.vision._files import check, contents, first_of, folder_of
from simbias.datasets.vision._idx import both_parts, read_idx
from simbias.datasets.vision._labelled import Labelled
from simbias.errors import MissingFiles

# Where the package puts the files.
PACKAGED = pathlib.Path("/usr/share/datasets/fashion-mnist")
_URL = "https://github.com/zalandoresearch/fashion-mnist"
_DIGESTS = {
    "train-images-idx3-ubyte": (
        "c59f468a2f672dc815687fe0f83887768d799fd8a3f3276145d20f83aa44d888"
    ),
    "train-labels-idx1-ubyte": (
        "bad3541b69d912435c50bb6ba87bec294ff4f6a2e1246121d8633921760443d9"
    ),
    "t10k-images-idx3-ubyte": (
        "5b4141f0afbad91edebe8549f8fcffe087ea10ca49f1dbef5c9a5cd8815ce37b"
    ),
    "t10k-labels-idx1-ubyte": (
        "0402a96d92fd2663957122ceb108a494c5af83dab82d92729df917d7dec38c34"
    ),
}


@functools.lru_cache(maxsize=2)
def fashion(data_dir: str = "", verify: bool = True) -> tuple[Labelled, Labelled]:
    """Training and test set, "n 1 28 28" bytes with labels 0 to 9.

    Args:
        data_dir: folder with the four files, packed by gzip or not, or with
            torchvision's `FashionMNIST/raw` in it; the folder of Debian's package if
            not given.
        verify: compare with the SHA-256 of the unpacked files.

    Raises:
        ValueError: for a file that is missing, another one, damaged or cut off, or if
            neither the package nor a folder is there.
    """
    if not data_dir and not PACKAGED.is_dir():
        raise MissingFiles(
            '`source="fashion"` needs the files of Fashion-MNIST, which are not in '
            f"{PACKAGED}. On Debian and Ubuntu: apt install dataset-fashion-mnist. "
            f"Elsewhere get the four files from {_URL} and name their folder with "
            "data_dir (--cell.data-dir)."
        )
    folder = folder_of(data_dir or str(PACKAGED))
    return both_parts("Fashion-MNIST", lambda name: _read(folder, name, verify))


def _read(folder: pathlib.Path, name: str, verify: bool) -> UInt8[np.ndarray, "..."]:
    places = [
        f"{at}{name}{end}" for at in ("FashionMNIST/raw/", "") for end in ("", ".gz")
    ]
    path = first_of(folder, places, "Fashion-MNIST", _URL)
    raw = contents(path, None)
    check(f"{path}, unpacked,", raw, _DIGESTS[name] if verify else None)
    return read_idx(str(path), raw)
