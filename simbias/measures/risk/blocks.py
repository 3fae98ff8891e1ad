"""What a classifier takes from two blocks of its inputs."""

from typing import Any, ClassVar, Literal, get_args

import equinox as eqx
import jax.numpy as jnp
import numpy as np
from jaxtyping import Array, Float, Int

from simbias.core import AbstractMeasure, Dataset
from simbias.introspection.outputs import classes, outputs, second_sample
from simbias.measures._randomised import RANDOMISED
from simbias.network import required
from simbias.numerics.softmax_regression import softmax_regression
from simbias.validation.sample import one_of
from simbias.validation.values import positive

Block = Literal["simple", "complex"]
# Rows of `features` that are the indicators of the blocks.
_ROWS: dict[Block, int] = {"simple": 0, "complex": -1}


class BlockAccuracy(AbstractMeasure):
    """Share of the test sample that is classified as its y, with a block randomised.

    "nothing" is the test accuracy; "simple" and "complex" exchange that block between
    the rows and keep y.  A network that looks at one block only keeps its accuracy when
    the other is exchanged, and falls to chance when its own is.  Blocks are told by the
    first and the last row of `features`, the indicators of their coordinates.

    Reference: Shah et al. (2020), arXiv:2006.07710, section 4, the S-randomised
    metric, as an accuracy.
    """

    dims: ClassVar[tuple[str, ...]] = ("randomised",)
    entries: ClassVar = {"randomised": RANDOMISED}
    test_targets: ClassVar[str] = "classes"

    def __call__(self, network: Any, data: Dataset) -> Float[Array, "3"]:
        """Accuracies in [0, 1]; any network, classes by `argmax` or by sign."""
        test = second_sample(data)
        inputs = [test.x, exchanged(test, "simple")[0], exchanged(test, "complex")[0]]
        found = classes(outputs(network, jnp.concatenate(inputs))).reshape(3, -1)
        true = classes(test.y)
        return jnp.stack([accuracy(row, true, test.weight) for row in found])


class LastLayerProbe(AbstractMeasure):
    """Logistic regression on the last layer, out of distribution: accuracy and scale.

    The simple block of the test sample is exchanged between the rows (as in
    `BlockAccuracy`), so that it says nothing about the class of the complex one.  Of
    the features there, in units of the root mean square of their norm, a multinomial
    regression is fitted to three rows in four; "accuracy" is that on the fourth, and
    "scale" the root mean square of the coefficients: how much the features must be
    amplified.  In double precision where the machine has it on.

    Args:
        target: the block whose class is looked for; "simple" is the paper's reversed
            labels (that block's class is then its own row's y).
        penalty: C of the regression, ½‖W‖² + C Σ ℓ.

    Reference: Tsoy & Konstantinov (2024), arXiv:2405.17299, figures 3 and 8–10: C is
    1000, or no penalty.
    """

    target: Block = eqx.field(static=True, default="complex")
    penalty: float = eqx.field(static=True, default=1e3)
    dims: ClassVar[tuple[str, ...]] = ("probe",)
    entries: ClassVar = {"probe": ("accuracy", "scale")}
    test_targets: ClassVar[str] = "classes"

    def __check_init__(self):
        one_of("target", self.target, get_args(Block))
        positive("penalty", self.penalty)

    def __call__(self, network: Any, data: Dataset) -> Float[Array, "2"]:
        """Accuracy and scale.

        Raises:
            ValueError: if the data have no test sample, or the network no `features`.
        """
        test = second_sample(data)
        inputs, order = exchanged(test, "simple")
        label = classes(test.y)
        label = label[order] if self.target == "simple" else label
        features = outputs(
            required(network, "features", "LastLayerProbe"), inputs
        ).astype(jnp.result_type(float))
        weight = test.weight.astype(features.dtype)
        is_fitted = jnp.arange(inputs.shape[0]) % 4 != 3
        fitted, scored = (
            jnp.where(is_fitted, weight, 0),
            jnp.where(is_fitted, 0, weight),
        )
        square = jnp.sum(fitted[:, None] * features**2) / jnp.sum(fitted)
        # Features that are all 0 stay 0.
        features = features / jnp.sqrt(jnp.where(square > 0, square, 1))
        count = class_count(test.y)
        w, b = softmax_regression(features, label, fitted, count, self.penalty)
        found = jnp.argmax(features @ w.T + b[None, :], axis=1).astype(jnp.int32)
        share = accuracy(found, label, scored)
        scale = jnp.sqrt(jnp.mean(w**2))
        return jnp.stack([share, scale]).astype(data.x.dtype)


def class_count(y: Float[Array, "n k"]) -> int:
    """Number of classes."""
    return max(y.shape[1], 2)


def exchanged(
    data: Dataset, block: Block
) -> tuple[Float[Array, "n d"], Int[Array, " n"]]:
    """Inputs with one block taken from other rows, and which row each took it from.

    The block are the coordinates where its indicator among `features` is not 0: the
    first is the simple block, the last the complex one.  The permutation is fixed, so
    that it is the same at every time.  Inputs are NaN if the block is not known.
    """
    n = data.x.shape[0]
    order = jnp.asarray(np.random.default_rng(n).permutation(n), jnp.int32)
    indicator = data.features[_ROWS[block]]
    mixed = jnp.where((indicator != 0)[None, :], data.x[order], data.x)
    return jnp.where(jnp.all(jnp.isfinite(indicator)), mixed, jnp.nan), order


def accuracy(
    found: Int[Array, " n"], true: Int[Array, " n"], weight: Float[Array, " n"]
) -> Float[Array, ""]:
    """Weighted share of the rows on which both agree."""
    return jnp.sum(jnp.where(found == true, weight, 0)) / jnp.sum(weight)
