"""What the tasks of all biases have in common: sizes, and what is measured on them.

All have 128 samples of 8 coordinates and one output, and 256 test samples, so that they
share a program.  What a measure of another bias finds in a task is recorded, too.
"""

import dataclasses

import jax
import jax.numpy as jnp
from jaxtyping import Array, Float, PRNGKeyArray

from simbias.core import Dataset
from simbias.experiments.matrix._settings import D

N, TEST = 128, 256
# Parts of a target that are followed one by one.
PARTS = 8
Inputs = Float[Array, "_ d"]
Column = Float[Array, " n"]


@dataclasses.dataclass(frozen=True)
class Sample:
    """Rows of a task: those of training, then those of the test."""

    x: Float[Array, "r d"]
    y: Float[Array, " r"]


class Followed(Dataset):
    """A sample whose target is a sum of parts that are followed one by one.

    `parts` are those of the training rows, `probe_parts` those at the inputs `probe`,
    where they are looked for; all 0 for a target that is not taken apart.
    """

    parts: Float[Array, "n q"] = dataclasses.field(kw_only=True)
    probe: Float[Array, "t d"] = dataclasses.field(kw_only=True)
    probe_parts: Float[Array, "t q"] = dataclasses.field(kw_only=True)


def task(
    sample: Sample,
    *,
    parts: Float[Array, "n q"] | None = None,
    probe: tuple[Inputs, Float[Array, "n q"]] | None = None,
    clones: tuple[Inputs, Inputs] | None = None,
) -> Followed:
    """The dataset, with the further samples that the measures look for.

    Args:
        sample: rows of training and of the test, one after the other.
        parts: what the target of training is the sum of, column by column.
        probe: inputs, and the same parts at these; those of training if None.
        clones: rows that share with those of the test their means, and covariances.
    """
    x, test_x = sample.x[:N], sample.x[N:]
    y, test_y = sample.y[:N, None], sample.y[N:, None]
    if parts is None:
        parts = jnp.zeros((N, PARTS), jnp.float64)
    where, there = (x, parts) if probe is None else probe
    first, second = clones or (test_x, test_x)
    features = jnp.eye(D, dtype=jnp.float64)[:1]
    test = _plain(test_x, test_y, features)
    others = {
        "linear": _plain(test_x, _line(x, y, test_x), features),
        "means": _plain(first, test_y, features),
        "covariances": _plain(second, test_y, features),
    }
    one = jnp.ones(N, jnp.float64)
    return Followed(
        x,
        y,
        one,
        y,
        features,
        test,
        others,
        parts=parts,
        probe=where,
        probe_parts=there,
    )


def labels(key: PRNGKeyArray) -> Column:
    """±1 with equal odds, for the rows of training and of the test."""
    return jax.random.rademacher(key, (N + TEST,), jnp.float64)


def with_one(x: Float[Array, "n _"]) -> Float[Array, "n _"]:
    """One more coordinate, 1 in every row: networks have no biases."""
    return jnp.concatenate([x, jnp.ones((len(x), 1), x.dtype)], axis=1)


def _plain(x: Inputs, y: Array, features: Array) -> Dataset:
    return Dataset(x, y, jnp.ones(len(x), jnp.float64), y, features)


def _line(x: Inputs, y: Float[Array, "_ 1"], at: Inputs) -> Float[Array, "_ 1"]:
    """What the line of least squares says there, ±1."""
    gram = x.T @ x + 1e-6 * N * jnp.eye(D, dtype=x.dtype)
    said = at @ jnp.linalg.solve(gram, x.T @ y)
    return jnp.where(said > 0, 1.0, -1.0).astype(x.dtype)
