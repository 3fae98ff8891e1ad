"""Every noun of simbias.  Nothing is computed here; read this file first.

Networks, datasets and flows have files of their own beside this one.

Axis letters used in every shape of the package:

    b member   t time      n sample   d input     k output
    m neuron   p feature   c cell     s seed

A *member* is one network trained on one dataset.  Networks, datasets and flow
states are pytrees of arrays written for ONE member; the member axis is added in one
place, `simbias.ensemble.lane`.
"""

import dataclasses
from abc import abstractmethod
from collections.abc import Callable, Mapping
from typing import Any, ClassVar

import equinox as eqx
import numpy as np
from jaxtyping import Array, Bool, Float, Int

from simbias.dataset import Dataset as Dataset
from simbias.dataset import Fresh as Fresh
from simbias.errors import BadInput
from simbias.flow import AT_REST as AT_REST
from simbias.flow import AbstractFlow as AbstractFlow
from simbias.flow import AbstractFlowWrapper as AbstractFlowWrapper
from simbias.flow import EventKind as EventKind
from simbias.flow import FlowState as FlowState
from simbias.flow import Status as Status
from simbias.network import AbstractNetwork as AbstractNetwork
from simbias.network import Loss as Loss
from simbias.wrapper import AbstractWrapper as AbstractWrapper

CellValue = int | float | bool | str
# A float that JAX traces, so that a sweep over its values compiles once.
Real = float | Float[Array, ""]
# An integer that sets no array size, such as the number of a task: traced likewise.
Index = int | Int[Array, ""]
# The plain types of their values.
PLAIN: Mapping[Any, type] = {Real: float, Index: int}


class Buffer(eqx.Module):
    """An array of a network that is not trained, such as a running average."""

    value: Array


class AbstractMeasure(eqx.Module):
    """A number, or a small array, computed from the weights at one time.

    `dims` names the axes of what `__call__` returns, in order; a number has none.
    `entries` names what lies along an axis: axis -> names, as {"sample": ("train",)}.
    Integers and booleans are stored as float64, exact up to 2⁵³.
    Quantities that need the history belong to `analysis`.

    The first line of its docstring is the long name of what is stored, and `units` its
    unit, "1" for a pure number.

    A measure that reads labels names their encoding: `targets` is "signs" (of every
    column), "classes" (the largest column, the sign of a single one) or "columns" (the
    largest of two or more); `test_targets` is the same for the test sample.  A run
    refuses labels that the measure would misread, such as 0 and 1.

    `__call__` raises a ValueError that names what is missing: a test sample, a feature,
    a layer, or one output where there are several.
    """

    dims: ClassVar[tuple[str, ...]] = ()
    entries: ClassVar[Mapping[str, tuple[str, ...]]] = {}
    units: ClassVar[str] = "1"

    @abstractmethod
    def __call__(self, network: Any, data: Dataset) -> Array:
        """Value of the measure for one network on one dataset."""

    def coords(self) -> dict[str, np.ndarray]:
        """Coordinates of the axes that have some: name of the axis -> values.

        They are those of `entries`, unless a class has others.
        """
        return {axis: np.array(names) for axis, names in self.entries.items()}


# A measure, or a plain function of the same arguments: its axes are the function's
# `dims` if it has them, else they are named after the measure; so with its `units`.
Measure = AbstractMeasure | Callable[[Any, Dataset], Array]


class AbstractStop(eqx.Module):
    """A rule that ends a member, looked at whenever it is recorded.

    A rule has one of the two methods: `status` where it needs the loss, or has more to
    say than that a member came to rest.
    """

    def check_flow(self, flow: AbstractFlow) -> None:
        """Raise ValueError if the rule is wrong under this flow; it is not by default.

        The flow is that of a member, one of a wrapper the `inner` one.
        """

    def of_flow(self, flow: AbstractFlow) -> "AbstractStop":  # noqa: ARG002
        """The rule for a member of this flow: itself, unless the flow matters."""
        return self

    def __call__(self, network: Any, data: Dataset) -> Bool[Array, ""]:
        """True if the member may rest, as CONVERGED."""
        raise NotImplementedError(f"{type(self).__name__}.__call__ or .status")

    def status(self, network: Any, data: Dataset, loss: Loss) -> Int[Array, ""]:  # noqa: ARG002
        """RUNNING if the member goes on, else as what it ends."""
        return self(network, data).astype("int32") * int(Status.CONVERGED)


# Raises ValueError for an argument that is out of range.
Make = Callable[..., tuple[Dataset, Any]]
# Values on an axis of the grid, and times.
Axis = tuple[Any, ...] | list[Any] | range | np.ndarray | Array
Times = tuple[float, ...] | list[Any] | range | np.ndarray | Array


@dataclasses.dataclass(frozen=True)
class Experiment:
    """A question, ready to run: what is drawn, how it moves, what is written down.

    Args:
        name: name of the file in `simbias.experiments`, or your own.
        make: `(key, *, n, …) -> (Dataset, network)`, a pure function; what it takes
            after the key is what a cell holds.
        cell: values of the arguments of `make`.  A tuple, list, range or array is an
            axis of the grid, in this order; anything else is held fixed.  A key
            `flow.FIELD` varies a field of the flow instead.
        seeds: replicates per cell; their seeds are 0, 1, ….  None where `make` draws
            nothing, so that a cell has one member and no replicate.
        flow: how weights move.
        loss: what they descend; fixes the unit of time.
        times: when to record, increasing, in units of the flow's clock; the last one
            is the final time.  0 records the initial network.
        measures: recorded at each of `times`; see `Measure`.
        final: recorded once, at the end (for measures with large axes); NaN for a
            member that failed.
        keep: those of `times` at which whole networks are kept, to be had back with
            `simbias.member` and `simbias.evaluate`.
        shared: arguments of `make` that are left out of a member's key.  All their
            values see the same random numbers, seed by seed: the same sample and the
            same initial weights, as far as `make` draws them alike.  Axes `flow.FIELD`
            share them anyway.
        stop: ends a member early, as CONVERGED or STATIONARY; its later records repeat
            the last.
        dtype: "float64" or "float32"; draws are made in float64 and then cast.
        root: seed from which all random keys derive.
        pad_to: smaller samples are padded to so many rows, of weight 0: they share
            a program, and to compile another often costs more than the padding.
    """

    name: str
    make: Make
    cell: Mapping[str, CellValue | np.generic | Axis]
    seeds: int | np.integer | None
    flow: AbstractFlow
    loss: Loss
    times: Times
    measures: Mapping[str, Measure]
    final: Mapping[str, Measure] = dataclasses.field(default_factory=dict)
    keep: Times = ()
    shared: tuple[str, ...] = ()
    stop: AbstractStop | None = None
    dtype: str = "float64"
    root: int = 0
    pad_to: int = 0


@dataclasses.dataclass(frozen=True)
class Estimate:
    """A number, the interval that holds the truth, and how that was made.

    `low` ≤ truth ≤ `high` with confidence `level`, which is 1 for a bound, such as the
    tolerance of an exact quantity.  Where nothing can be said the interval is the whole
    line, `value` may be NaN, and `method` says why.
    """

    value: float
    low: float
    high: float
    method: str
    level: float = 0.95


# supported: the interval lies inside the band.  contradicted: it lies outside.
# inconclusive: they overlap.  not applicable: the run is not one the claim is about.
VERDICTS = ("supported", "contradicted", "inconclusive", "not applicable")


@dataclasses.dataclass(frozen=True)
class Claim:
    """A statement of a paper: a band for a number, and its estimate with an interval.

    The verdict is one of four:

    * supported: the interval lies inside the band [low, high].
    * contradicted: the interval lies outside the band.
    * inconclusive: they overlap, or a member is missing where every one counts.
    * not applicable: the run lacks what the claim is about.  `needs` names it: a time,
      a size, a second value of an axis.

    Medians and shares are over the members that finished.

    `simbias.claims` has a constructor for every kind of claim.
    """

    statement: str
    estimate: Estimate
    low: float
    high: float
    source: str
    needs: str = ""

    def __post_init__(self):
        if not isinstance(self.estimate, Estimate):
            raise BadInput(
                f"`estimate` of the claim {self.statement!r} must be an Estimate, got "
                f"{self.estimate!r}. Example: simbias.claims.value_of(statement, "
                "value, (low, high), source) for a number without an error of sampling."
            )

    @property
    def verdict(self) -> str:
        """One of `VERDICTS`."""
        if self.needs:
            return "not applicable"
        seen = self.estimate
        if any(v != v for v in (seen.value, seen.low, seen.high)):
            return "inconclusive"
        if self.low <= seen.low and seen.high <= self.high:
            return "supported"
        is_outside = seen.high < self.low or self.high < seen.low
        return "contradicted" if is_outside else "inconclusive"

    def given(self, is_met: bool | np.bool_, needs: str) -> "Claim":
        """The claim, not applicable unless `is_met`; `needs` says what that asks for.

        Of several needs that are not met the first is kept.
        """
        if self.needs or (is_met and is_met == is_met):  # not NaN
            return self
        return dataclasses.replace(self, needs=needs)
