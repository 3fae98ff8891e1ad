"""How a Boolean function depends on the bits of a string."""

from typing import Any, ClassVar

import equinox as eqx
import jax
import jax.numpy as jnp
from jaxtyping import Array, Bool, Float

from simbias.core import AbstractMeasure, Dataset
from simbias.errors import BadInput
from simbias.introspection.outputs import outputs
from simbias.numerics import boolean_sensitivity
from simbias.numerics.walsh_hadamard import cube
from simbias.validation.values import positive_integer

# Above this a sample of strings stands for all of them, as in the published code.
MOST_BITS = 12


class Sensitivity(AbstractMeasure):
    """Sensitivity of a Boolean function: share of bits whose flip changes the answer.

    S(f) = E_x #{i : f(x) ≠ f(x with bit i flipped)}/n, f the sign of the output.

    x is uniform on {−1, +1}ⁿ, whatever the sample; f = 0 counts as +1, as in
    sigmoid(f) ≥ ½.  All 2ⁿ strings are evaluated once for n ≤ 12.  With `samples` it is
    the mean over so many strings, the same for every member and time: (n + 1) · samples
    evaluations and a standard error of at most ½/√samples.

    Args:
        samples: strings that are drawn; None enumerates all, up to n = 12.
        seed: of the draw.

    Reference: Bhattamishra, Patel, Kanade & Blunsom (2023), arXiv:2211.12316.
    """

    samples: int | None = eqx.field(static=True, default=None)
    seed: int = eqx.field(static=True, default=0)

    def __check_init__(self):
        if self.samples is not None:
            positive_integer("samples", self.samples)

    def __call__(self, network: Any, data: Dataset) -> Float[Array, ""]:
        """Sensitivity, from 0 to 1; a network of one output.

        Raises:
            ValueError: for several outputs, or for more than 12 bits without `samples`.
        """
        if self.samples is None:
            seen = is_one(network, all_strings(data))
            return boolean_sensitivity.sensitivity(seen)
        n = data.x.shape[1]
        draw = jax.random.bernoulli(jax.random.key(self.seed), 0.5, (self.samples, n))
        x = (1 - 2 * draw.astype(jnp.int8)).astype(data.x.dtype)
        flips = 1 - 2 * jnp.eye(n, dtype=x.dtype)
        flipped = (x[:, None, :] * flips[None, :, :]).reshape(-1, n)
        others = is_one(network, flipped).reshape(-1, n)
        return boolean_sensitivity.sampled_sensitivity(is_one(network, x), others)


class DegreeWeights(AbstractMeasure):
    """Weight of each degree in the Fourier expansion of a Boolean function.

    W_k = Σ_{|S|=k} f̂(S)², k = 0, …, n, of f = ±1, the sign of the output.

    They sum to 1, and Σ_k (k/n) W_k is the sensitivity.  n ≤ 12 bits.

    Reference: O'Donnell (2014), Analysis of Boolean functions, sections 1.4 and 2.3.
    """

    dims: ClassVar[tuple[str, ...]] = ("degree",)

    def __call__(self, network: Any, data: Dataset) -> Float[Array, " degree"]:
        """Weights of all degrees; a network of one output.

        Raises:
            ValueError: for several outputs, or for more than 12 bits.
        """
        seen = is_one(network, all_strings(data))
        values = jnp.where(seen, 1, -1).astype(data.x.dtype)
        return boolean_sensitivity.degree_weights(values)


def is_one(network: Any, x: Float[Array, "s n"]) -> Bool[Array, " s"]:
    """Whether sigmoid(f) ≥ ½, that is f ≥ 0, of every row.

    Raises:
        ValueError: for a network of several outputs.
    """
    f = outputs(network, x)
    if f.shape[1] != 1:
        raise BadInput(
            "this measure needs one output, whose sign is the class, got "
            f"{f.shape[1]} of them."
        )
    return f[:, 0] >= 0


def all_strings(data: Dataset) -> Float[Array, "p n"]:
    """{−1, +1}ⁿ, n the bits of an input.

    Raises:
        ValueError: for more than 12 bits.
    """
    n = data.x.shape[1]
    if n > MOST_BITS:
        raise BadInput(
            f"all 2ⁿ strings are enumerated up to n = {MOST_BITS}, got inputs of {n} "
            "bits. Example: Sensitivity(samples=1000)."
        )
    return jnp.asarray(cube(n), data.x.dtype)
