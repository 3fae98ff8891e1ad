"""A matrix that is a product of layers, as a function of the place of an entry."""

import functools
from typing import ClassVar

import equinox as eqx
import jax
import jax.numpy as jnp
from jaxtyping import Array, Float

from simbias.core import AbstractNetwork, Loss


def half_sum(
    prediction: Float[Array, "n k"], target: Float[Array, "n k"], weight: Array
) -> Float[Array, ""]:
    """½ Σ (f(xᵢ) − yᵢ)² over the observed entries, without 1/n."""
    return jnp.sum(weight[:, None] * (prediction - target) ** 2) / 2


def entry(matrix: Float[Array, "k d"], x: Float[Array, " 2"]) -> Float[Array, " 1"]:
    """The entry at (row, column) x, whole numbers from 0."""
    row, column = x.astype(jnp.int32)
    return matrix[row, column][None]


class Factors(AbstractNetwork):
    """f(i, j) = (W_N ⋯ W_1)ᵢⱼ."""

    weights: tuple[Float[Array, "_ _"], ...]

    has_kinks: ClassVar[bool] = False  # the output is a polynomial of the weights

    @property
    def product(self) -> Float[Array, "k d"]:
        """W_N ⋯ W_1."""
        return functools.reduce(lambda total, w: w @ total, self.weights)

    @property
    def orientation(self) -> Float[Array, ""]:
        """Sign of the determinant, that of square factors multiplied."""
        signs = [jnp.sign(jnp.linalg.det(w)) for w in self.weights]
        return jnp.prod(jnp.stack(signs))

    @property
    def log_determinant(self) -> Float[Array, ""]:
        """Logarithm of the size of the determinant."""
        sizes = [jnp.linalg.slogdet(w).logabsdet for w in self.weights]
        return jnp.sum(jnp.stack(sizes))

    def __call__(self, x: Float[Array, " 2"]) -> Float[Array, " 1"]:
        """The entry at x."""
        return entry(self.product, x)


class SingularCoordinates(AbstractNetwork):
    """A 2 × 2 matrix U diag(σ₁, σ₂) Vᵀ that moves as a product of N balanced layers.

    Its coordinates are ln σ₁, ln σ₂ and the angles of U and V, V with its second column
    times `orientation`.  The sign of the determinant cannot be lost, however small σ₂:
    with g = Uᵀ∇V, σ′ = −N σ^{2−2/N} g along the diagonal, and U and V turn at the
    rates −(g₁₂σ₂ + g₂₁σ₁)/(σ₁^{2/N} − σ₂^{2/N}) and, of the turned V,
    −(g₁₂σ₁ + g₂₁σ₂)/(σ₁^{2/N} − σ₂^{2/N}), in which nothing cancels for σ₂ ≪ σ₁.

    Reference: Arora, Cohen, Hu & Luo (2019), arXiv:1905.13655 (?); derived from Ẇ =
    −ψ(∇) of `numerics.end_to_end`.
    """

    logs: Float[Array, " 2"]
    angles: Float[Array, " 2"]
    depth: int = eqx.field(static=True)
    is_positive: bool = eqx.field(static=True)

    has_kinks: ClassVar[bool] = False

    @property
    def orientation(self) -> Float[Array, ""]:
        """Sign of the determinant."""
        return jnp.asarray(1.0 if self.is_positive else -1.0, self.logs.dtype)

    @property
    def log_determinant(self) -> Float[Array, ""]:
        """Logarithm of the size of the determinant."""
        return jnp.sum(self.logs)

    @property
    def product(self) -> Float[Array, "2 2"]:
        """The matrix."""
        left, right = self.frames()
        return (left * jnp.exp(self.logs)[None, :]) @ right.T

    def __call__(self, x: Float[Array, " 2"]) -> Float[Array, " 1"]:
        """The entry at x."""
        return entry(self.product, x)

    def value_and_gradient(
        self, loss: Loss, x: Array, y: Array, weight: Array
    ) -> tuple[Array, "SingularCoordinates"]:
        """The loss, and minus the velocity of the coordinates; no gradient in them."""
        of = lambda w: loss(jax.vmap(lambda at: entry(w, at))(x), y, weight)
        value, gradient = jax.value_and_grad(of)(self.product)
        left, right = self.frames()
        g, values = left.T @ gradient @ right, jnp.exp(self.logs)
        powers = jnp.exp(2 / self.depth * self.logs)
        growth = self.depth * jnp.exp((1 - 2 / self.depth) * self.logs) * jnp.diag(g)
        crossed = jnp.stack(
            [
                g[0, 1] * values[1] + g[1, 0] * values[0],
                self.orientation * (g[0, 1] * values[0] + g[1, 0] * values[1]),
            ]
        )
        turn = crossed / (powers[0] - powers[1])
        return value, SingularCoordinates(growth, turn, self.depth, self.is_positive)

    def frames(self) -> tuple[Float[Array, "2 2"], Float[Array, "2 2"]]:
        """U and V."""
        left, right = (rotation(angle) for angle in self.angles)
        return left, right.at[:, 1].multiply(self.orientation)


def rotation(angle: Float[Array, ""]) -> Float[Array, "2 2"]:
    """By an angle, from the first axis to the second."""
    c, s = jnp.cos(angle), jnp.sin(angle)
    return jnp.stack([jnp.stack([c, -s]), jnp.stack([s, c])])
