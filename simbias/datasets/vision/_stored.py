"""Images that are stored in files: how each source is read, its sizes and its scale."""

from collections.abc import Callable
from typing import NamedTuple

import jax
import jax.numpy as jnp
from jaxtyping import Array, Float, UInt8

from simbias.datasets.vision._cifar import cifar10
from simbias.datasets.vision._digits import digits
from simbias.datasets.vision._fashion import fashion
from simbias.datasets.vision._labelled import Labelled
from simbias.datasets.vision._mnist import mnist
from simbias.datasets.vision._mnist5k import mnist5k
from simbias.errors import MissingFiles
from simbias.validation.files import are_files_due

_Read = Callable[[str, bool], tuple[Labelled, Labelled]]


class Stored(NamedTuple):
    """What is known of a source before its files are read.

    `sizes` counts the images of the training and of the test set.  `white` is the
    largest byte.  `mean` and `deviation` are the usual ones of each channel, of pixels
    in [0, 1].
    """

    read: _Read
    shape: tuple[int, int, int]
    sizes: tuple[int, int]
    mean: tuple[float, ...]
    deviation: tuple[float, ...]
    white: float = 255.0


class Part(NamedTuple):
    """Training or test set: what it holds, or why it can only be planned."""

    content: Labelled | MissingFiles
    size: int

    def load(self) -> Labelled:
        """The images and their classes.

        Raises:
            ValueError: if they are missing, with how to get them.
        """
        if isinstance(self.content, MissingFiles):
            raise MissingFiles(*self.content.args)
        return self.content

    def called(
        self, shape: tuple[int, int, int]
    ) -> tuple[UInt8[Array, "i c y x"], UInt8[Array, " i"]]:
        """What `load` returns when the program runs, so that no program holds it."""
        kinds = (
            jax.ShapeDtypeStruct((self.size, *shape), jnp.uint8),
            jax.ShapeDtypeStruct((self.size,), jnp.uint8),
        )
        return jax.pure_callback(lambda: tuple(self.load()), kinds)


def parts(source: str, data_dir: str, verify: bool) -> tuple[Part, Part]:
    """Training and test set, read now; without the files their sizes, to plan a run.

    Raises:
        ValueError: for a file that is damaged or another one, and for files that are
            missing where a run is to be made.
    """
    known = STORED[source]
    try:
        train, test = known.read(data_dir, verify)
    except MissingFiles as error:
        if are_files_due():
            raise
        return Part(error, known.sizes[0]), Part(error, known.sizes[1])
    return Part(train, len(train.label)), Part(test, len(test.label))


def standardised(
    image: UInt8[Array, "n c y x"], source: str
) -> Float[Array, "n c y x"]:
    """Pixels in [0, 1], each channel centred and scaled by the usual constants."""
    known = STORED[source]
    mean, deviation = (
        jnp.asarray(v, jnp.float64)[None, :, None, None]
        for v in (known.mean, known.deviation)
    )
    return (image.astype(jnp.float64) / known.white - mean) / deviation


def _of_folder(name: str, read: _Read) -> _Read:
    """A source whose files are in a folder that the user names."""

    def named(data_dir: str, verify: bool) -> tuple[Labelled, Labelled]:
        if not data_dir:
            raise MissingFiles(
                f"`data_dir` is required for {name}: the folder of the published "
                'files. Example: data_dir="/data" or --cell.data-dir /data.'
            )
        return read(data_dir, verify)

    return named


STORED = {
    "digits": Stored(
        lambda _, __: digits(), (1, 8, 8), (1200, 597), (0.3053,), (0.3760,), 16.0
    ),
    "mnist": Stored(
        _of_folder("MNIST", mnist), (1, 28, 28), (60_000, 10_000), (0.1307,), (0.3081,)
    ),
    "cifar10": Stored(
        _of_folder("CIFAR-10", cifar10),
        (3, 32, 32),
        (50_000, 10_000),
        (0.491, 0.482, 0.446),
        (0.202, 0.199, 0.201),
    ),
    "fashion": Stored(fashion, (1, 28, 28), (60_000, 10_000), (0.2860,), (0.3530,)),
    "mnist5k": Stored(
        lambda _, verify: mnist5k(verify),
        (1, 28, 28),
        (4000, 1000),
        (0.1307,),
        (0.3081,),
    ),
}
