"""What descent carries from step to step beside the network."""

from typing import NamedTuple

from jaxtyping import PRNGKeyArray, PyTree

from simbias.flows._descent.batches import Batches


class Memory(NamedTuple):
    """Of the optimiser, of the order of the batches, of what training draws."""

    optimiser: PyTree
    batches: Batches | None
    noise: PRNGKeyArray | None
