"""Targets that a loss or an accuracy can read; others are refused by name."""

from collections.abc import Iterable, Mapping
from typing import Any, NamedTuple

import jax
import jax.numpy as jnp
from jaxtyping import Array, Float

from simbias.core import AbstractStop, Dataset
from simbias.errors import BadInput
from simbias.introspection.partials import whole

# Rows of probabilities may miss 1 by so much: they may come from a text file.
_SLACK = 1e-3
_ONE_HOT = "y = np.eye(k)[labels]"


class Targets(NamedTuple):
    """What is seen of targets, those of padding left out."""

    columns: Any
    lowest: Any
    highest: Any
    has_zero: Any
    is_two_valued: Any
    is_whole: Any
    is_shares: Any

    @property
    def are_signs(self) -> bool:
        """True if every one is −1 or +1."""
        ends = {float(self.lowest), float(self.highest)}
        return bool(self.is_two_valued) and ends <= {-1.0, 1.0}

    @property
    def described(self) -> str:
        """The labels, or the range of the numbers."""
        ends = [f"{float(v):g}" for v in (self.lowest, self.highest)]
        if not self.is_two_valued:
            return f"numbers from {ends[0]} to {ends[1]}"
        return f"the label {ends[0]}" if ends[0] == ends[1] else "labels " + _and(ends)


class Faults(NamedTuple):
    """What may be wrong with the weights and targets of a sample."""

    is_no_weight: Any
    is_empty: Any
    train: Targets
    test: Targets | None


def faults(data: Dataset) -> Faults:
    """What `refuse` looks at, for use inside a compiled program."""
    y, weight, test = data.y, data.weight, data.test
    return Faults(
        ~jnp.all(weight >= 0),
        jnp.all(weight == 0),
        _seen(y, weight),
        None if test is None else _seen(test.y, test.weight),
    )


def refuse(loss: Any, readers: Iterable[tuple[str, Any]], found: Faults) -> None:
    """Refuse weights that mean nothing, and targets that are not what is meant.

    A loss says in `targets` what it takes, "signs" (−1 and +1) or "shares" (rows of
    probabilities, such as one-hot).  A measure or a stop says there what it reads,
    "signs" of every column, "classes" (the largest column, the sign of a single one)
    or "columns" (the largest of two or more), and in `test_targets` what it reads of
    the test sample.

    Args:
        loss: that is descended.
        readers: measures and stops, with what they are called.
        found: in the sample.

    Raises:
        ValueError: if a weight is negative or all are 0, and for other targets, with
            the conversion.
    """
    if found.is_no_weight:
        raise BadInput(
            "`data.weight` holds a negative number or NaN. It must be 1 for a sample "
            "and 0 for padding."
        )
    if found.is_empty:
        raise BadInput(
            "`data.weight` is 0 everywhere, so there is no sample. Set it to 1 for "
            "samples."
        )
    loss = whole(loss)
    takes, name = getattr(loss, "targets", None), getattr(loss, "__name__", "`loss`")
    seen = found.train
    if takes is not None and seen.lowest != seen.lowest:
        raise BadInput(
            f"`data.y` holds NaN, which the loss {name} cannot fit. Drop these samples."
        )
    if takes == "signs" and not seen.are_signs:
        raise BadInput(
            f"`data.y` must hold −1 and +1 for the loss {name}, got {seen.described}. "
            f"{_as_signs(seen)}"
        )
    if takes == "shares" and not (seen.columns > 1 and seen.is_shares):
        raise BadInput(
            f"`data.y` must hold a row of probabilities for each sample, such as "
            f"one-hot, for the loss {name}, got {seen.described} in "
            f"{int(seen.columns)} column{'s' * bool(seen.columns > 1)}. "
            f"{_as_shares(seen)}"
        )
    test = found.test
    if takes == "signs" and test is not None and _are_other_labels(test):
        raise BadInput(
            f"`data.test.y` must hold −1 and +1 as `data.y` does, for the loss {name}, "
            f"got {test.described}. {_as_signs(test)}"
        )
    for called, reader in readers:
        _refuse_reader(called, getattr(reader, "targets", None), "data.y", found.train)
        reads = getattr(reader, "test_targets", None)
        _refuse_reader(called, reads, "data.test.y", found.test)


def check_targets(loss: Any, readers: Iterable[tuple[str, Any]], data: Dataset) -> None:
    """`refuse`, of one sample.

    Raises:
        ValueError: as there.
    """
    refuse(loss, readers, jax.device_get(jax.jit(faults)(data)))


def readers_of(
    measures: Mapping[str, Any], stop: AbstractStop | None
) -> list[tuple[str, Any]]:
    """Measures and the stop, each with what it is called in a message."""
    of = lambda name, reader: (f"{name} ({type(reader).__name__})", reader)
    found = [of(f"measure `{name}`", measure) for name, measure in measures.items()]
    return [*found, of("`stop`", stop)]


def _refuse_reader(
    called: str, reads: str | None, where: str, seen: Targets | None
) -> None:
    if reads is None or seen is None:
        return
    if seen.lowest != seen.lowest:
        raise BadInput(
            f"`{where}` holds NaN, which {called} cannot use. Drop these samples."
        )
    if reads == "columns" or _has_signs(seen):
        return
    if reads == "signs" or seen.columns == 1:
        raise BadInput(
            f"{called} compares the signs of `{where}` and of the outputs, got "
            f"{seen.described}. {_as_read(seen)}"
        )


def _seen(y: Float[Array, "n k"], weight: Float[Array, " n"]) -> Targets:
    is_real = (weight > 0)[:, None]
    lowest = jnp.min(jnp.where(is_real, y, jnp.inf))
    highest = jnp.max(jnp.where(is_real, y, -jnp.inf))
    all_of = lambda holds: jnp.all(holds | ~is_real)
    total = jnp.sum(y, axis=1, keepdims=True)
    return Targets(
        jnp.int32(y.shape[1]),
        lowest,
        highest,
        jnp.any((y == 0) & is_real),
        all_of((y == lowest) | (y == highest)),
        all_of(y == jnp.round(y)),
        all_of((y >= 0) & (jnp.abs(total - 1) <= _SLACK)),
    )


def _has_signs(seen: Targets) -> bool:
    """Whether signs tell targets apart; numbers of classes of one sign have none."""
    if seen.has_zero:
        return False
    is_one_sided = seen.lowest > 0 or seen.highest < 0
    is_constant = seen.lowest == seen.highest
    is_of_classes = seen.is_whole or seen.is_two_valued or seen.columns > 1
    return not (is_one_sided and is_of_classes and not is_constant)


def _are_other_labels(seen: Targets) -> bool:
    """Whether targets are two whole numbers, and not −1 and +1."""
    is_label = seen.is_two_valued and seen.is_whole and seen.lowest != seen.highest
    return bool(is_label) and not seen.are_signs


def _as_signs(seen: Targets) -> str:
    low, high = float(seen.lowest), float(seen.highest)
    if seen.is_two_valued and low != high:
        offset = {0.0: "1", 1.0: "3"}.get(low) if high - low == 1 else None
        by_place = f"y = np.where(y == {high:g}, 1.0, -1.0)"
        return f"Example: {by_place if offset is None else f'y = 2 * y - {offset}'}."
    if seen.is_whole:
        return (
            f"Example: {_ONE_HOT} with the loss cross_entropy for k classes, "
            "or y = np.where(y == 1, 1.0, -1.0) for one against the others."
        )
    return "Use half_mse for real targets, or y = np.sign(y)."


def _as_shares(seen: Targets) -> str:
    if seen.columns == 1:
        of = "labels from 0 to k − 1"
        return (
            f"Example: {_ONE_HOT}, {of}, and a network of k outputs; or the loss "
            "logistic with one column of −1 and +1."
        )
    if seen.are_signs:
        return "Example: y = (y + 1) / 2."
    return "Example: y = y / y.sum(axis=1, keepdims=True)."


def _as_read(seen: Targets) -> str:
    if seen.columns > 1:
        return "Use ClassAccuracy, which compares the largest column and output."
    return _as_signs(seen)


def _and(words: list[str]) -> str:
    return " and ".join(words)
