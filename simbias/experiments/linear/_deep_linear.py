"""Initial deep linear networks, and one of tied layers."""

from itertools import accumulate, pairwise
from typing import ClassVar, Literal, get_args

import jax
import jax.numpy as jnp
import numpy as np
from jax.core import Tracer
from jaxtyping import Array, Float, PRNGKeyArray

from simbias.core import AbstractNetwork, Dataset, Real
from simbias.errors import BadInput
from simbias.measures.linear.mode_strengths import target_directions
from simbias.networks import DeepLinear
from simbias.validation.sample import one_of
from simbias.validation.values import positive, positive_integer

Start = Literal["aligned", "balanced", "small", "unbalanced"]
# Size of a small product by depth N, so that escape times, u₀^{2/N − 1}, are similar.
SIZES = {1: 1e-8, 2: 1e-8, 3: 1e-4, 4: 1e-3}
# Size of the others.  From a small balanced product the velocity would be so small that
# rounding errors would be visible in it.
MODERATE = {"balanced": 0.1, "unbalanced": 1.0}
STRENGTHS = (4.0, 2.0, 1.0)


def started(
    key: PRNGKeyArray, data: Dataset, *, start: Start, depth: int, m: int, scale: Real
) -> DeepLinear:
    """An initial network, with a product of `scale` times its usual size.

    "aligned": small and balanced, with the singular vectors of the target.
    "small": small, with independent Gaussian layers.  "balanced": of size 0.1, with
    random singular vectors.  "unbalanced": Gaussian layers of size 1.

    Raises:
        ValueError: for an unknown name, a number out of range, or hidden layers too
            narrow for all modes.
    """
    one_of("start", start, get_args(Start))
    one_of("depth", str(depth), [str(k) for k in SIZES])
    positive("scale", scale)
    positive_integer("m", m)
    if depth > 1 and m < len(STRENGTHS):
        raise BadInput(
            f"`m` must be {len(STRENGTHS)} or more, got {m}: a product through fewer "
            f"neurons does not hold all modes of the target. Example: m=32."
        )
    d, k = data.x.shape[1], data.y.shape[1]
    widths = (d, *[m] * (depth - 1), k)
    shapes = [(p, q) for q, p in pairwise(widths)]
    sizes = [p * q for p, q in shapes]
    # One call for all layers: each call of a random generator is compiled.
    z = jax.random.normal(key, (sum(sizes) + len(data.features),), jnp.float64)
    *layers, spread = jnp.split(z, list(accumulate(sizes)))
    draws = [v.reshape(shape) for v, shape in zip(layers, shapes, strict=True)]
    size = jnp.asarray(scale * MODERATE.get(start, SIZES[depth]), jnp.float64)
    if start in ("small", "unbalanced"):
        return DeepLinear(tuple(size ** (1 / depth) * m**-0.5 * v for v in draws))
    if start == "aligned":
        left, right = target_directions(data).T, data.features.T
        values = size * jnp.exp(spread / 2)
    else:
        whole = draws[0][:k] if depth > 1 else draws[0]
        left, values, right = jnp.linalg.svd(size * whole, full_matrices=False)
        right = right.T
    # Between layers any frame is right, if both neighbours use it.
    hidden = [jnp.linalg.qr(v.T[:, : len(values)])[0] for v in draws[1:]]
    root, frames = values ** (1 / depth), [right, *hidden, left]
    return DeepLinear(tuple((b * root[None, :]) @ a.T for a, b in pairwise(frames)))


class Tied(AbstractNetwork):
    """f(x) = A A x, A symmetric, and so balanced: AᵀA = AAᵀ.

    A stays symmetric if the loss asks for a symmetric matrix.
    """

    root: Float[Array, "p q"]

    def __check_init__(self):
        if isinstance(self.root, Tracer):
            return
        a = np.asarray(self.root)
        if a.ndim != 2 or a.shape[0] != a.shape[1]:
            raise BadInput(
                f"`root` must be a square matrix, got one of shape {a.shape}: its two "
                "layers are one. Example: root=0.1 * jnp.eye(3)."
            )
        gap = float(abs(a - a.T).max())
        if gap > 1e-12 * float(abs(a).max()):
            raise BadInput(
                f"`root` must be symmetric, got one that differs from its transpose by "
                f"{gap:.3g}: tied layers are then not balanced, AᵀA ≠ AAᵀ, and their "
                "product has no law of its own. Example: root=(a + a.T) / 2."
            )

    has_kinks: ClassVar[bool] = False  # the output is a polynomial of the weights

    @property
    def product(self) -> Float[Array, "d d"]:
        """B = A²."""
        return self.root @ self.root

    def __call__(self, x: Float[Array, " d"]) -> Float[Array, " d"]:
        """Output for one input."""
        return self.root @ (self.root @ x)
