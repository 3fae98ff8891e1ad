"""simbias: many small neural networks at once, exactly, to see what training prefers.

    from simbias.experiments import threshold
    ds = simbias.simulate(threshold.experiment(n=(12, 50, 200)), progress=True)

The nouns are in `simbias.core`; datasets, networks, flows, measures and experiments
are one per file in the folders of those names.
"""

import importlib.metadata

from simbias.compiled import cache_programs
from simbias.core import (
    AbstractFlow,
    AbstractMeasure,
    AbstractNetwork,
    AbstractStop,
    Claim,
    Dataset,
    Estimate,
    Experiment,
    FlowState,
    Status,
)
from simbias.ensemble.engine import exact_numerics
from simbias.errors import BadInput
from simbias.redraw import redraw
from simbias.results import open_result
from simbias.shown import draw, judge
from simbias.simulate import Trajectory, simulate, solve

__version__ = importlib.metadata.version("simbias")

__all__ = [
    "AbstractFlow",
    "AbstractMeasure",
    "AbstractNetwork",
    "AbstractStop",
    "BadInput",
    "Claim",
    "Dataset",
    "Estimate",
    "Experiment",
    "FlowState",
    "Status",
    "Trajectory",
    "cache_programs",
    "draw",
    "exact_numerics",
    "judge",
    "open_result",
    "redraw",
    "simulate",
    "solve",
]
