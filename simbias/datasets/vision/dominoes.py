"""Images of two blocks: a simple one above, a complex one below."""

from typing import Literal

import jax
import jax.numpy as jnp
import numpy as np
from jaxtyping import Array, Float, Int, PRNGKeyArray, UInt8

from simbias.core import Dataset, Real
from simbias.datasets.vision._halves import Half, digits_and_textures, stored_pair
from simbias.datasets.vision._textures import SIDE
from simbias.errors import BadInput
from simbias.validation.sample import one_of
from simbias.validation.values import at_most_one, not_negative, positive_integer

Source = Literal["digits", "mnist_cifar10", "mnist5k_fashion"]
# Channels, height and width of a domino.
IMAGES: dict[str, tuple[int, int, int]] = {
    "digits": (1, 2 * SIDE, SIDE),
    "mnist_cifar10": (3, 64, 32),
    "mnist5k_fashion": (1, 56, 28),
}
_CLASSES = 10


def dominoes(
    key: PRNGKeyArray,
    *,
    n: int = 1000,
    n_test: int = 1000,
    classes: int = 10,
    correlation: Real = 1.0,
    source: Source = "digits",
    noise: Real = 1.5,
    data_dir: str = "",
    verify: bool = True,
) -> Dataset:
    """A digit above a texture or a photograph; y is the class of the lower block.

    The upper block has the same class with probability ρ, the correlation, and any
    other with equal odds.  At ρ = 1/classes the blocks are independent.

    `source` "digits" needs no files: scikit-learn's 8 × 8 digits above noisy gratings
    whose orientation and wavelength are the class (`_textures`), 1 × 16 × 8 pixels.
    "mnist_cifar10" reads the published files in `data_dir`: MNIST with a border of two
    pixels, grey in three channels, above CIFAR-10, 3 × 64 × 32 pixels.
    "mnist5k_fashion" has images that packages bring (see `images`): 5000 digits of
    MNIST above Fashion-MNIST, 1 × 56 × 28 pixels.  Each block is centred and scaled by
    the usual constants.  Digits of the test sample come from other images than those of
    the training sample; within one they are drawn with replacement, the photographs
    without.  Nothing is downloaded.

    Without the files the sizes are known, so that a run can be planned, and drawing a
    sample fails.  Files are read and checked once per process and come to the program
    by a callback, so no compiled program holds them.

    Args:
        key: random key.
        n: samples.
        n_test: samples of the test sample, of the same law.
        classes: the first so many, from 2 to 10.
        correlation: ρ in [0, 1].
        source: of the blocks.
        noise: σ of the textures, relative to the grating; of "digits" only.
        data_dir: folder with the files of MNIST (`train-images-idx3-ubyte`, …, packed
            by gzip or not, or in `MNIST/raw`) and of CIFAR-10 (`cifar-10-batches-bin`,
            `cifar-10-batches-py`, or one of the archives), or of Fashion-MNIST, if
            Debian's package is not installed.
        verify: compare their digests with the published ones; False takes files of
            your own in the same formats.

    Returns:
        The sample, y one-hot, without noise; `features` are the indicators (0 and 1) of
        the pixels of the upper and of the lower block.

    Raises:
        ValueError: for a size or number out of range, a file that is missing, damaged
            or another one, or a package that is missing.

    Reference: Shah et al. (2020), arXiv:2006.07710, section 3 (MNIST–CIFAR); as in
    Tsoy & Konstantinov (2024), arXiv:2405.17299, appendix on dominoes.
    """
    for name, value in (("n", n), ("n_test", n_test), ("classes", classes)):
        positive_integer(name, value)
    if not 2 <= classes <= _CLASSES:
        raise BadInput(f"`classes` must be from 2 to 10, got {classes}.")
    at_most_one("correlation", correlation)
    not_negative("noise", noise)
    one_of("source", source, tuple(IMAGES))
    if source == "digits" and data_dir:
        raise BadInput(
            '`data_dir` is not read for source="digits", got '
            f"{data_dir!r}. Leave it out, or choose another source."
        )
    if source == "digits":
        halves = digits_and_textures(classes, noise)
    else:
        halves = stored_pair(source, IMAGES[source], classes, data_dir, verify)
    parts = []
    for name, size, half, key_part in zip(
        ("n", "n_test"), (n, n_test), halves, jax.random.split(key), strict=True
    ):
        if half.available is not None and size > half.available:
            raise BadInput(
                f"`{name}` must be at most {half.available:,}, the photographs there "
                f"are of {classes} classes, got {size:,}."
            )
        parts.append(_part(key_part, size, classes, correlation, half))
    (x, y), (x_test, y_test) = parts
    features = _indicators(IMAGES[source])
    test = Dataset(x_test, y_test, jnp.ones(n_test), y_test, features)
    return Dataset(x, y, jnp.ones(n), y, features, test)


def _part(
    key: PRNGKeyArray, n: int, classes: int, correlation: Real, half: Half
) -> tuple[Float[Array, "n d"], Float[Array, "n k"]]:
    key_lower, key_digit = jax.random.split(key)
    lower, label = half.lower(key_lower, n)
    # Three draws for the price of one compiled program.
    draws = jax.random.uniform(key_digit, (3, n), jnp.float64)
    shift = 1 + _below(classes - 1, draws[1])
    above = jnp.where(draws[0] < correlation, label, (label + shift) % classes)
    image, kinds = half.digits()
    upper = half.scaled(image[_one_each(draws[2], above, kinds, classes)])
    x = jnp.concatenate([upper, lower], axis=2).reshape(n, -1)
    return x, jax.nn.one_hot(label, classes, dtype=jnp.float64)


def _one_each(
    draw: Float[Array, " n"],
    wanted: Int[Array, " n"],
    label: UInt8[Array, " i"],
    classes: int,
) -> Int[Array, " n"]:
    """For each wanted class a random place where `label`, which is sorted, has it."""
    kinds = jnp.arange(classes, dtype=label.dtype)
    first = jnp.searchsorted(label, kinds)
    count = jnp.searchsorted(label, kinds, side="right") - first
    return first[wanted] + _below(count[wanted], draw)


def _below(count: int | Int[Array, " n"], draw: Float[Array, " n"]) -> Int[Array, " n"]:
    """An integer from 0 to count − 1, by a draw from [0, 1)."""
    return jnp.floor(draw * jnp.asarray(count, draw.dtype)).astype(jnp.int32)


def _indicators(image: tuple[int, int, int]) -> Float[Array, "2 d"]:
    upper = np.zeros(image)
    upper[:, : image[1] // 2] = 1
    return jnp.asarray(np.stack([upper, 1 - upper]).reshape(2, -1))
