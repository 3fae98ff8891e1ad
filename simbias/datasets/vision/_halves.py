"""The blocks of dominoes: what one sample is drawn from."""

from collections.abc import Callable
from typing import NamedTuple

import jax
import jax.numpy as jnp
import numpy as np
from jaxtyping import Array, PRNGKeyArray, UInt8

from simbias.core import Real
from simbias.datasets.vision._digits import digits
from simbias.datasets.vision._labelled import Labelled
from simbias.datasets.vision._stored import STORED, Part, parts, standardised
from simbias.datasets.vision._textures import textures
from simbias.errors import BadInput, MissingFiles

# Sources of the upper and of the lower block; the lower ones have as many images of
# each class.
PAIRS = {
    "mnist_cifar10": ("mnist", "cifar10"),
    "mnist5k_fashion": ("mnist5k", "fashion"),
}


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


def stored_pair(
    source: str,
    image: tuple[int, int, int],
    classes: int,
    data_dir: str,
    verify: bool,
) -> tuple[Half, Half]:
    """Images of two sources, read now and handed to the program by a callback.

    `image` are channels, height and width of a domino; upper blocks that are smaller
    get a border.  Without the files the sizes are known, and drawing fails.

    Raises:
        ValueError: if they cannot be read, or a class has none.
    """
    upper, lower = PAIRS[source]
    above = [_sorted(p, classes) for p in parts(upper, data_dir, verify)]
    below = [_restricted(p, classes) for p in parts(lower, data_dir, verify)]
    channels, _, width = image
    border = (width - STORED[upper].shape[2]) // 2
    space = [(0, 0), (0, 0), (border, border), (border, border)]

    def scaled(image):
        return jnp.repeat(standardised(jnp.pad(image, space), upper), channels, axis=1)

    def half(digits: Part, photographs: Part) -> Half:
        def below(key, n):
            image, label = photographs.called(STORED[lower].shape)
            rows = jax.random.permutation(key, photographs.size)[:n]
            return standardised(image[rows], lower), label[rows].astype(jnp.int32)

        stored = lambda: digits.called(STORED[upper].shape)
        return Half(stored, scaled, below, photographs.size)

    train, test = (half(*pair) for pair in zip(above, below, strict=True))
    return train, test


def _by_class(part: Labelled) -> Labelled:
    order = np.argsort(part.label, kind="stable")
    return Labelled(part.image[order], part.label[order])


def _sorted(part: Part, classes: int) -> Part:
    """All images, sorted by class."""
    if isinstance(part.content, MissingFiles):
        return part
    _check_classes(part.content, classes)
    return Part(_by_class(part.content), part.size)


def _restricted(part: Part, classes: int) -> Part:
    """Images of the first classes."""
    if isinstance(part.content, MissingFiles):
        return Part(part.content, part.size * classes // 10)
    _check_classes(part.content, classes)
    is_kept = part.content.label < classes
    kept = Labelled(part.content.image[is_kept], part.content.label[is_kept])
    return Part(kept, len(kept.label))


def _check_classes(found: Labelled, classes: int) -> None:
    missing = np.setdiff1d(np.arange(classes), found.label)
    if missing.size:
        raise BadInput(
            f"`data_dir`: the files have no image of class {missing[0]}; take fewer "
            "`classes`."
        )
