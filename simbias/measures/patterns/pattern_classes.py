"""How many groups of neurons obey one linear system each."""

from typing import Any

import equinox as eqx
import jax.numpy as jnp
from jaxtyping import Array, Int

from simbias.core import AbstractMeasure, Dataset
from simbias.measures._neurons import single_output
from simbias.measures._patterns import distinct_columns, sides
from simbias.validation.values import not_negative


class PatternClasses(AbstractMeasure):
    """Number of distinct (activation pattern, hyperplanes slid on, sign of aⱼ).

    Under the exact flow all neurons of a class obey the same linear system until one of
    them meets a hyperplane, so the class count is the width the dynamics need.  A
    neuron counts as sliding on sample i if |wⱼ·xᵢ| ≤ tolerance ‖wⱼ‖‖xᵢ‖.  One output
    only.
    """

    tolerance: float = eqx.field(static=True, default=1e-9)

    def __check_init__(self):
        not_negative("tolerance", self.tolerance)

    def __call__(self, network: Any, data: Dataset) -> Int[Array, ""]:
        """Number of classes, from 1 to m."""
        signs = jnp.sign(single_output(network)).astype(jnp.int32)
        codes = sides(network, data, self.tolerance)
        return distinct_columns(jnp.concatenate([codes, signs[None, :]]))
