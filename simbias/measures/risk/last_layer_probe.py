"""What a linear classifier finds in the last layer once the blocks are independent."""

from typing import Any, ClassVar, get_args

import equinox as eqx
import jax.numpy as jnp
from jaxtyping import Array, Float

from simbias.core import AbstractMeasure, Dataset
from simbias.introspection.outputs import classes, outputs, second_sample
from simbias.measures.risk._classes import (
    Block,
    accuracy,
    class_count,
    exchanged,
)
from simbias.network import required
from simbias.numerics.softmax_regression import softmax_regression
from simbias.validation.sample import one_of
from simbias.validation.values import positive


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
