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
    Experiment,
    FlowState,
    Status,
)
from simbias.ensemble.engine import exact_numerics
from simbias.errors import BadInput
from simbias.recall.evaluate import evaluate
from simbias.recall.member import Member, member
from simbias.recall.redraw import redraw
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
    "Experiment",
    "FlowState",
    "Member",
    "Status",
    "Trajectory",
    "cache_programs",
    "draw",
    "evaluate",
    "exact_numerics",
    "judge",
    "member",
    "open_result",
    "redraw",
    "simulate",
    "solve",
]
