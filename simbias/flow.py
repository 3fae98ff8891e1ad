"""A flow: how weights move in time, the state of one member, and how it ends."""

import enum
from abc import abstractmethod
from typing import Any, ClassVar

import equinox as eqx
from jaxtyping import Array, Float, Int, PRNGKeyArray, PyTree

from simbias.dataset import Dataset
from simbias.network import Loss


class EventKind(enum.IntEnum):
    """What a neuron does at an activation boundary; up is to z > 0.

    In the events that exact flows write down; 0 stands for none.
    """

    CROSSES_UP = 1
    CROSSES_DOWN = 2
    SLIDES = 3
    LEAVES_UP = 4
    LEAVES_DOWN = 5


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


class AbstractFlowWrapper(AbstractFlow):
    """A flow that moves networks as another one, `inner`, such as one chosen by name.

    What the other flow knows of itself, such as its events, is forwarded here; what is
    different is defined anew.  `clock` is that of any flow, unless it is said.
    """

    @property
    @abstractmethod
    def inner(self) -> AbstractFlow:
        """The other flow."""

    def inner_of(self, network: Any) -> AbstractFlow:  # noqa: ARG002
        """The other flow for this network, `inner` unless the network chooses it."""
        return self.inner

    def init(
        self, network: Any, data: Dataset, loss: Loss, key: PRNGKeyArray
    ) -> FlowState:
        """State of the other flow at time 0."""
        return self.inner_of(network).init(network, data, loss, key)

    def step(
        self, state: FlowState, data: Dataset, loss: Loss, until: Float[Array, ""]
    ) -> FlowState:
        """One attempted step of the other flow."""
        return self.inner_of(state.network).step(state, data, loss, until)

    def history(self, state: FlowState) -> dict[str, Float[Array, " event"]]:
        """What the other flow has written down."""
        return self.inner_of(state.network).history(state)

    def attempt_size(self, network: Any, n: int, width: int, tile: int) -> int:
        """That of the other flow."""
        return self.inner_of(network).attempt_size(network, n, width, tile)

    def step_equations(self, state: FlowState) -> int | None:
        """Those of the other flow."""
        return self.inner_of(state.network).step_equations(state)


def innermost(flow: AbstractFlow, network: Any) -> AbstractFlow:
    """The flow of a network that wrappers hold."""
    while isinstance(flow, AbstractFlowWrapper):
        flow = flow.inner_of(network)
    return flow
