"""Some strings of n bits with labels of a Boolean function, and all the others."""

from typing import Literal, get_args

import jax
import jax.numpy as jnp
import numpy as np
from jaxtyping import PRNGKeyArray

from simbias.core import Dataset, Real
from simbias.errors import BadInput
from simbias.numerics.walsh_hadamard import cube
from simbias.validation.sample import one_of
from simbias.validation.values import at_most_one, positive_integer, positive_integers

Target = Literal["parity", "random"]


def strings(
    key: PRNGKeyArray,
    *,
    rows: int = 400,
    n: int = 10,
    target: Target = "parity",
    k: int = 3,
    flips: Real = 0.0,
    n_test: int | None = None,
) -> Dataset:
    """`rows` different strings of {−1, +1}ⁿ; the test sample is all others, clean.

    With `n_test` both samples are drawn instead, every bit of its own, and may hold a
    string twice: for more bits than can be enumerated.

    "parity" is the product of k random bits, "random" an independent fair sign for each
    string.  Strings, bits and flips have keys of their own: another k or target leaves
    the strings as they are.

    Args:
        key: random key.
        rows: strings of the sample, fewer than 2ⁿ.
        n: bits, 14 at most where all strings are enumerated.
        target: "parity" or "random".
        k: relevant bits of the parity, 1 to n; "random" has none.
        flips: share of labels of the sample of the wrong sign, drawn one by one.
        n_test: strings of the test sample, that are drawn; None takes all others.

    Returns:
        The sample; `features` is one row, 1 for the bits of the parity.

    Raises:
        ValueError: for a name that is not known, or a number out of range.
    """
    one_of("target", target, get_args(Target))
    positive_integers(rows=rows, n=n, k=k)
    if n_test is not None:
        positive_integer("n_test", n_test)
    x = cube(n) if n_test is None else np.zeros((rows + n_test, n))
    if rows >= len(x):
        raise BadInput(
            f"`rows` must be below 2ⁿ = {len(x):,}, of which the others are the test "
            f"sample, got {rows:,}. Example: rows={len(x) // 2}."
        )
    if k > n:
        raise BadInput(f"`k` must be at most n = {n}, got {k}. Example: k=1.")
    at_most_one("flips", flips)
    order, bits, labels, noise = jax.random.split(key, 4)
    if n_test is None:
        points = jax.random.permutation(order, jnp.asarray(x, jnp.float64))
    else:
        points = jax.random.rademacher(order, x.shape, jnp.float64)
    draw = jax.random.uniform(bits, (n,), jnp.float64)
    is_relevant = (jnp.argsort(jnp.argsort(draw)) < k) & (target == "parity")
    if target == "parity":
        y = jnp.prod(jnp.where(is_relevant[None, :], points, 1), axis=1)
    else:
        y = jax.random.rademacher(labels, (len(x),), jnp.float64)
    odds = jnp.asarray(flips, jnp.float64)
    is_wrong = jax.random.uniform(noise, (rows,), jnp.float64) < odds
    seen = jnp.where(is_wrong, -y[:rows], y[:rows])
    features = is_relevant.astype(jnp.float64)[None, :]
    ones = jnp.ones(len(x), jnp.float64)
    rest = Dataset(points[rows:], y[rows:, None], ones[rows:], y[rows:, None], features)
    mean = (1 - 2 * odds) * y[:rows, None]
    return Dataset(points[:rows], seen[:, None], ones[:rows], mean, features, rest)
