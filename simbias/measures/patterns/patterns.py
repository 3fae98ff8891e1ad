"""Activation patterns of the neurons on the sample."""

from typing import Any

import equinox as eqx
import jax.numpy as jnp
from jaxtyping import Array, Float, Int

from simbias.core import AbstractMeasure, Dataset
from simbias.measures._neurons import is_active, single_output
from simbias.measures._patterns import distinct_columns, sides
from simbias.validation.values import not_negative


class ActivationPatterns(AbstractMeasure):
    """Number of distinct sets {i : wⱼ·xᵢ + bⱼ > 0} among the neurons.

    The empty set of dead neurons counts as one.

    Limit: a neuron that rests ON a hyperplane is counted by the sign of its rounding;
    `PatternClasses` counts it as resting there.
    """

    def __call__(self, network: Any, data: Dataset) -> Int[Array, ""]:
        """Number of patterns, from 1 to m."""
        return distinct_columns(is_active(network, data).astype(jnp.int32))


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


class SlidingFraction(AbstractMeasure):
    """Share of the neurons with |wⱼ·xᵢ| ≤ tolerance ‖wⱼ‖‖xᵢ‖ for some sample i.

    The exact flow keeps a sliding neuron on its hyperplane to rounding, so the default
    tolerance separates it from one that is passing by.  Under gradient descent the
    same neuron chatters across the hyperplane at a distance of the order of the rate:
    choose the tolerance accordingly.  In float32 take 1e-5.
    """

    tolerance: float = eqx.field(static=True, default=1e-9)

    def __check_init__(self):
        not_negative("tolerance", self.tolerance)

    def __call__(self, network: Any, data: Dataset) -> Float[Array, ""]:
        """Share in [0, 1]; a neuron of zeros counts as sliding."""
        is_held = sides(network, data, self.tolerance) == 0
        is_held &= (data.weight > 0)[:, None]
        return jnp.mean(jnp.any(is_held, axis=0).astype(network.w.dtype))
