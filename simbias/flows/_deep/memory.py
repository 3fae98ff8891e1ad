"""What a step of the exact flow of a deep network hands on to the next one."""

import equinox as eqx
from jaxtyping import Array, Bool, Float, Int

from simbias.flows._deep.event_log import EventLog
from simbias.flows._deep.sliding import Slots


class DeepMemory(eqx.Module):
    """Sides, pins and field at the weights, and the length that comes next.

    `is_new` says that nothing is decided there yet.  `stuck` counts events in a row
    that came without any time between them.  `is_alone` ends the next attempt at its
    first crossing.  `log` is None unless events are recorded.
    """

    length: Float[Array, ""]
    atol: Float[Array, ""]
    is_above: Bool[Array, "n u"]
    slots: Slots
    field: Float[Array, " p"]
    z: Float[Array, "n u"]
    is_new: Bool[Array, ""]
    stuck: Int[Array, ""]
    is_alone: Bool[Array, ""]
    has_overflowed: Bool[Array, ""]
    log: EventLog | None
