"""Every noun of simbias.  Nothing is computed here; read this file first.

Axis letters used in every shape of the package:

    b member   t time      n sample   d input     k output
    m neuron   p feature   c cell     s seed

A *member* is one network trained on one dataset.  Networks, datasets and flow
states are pytrees of arrays written for ONE member; the member axis is added in one
place, `simbias.ensemble.lane`.
"""

import dataclasses
import enum
from abc import abstractmethod
from collections.abc import Callable, Mapping
from typing import Any, ClassVar

import equinox as eqx
import numpy as np
from jaxtyping import Array, Bool, Float, Int, PRNGKeyArray, PyTree

from simbias.errors import BadInput
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


# (key, rows) -> x "rows d" and y "rows k", from the law of a sample.
Fresh = Callable[[PRNGKeyArray, int], tuple[Array, Array]]


class Dataset(eqx.Module):
    """A sample from a law, with what is known about that law.

    `weight` is 0 for padding and 1 otherwise; every loss and measure is a mean
    weighted by it, so samples of different size share one compiled program.
    `mean` is E[y | x], the target without its noise.  `features` are the directions
    the law was built from, simplest first.  `test` is a second, independent sample of
    the same law (its own `test` is None).  `others` are further samples by name, such
    as one of another law or with other labels.  `fresh`, a module of arrays that is
    called `(key, rows)` and gives x and y, draws rows from the law, for descent on rows
    that are new in every step.
    """

    x: Float[Array, "n d"]
    y: Float[Array, "n k"]
    weight: Float[Array, " n"]
    mean: Float[Array, "n k"]
    features: Float[Array, "p d"]
    test: "Dataset | None" = None
    others: Mapping[str, "Dataset"] = eqx.field(default_factory=dict)
    fresh: Fresh | None = None


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


class Status(enum.IntEnum):
    """Why a member is where it is.  Stored as CF flag values."""

    RUNNING = 0
    REACHED_TIME = 1
    CONVERGED = 2
    MAX_STEPS = 3
    NONFINITE = 4
    STEP_TOO_SMALL = 5
    CAPACITY = 6
    STATIONARY = 7
    TIE = 8

    @property
    def message(self) -> str:
        """What happened, in one sentence."""
        return _MESSAGES[self]

    @property
    def is_failure(self) -> bool:
        """True if the member ended before its time for a reason of numerics."""
        return self not in (Status.RUNNING, Status.REACHED_TIME, *AT_REST)


# Nothing moves any more: what was recorded last holds for every later time.
AT_REST = (Status.CONVERGED, Status.STATIONARY)

_MESSAGES = {
    Status.RUNNING: "Not finished.",
    Status.REACHED_TIME: "Reached the final time.",
    Status.CONVERGED: "Converged before the final time.",
    Status.MAX_STEPS: "Used all its steps; raise `max_steps` or loosen `rtol`.",
    Status.NONFINITE: "A weight, the loss or the field became NaN or infinite.",
    Status.STEP_TOO_SMALL: "The step fell below the spacing of floating point times.",
    Status.CAPACITY: "More events at once than the flow has room for.",
    Status.STATIONARY: "Is at a limit that is proven, with a loss above 0.",
    Status.TIE: "Several groups of neurons leave a saddle at the same time.",
}


class FlowState(eqx.Module):
    """Where one member is.

    `stats` counts what was done: `accepted` and `rejected` steps, `evaluations` of
    the field, and what else the flow counts.  `memory` belongs to the flow.
    """

    network: PyTree
    time: Float[Array, ""]
    status: Int[Array, ""]
    stats: dict[str, Int[Array, ""]]
    memory: PyTree


class AbstractFlow(eqx.Module):
    """How weights move in time: θ' = −∇L or an optimiser standing for it.

    `step` makes one attempt or a few, never passes the time `until`, reaches it exactly
    when it can, and is the identity once the status is not RUNNING.  It does not decide
    that the final time is reached; the engine does.

    Smaller samples are padded to `pad_to` rows, so that their sizes share a program:
    as many as cost next to nothing.
    """

    pad_to: ClassVar[int] = 8

    @abstractmethod
    def init(
        self, network: Any, data: Dataset, loss: Loss, key: PRNGKeyArray
    ) -> FlowState:
        """State at time 0."""

    @abstractmethod
    def step(
        self, state: FlowState, data: Dataset, loss: Loss, until: Float[Array, ""]
    ) -> FlowState:
        """One attempted step."""

    @property
    def clock(self) -> str:
        """What times are counted in, for labels and stored results."""
        return "flow time"

    def prepared(self) -> "AbstractFlow":
        """The flow as it is compiled: another one if that serves more cells.

        Called on the flow of every cell, with numbers that are not traced yet.
        """
        return self

    def history(self, state: FlowState) -> dict[str, Float[Array, " event"]]:  # noqa: ARG002
        """What the flow itself has written down of a member, name -> values.

        All over the axis `event`, NaN where there is none; no flow has to.
        """
        return {}

    def attempt_size(
        self,
        network: Any,  # noqa: ARG002
        n: int,
        width: int,  # noqa: ARG002
        tile: int,
    ) -> int:
        """Numbers that an attempt holds beside the lane, for the estimate of memory.

        The default is that of a gradient: two per sample and activation.

        Args:
            network: one member's, with or without values.
            n: samples.
            width: activations of one input.
            tile: those of which a gradient holds two copies.
        """
        return 2 * n * tile

    def step_equations(self, state: FlowState) -> int | None:  # noqa: ARG002
        """Equations of a step, for the estimate of what compiling it takes.

        None by default: they are counted. A flow says it whose step takes seconds to
        trace.
        """
        return None


class AbstractStop(eqx.Module):
    """A rule that ends a member, looked at whenever it is recorded.

    A rule has one of the two methods: `status` where it needs the loss, or has more to
    say than that a member came to rest.
    """

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
