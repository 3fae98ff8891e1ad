"""How alike two sets of activations of the same inputs are: CKA, SVCCA, matched."""

import jax.numpy as jnp
from jaxtyping import Array, Bool, Float

from simbias.errors import BadInput
from simbias.numerics.linear_assignment import linear_assignment
from simbias.numerics.precision import matmul

Weight = Float[Array, " n"]


def cka(
    x: Float[Array, "n p"], y: Float[Array, "n q"], weight: Weight
) -> Float[Array, ""]:
    """Linear centred kernel alignment, in [0, 1].

    ‖YᵀX‖²_F / (‖XᵀX‖_F ‖YᵀY‖_F), columns centred, rows of weight 0 left out.  The same
    for X Q c, with Q orthogonal and c a number.  NaN where a side does not vary.

    Reference: Kornblith, Norouzi, Lee & Hinton (2019), arXiv:1905.00414, section 3.
    """
    x, y = centred(x, weight), centred(y, weight)
    norm = lambda a, b: jnp.sqrt(jnp.sum(matmul(a.T, b) ** 2))
    return _ratio(norm(y, x) ** 2, norm(x, x) * norm(y, y))


def svcca(
    x: Float[Array, "n p"],
    y: Float[Array, "n q"],
    weight: Weight,
    *,
    share: float = 0.99,
    is_squared: bool = False,
) -> Float[Array, ""]:
    """Mean canonical correlation of the directions that hold most of the variance.

    Of each side the fewest singular directions whose squared singular values sum to
    `share` of all; the mean is over as many correlations as the smaller side has
    directions.  With a share of 1 this is CCA, the same for every invertible linear
    map of a side; else the same for X Q c as in `cka`.  By singular values of the
    centred columns themselves, which no rounding makes negative.  NaN where a side
    does not vary.

    Args:
        x: activations, fewer columns than rows.
        y: those of the same inputs elsewhere.
        weight: 0 leaves a row out.
        share: of the variance, in (0, 1].
        is_squared: mean of ρ² in place of ρ; of independent normal columns it has the
            expectation max(p, q)/(n − 1), for a share of 1.

    Raises:
        ValueError: for as many columns as rows, which always correlate perfectly.

    Reference: Raghu, Gilmer, Yosinski & Sohl-Dickstein (2017), arXiv:1706.05806.
    """
    for side in (x, y):
        if side.shape[1] >= side.shape[0]:
            raise BadInput(
                f"SVCCA needs more samples than neurons, got {side.shape[0]} samples "
                f"and {side.shape[1]} neurons: these always correlate perfectly."
            )
    left, is_left = _directions(centred(x, weight), share)
    right, is_right = _directions(centred(y, weight), share)
    rho = jnp.linalg.svd(matmul(left.T, right), compute_uv=False)
    rho = jnp.clip(rho, 0, 1)
    count = jnp.minimum(jnp.sum(is_left), jnp.sum(is_right)).astype(rho.dtype)
    return _ratio(jnp.sum(rho**2 if is_squared else rho), count)


def matched_correlation(
    x: Float[Array, "n m"], y: Float[Array, "n m"], weight: Weight
) -> Float[Array, ""]:
    """Mean correlation of every neuron with its partner, after the best matching.

    (1/m) max over permutations π of Σᵢ corr(xᵢ, y_π(i)).  A neuron that does not vary
    correlates with none.

    Reference: Li, Yosinski, Clune, Lipson & Hopcroft (2016), arXiv:1511.07543.
    """
    unit = lambda v: _ratio(v, jnp.linalg.norm(v, axis=0)[None, :], empty=0.0)
    x, y = unit(centred(x, weight)), unit(centred(y, weight))
    correlation = matmul(x.T, y)
    partner = linear_assignment(-correlation)
    return jnp.mean(jnp.take_along_axis(correlation, partner[:, None], axis=1))


def centred(x: Float[Array, "n p"], weight: Weight) -> Float[Array, "n p"]:
    """Columns less their weighted mean, times √weight."""
    mean = matmul(weight, x) / jnp.sum(weight)
    return (x - mean[None, :]) * jnp.sqrt(weight)[:, None]


def _directions(
    x: Float[Array, "n p"], share: float
) -> tuple[Float[Array, "n p"], Bool[Array, " p"]]:
    """Left singular vectors, 0 where not kept, and which are kept."""
    u, s, _ = jnp.linalg.svd(x, full_matrices=False)
    power = s**2
    before = jnp.cumsum(power) - power
    rounding = jnp.finfo(x.dtype).eps * x.shape[0]
    is_kept = (before < share * jnp.sum(power)) & (s > rounding * s[0])
    return jnp.where(is_kept[None, :], u, 0), is_kept


def _ratio(top: Array, bottom: Array, empty: float = jnp.nan) -> Array:
    is_some = bottom > 0
    return jnp.where(is_some, top / jnp.where(is_some, bottom, 1), empty)
