"""What the exact flow keeps for wide networks and large samples, for small ones too."""

from simbias.flows import relu_flow
from simbias.flows._relu import crossings, neuron_state
from simbias.flows._relu.noninteracting import straight_lines


def as_if_wide() -> None:
    """Noninteracting steps, aggregation, clearances, few candidates at every size.

    For the whole process, before the first network is compiled.  These forms are slower
    than the plain one where a network is small.
    """
    by_classes()
    crossings.PAYS = neuron_state.PAYS = relu_flow.NONINTERACTING_PAYS = 1
    straight_lines._MANY, straight_lines._GROUP = 1, 5


def by_classes() -> None:
    """Classes and aggregation, however many weights a neuron has."""
    neuron_state.may_be_worth_it = lambda *_: True
