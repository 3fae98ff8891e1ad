"""The blocks of dominoes: what one sample is drawn from."""

from collections.abc import Callable
from typing import NamedTuple

import jax
import jax.numpy as jnp
import numpy as np
from jaxtyping import Array, Float, PRNGKeyArray, UInt8

from simbias.core import Real
from simbias.datasets.vision._cifar import cifar10
from simbias.datasets.vision._digits import digits
from simbias.datasets.vision._labelled import Labelled
from simbias.datasets.vision._mnist import mnist
from simbias.datasets.vision._textures import textures
from simbias.errors import BadInput
from simbias.validation.files import check_files_due, missing_files

# Images of the published training and test sets; CIFAR-10 has as many of each class.
_FROM_FILES = '"mnist_cifar10"'
_PUBLISHED = {"mnist": (60_000, 10_000), "cifar10": (50_000, 10_000)}


class Half(NamedTuple):
    """Training or test: the digits, sorted by class, and a law of lower blocks.

    `available` is the number of different lower blocks, None without a bound.
    """

    digits: Callable[[], tuple[UInt8[Array, "i c y x"], UInt8[Array, " i"]]]
    scaled: Callable[[Array], Array]
    lower: Callable[[PRNGKeyArray, int], tuple[Array, Array]]
    available: int | None


def digits_and_textures(classes: int, noise: Real) -> tuple[Half, Half]:
    """Digits of scikit-learn, in units of their own deviation, and gratings."""
    train, test = digits()
    mean, deviation = float(train.image.mean()), float(train.image.std())

    def scaled(image):
        return (image.astype(jnp.float64) - mean) / deviation

    def lower(key, n):
        key_label, key_image = jax.random.split(key)
        label = jax.random.randint(key_label, (n,), 0, classes, jnp.int32)
        return textures(key_image, label, noise), label

    def half(part):
        image, label = _by_class(part)
        stored = lambda: (jnp.asarray(image), jnp.asarray(label))
        return Half(stored, scaled, lower, None)

    return half(train), half(test)


def mnist_and_cifar10(classes: int, data_dir: str, verify: bool) -> tuple[Half, Half]:
    """The published images, read now and handed to the program by a callback.

    Raises:
        ValueError: if they cannot be read, or a class has none.
    """
    above = [_by_class(part) for part in mnist(data_dir, verify)]
    below = cifar10(data_dir, verify)
    for part in (*above, *below):
        missing = np.setdiff1d(np.arange(classes), part.label)
        if missing.size:
            raise BadInput(
                f"`data_dir`: the files in {data_dir} have no image of class "
                f"{missing[0]}; take fewer `classes`."
            )
    below = [
        Labelled(part.image[part.label < classes], part.label[part.label < classes])
        for part in below
    ]
    halves = [
        _published(lambda a=a: a, a.image.shape, lambda b=b: b, b.image.shape)
        for a, b in zip(above, below, strict=True)
    ]
    return halves[0], halves[1]


def _by_class(part: Labelled) -> Labelled:
    order = np.argsort(part.label, kind="stable")
    return Labelled(part.image[order], part.label[order])


def planned(classes: int) -> tuple[Half, Half]:
    """The sizes of the published images; drawing from these fails."""
    check_files_due(_FROM_FILES)
    halves = []
    for above, below in zip(_PUBLISHED["mnist"], _PUBLISHED["cifar10"], strict=True):
        photographs = below * classes // 10
        halves.append(
            _published(_missing, (above, 1, 28, 28), _missing, (photographs, 3, 32, 32))
        )
    return halves[0], halves[1]


def _missing() -> Labelled:
    missing_files(_FROM_FILES)


def _published(
    above: Callable[[], Labelled],
    above_shape: tuple[int, ...],
    below: Callable[[], Labelled],
    below_shape: tuple[int, ...],
) -> Half:
    def lower(key, n):
        image, label = _called(below, below_shape)
        rows = jax.random.permutation(key, label.shape[0])[:n]
        return _photograph_scaled(image[rows]), label[rows].astype(jnp.int32)

    return Half(
        lambda: _called(above, above_shape), _digit_scaled, lower, below_shape[0]
    )


def _called(
    load: Callable[[], Labelled], shape: tuple[int, ...]
) -> tuple[UInt8[Array, "i c y x"], UInt8[Array, " i"]]:
    """What `load` returns when the program runs, not when it is traced."""
    kinds = jax.ShapeDtypeStruct(shape, jnp.uint8)
    labels = jax.ShapeDtypeStruct(shape[:1], jnp.uint8)
    return jax.pure_callback(lambda: tuple(load()), (kinds, labels))


def _digit_scaled(image: UInt8[Array, "n 1 y x"]) -> Float[Array, "n 3 h w"]:
    border = [(0, 0), (0, 0), (2, 2), (2, 2)]
    grey = (jnp.pad(image, border).astype(jnp.float64) / 255 - 0.1307) / 0.3081
    return jnp.repeat(grey, 3, axis=1)


def _photograph_scaled(image: UInt8[Array, "n 3 y x"]) -> Float[Array, "n 3 y x"]:
    wide = lambda v: jnp.asarray(v, jnp.float64)[None, :, None, None]
    values = image.astype(jnp.float64) / 255
    return (values - wide((0.491, 0.482, 0.446))) / wide((0.202, 0.199, 0.201))
