"""What the tasks of all biases share: one shape, and what measures look for.

All have eight inputs and one output, so that tasks of as many rows share a program.
What a measure of another bias finds in a task is recorded, too.
"""

import dataclasses
from typing import Any, get_args

import jax
import jax.numpy as jnp
from jaxtyping import Array, Float, PRNGKeyArray

from simbias.core import Dataset
from simbias.datasets.biases._laws import InputLaw
from simbias.validation.sample import one_of
from simbias.validation.values import positive_integers

# Coordinates of an input, and parts of a target that are followed one by one.
D, PARTS = 8, 8
Inputs = Float[Array, "_ d"]


class PartedDataset(Dataset):
    """A sample whose target is a sum of parts that are followed one by one.

    `parts` are those of the training rows, `probe_parts` those at the inputs `probe`,
    where they are looked for; all 0 for a target that is not taken apart.
    """

    parts: Float[Array, "n q"] = dataclasses.field(kw_only=True)
    probe: Float[Array, "t d"] = dataclasses.field(kw_only=True)
    probe_parts: Float[Array, "t q"] = dataclasses.field(kw_only=True)


def rows_of(law: InputLaw, n: Any, n_test: Any) -> int:
    """How many are drawn: those of training, then those of the test.

    Raises:
        ValueError: for a law that is not known or a size that is none.
    """
    one_of("law", law, get_args(InputLaw))
    # Of any type: what is no size is refused by name here.
    positive_integers(n=n, n_test=n_test)
    return n + n_test


def task(
    n: int,
    x: Float[Array, "r d"],
    y: Float[Array, " r"],
    *,
    parts: Float[Array, "n q"] | None = None,
    probe: tuple[Inputs, Float[Array, "n q"]] | None = None,
    clones: tuple[Inputs, Inputs] | None = None,
) -> PartedDataset:
    """The dataset, with the further samples that the measures look for.

    Args:
        n: the first rows, those of training; the others are the test.
        x: inputs of both.
        y: targets of both.
        parts: what the target of training is the sum of, column by column.
        probe: inputs, and the same parts at these; those of training if None.
        clones: rows that share with those of the test their means, and covariances.

    Returns:
        The sample; `others` has "linear", the answers of the line of least squares to
        the test, and the clones, "means" and "covariances"; `features` is the first
        axis.
    """
    x, test_x = x[:n], x[n:]
    y, test_y = y[:n, None], y[n:, None]
    if parts is None:
        parts = jnp.zeros((n, PARTS), jnp.float64)
    where, there = (x, parts) if probe is None else probe
    first, second = clones or (test_x, test_x)
    others = {
        "linear": _plain(test_x, _line(x, y, test_x)),
        "means": _plain(first, test_y),
        "covariances": _plain(second, test_y),
    }
    plain = _plain(x, y)
    return PartedDataset(
        x,
        y,
        plain.weight,
        y,
        plain.features,
        _plain(test_x, test_y),
        others,
        parts=parts,
        probe=where,
        probe_parts=there,
    )


def labels(key: PRNGKeyArray, rows: int) -> Float[Array, " r"]:
    """±1 with equal odds."""
    return jax.random.rademacher(key, (rows,), jnp.float64)


def beside(*parts: Array) -> Float[Array, "n p"]:
    """Columns beside each other."""
    return jnp.concatenate([v if v.ndim == 2 else v[:, None] for v in parts], axis=1)


def with_one(x: Float[Array, "n _"]) -> Float[Array, "n _"]:
    """One more coordinate, 1 in every row: networks have no biases."""
    return jnp.concatenate([x, jnp.ones((len(x), 1), x.dtype)], axis=1)


def _plain(x: Inputs, y: Array) -> Dataset:
    axis = jnp.eye(D, dtype=jnp.float64)[:1]
    return Dataset(x, y, jnp.ones(len(x), jnp.float64), y, axis)


def _line(x: Inputs, y: Float[Array, "_ 1"], at: Inputs) -> Float[Array, "_ 1"]:
    """What the line of least squares says there, ±1."""
    gram = x.T @ x + 1e-6 * len(x) * jnp.eye(D, dtype=x.dtype)
    said = at @ jnp.linalg.solve(gram, x.T @ y)
    return jnp.where(said > 0, 1.0, -1.0).astype(x.dtype)
