"""The four optimisers of the matrix, each at its own learning rate."""

from typing import Literal, NamedTuple

import equinox as eqx

from simbias.core import AbstractFlow, AbstractFlowWrapper
from simbias.flows import Descent
from simbias.flows._descent.optimisers import OptimiserName

Level = Literal["gd", "sgd", "adam", "adamw"]


class Rates(NamedTuple):
    """Learning rates that were tried, and the place of the best one."""

    tried: tuple[float, float, float]
    best: int


# Chosen by `benchmarks/matrix_rates.py` on other seeds: the rate at which most networks
# of a tenth of the settings learn their task.
RATES: dict[Level, Rates] = {
    "gd": Rates((0.005, 0.02, 0.08), 2),
    "sgd": Rates((0.005, 0.02, 0.08), 1),
    "adam": Rates((0.001, 0.004, 0.016), 0),
    "adamw": Rates((0.001, 0.004, 0.016), 1),
}
_NAMES: dict[Level, OptimiserName] = {
    "gd": "gd",
    "sgd": "gd",
    "adam": "adam",
    "adamw": "adamw",
}
BATCH = 16


class MatrixDescent(AbstractFlowWrapper):
    """One of four optimisers, by its name; times are numbers of steps.

    "gd", "adam" and "adamw" use all samples in every step; "sgd" is gradient descent
    with mini-batches of 16, shuffled in epochs.

    Args:
        optimiser: its name.
        rate: place, from 0, of one of the three learning rates that were tried for the
            optimiser; None is the best of them.
    """

    optimiser: Level = eqx.field(static=True, default="gd")
    rate: int | None = eqx.field(static=True, default=None)

    @property
    def clock(self) -> str:
        """Steps."""
        return "steps"

    def prepared(self) -> AbstractFlow:
        """The descent: the three on all samples share a program."""
        rates = RATES[self.optimiser]
        return Descent(
            rate=rates.tried[rates.best if self.rate is None else self.rate],
            optimiser=_NAMES[self.optimiser],
            batch=BATCH if self.optimiser == "sgd" else None,
            counts_steps=True,
            is_shared=True,
        ).prepared()

    @property
    def inner(self) -> AbstractFlow:
        """The prepared one."""
        return self.prepared()
