"""Stores that are made for counting, with members that nobody needs to compute."""

import contextlib

from simbias.core import Experiment
from simbias.experiments import threshold
from simbias.flows.descent import Descent
from simbias.losses import half_mse
from simbias.measures.risk.train_risk import TrainRisk
from simbias.store import creation


def tiny(seeds: int) -> Experiment:
    """Members with four columns, which nobody needs to compute."""
    return Experiment(
        name="tiny",
        make=threshold.make,
        cell={"n": 8, "m": 8, "d": 2, "sigma": 0.3, "scale": 0.1, "n_test": 1},
        seeds=seeds,
        flow=Descent(),
        loss=half_mse,
        times=(1.0,),
        measures={"train_risk": TrainRisk()},
    )


@contextlib.contextmanager
def sized(block: int):
    """Stores whose blocks have this many members."""
    before = creation._LARGEST_BLOCK, creation._SMALLEST_BLOCK
    creation._LARGEST_BLOCK = creation._SMALLEST_BLOCK = block
    try:
        yield
    finally:
        creation._LARGEST_BLOCK, creation._SMALLEST_BLOCK = before
