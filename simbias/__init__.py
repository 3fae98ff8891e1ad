"""simbias: many small neural networks at once, exactly, to see what training prefers.

    from simbias.experiments import threshold
    ds = simbias.simulate(threshold.experiment(n=(12, 50, 200)), progress=True)

The nouns are in `simbias.core`; datasets, networks, flows, measures and experiments
are one per file in the folders of those names.  Nothing is imported before it is used.
"""

import importlib
import sys
import types
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
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
    from simbias.recall.evaluate import evaluate
    from simbias.recall.member import Member, member
    from simbias.recall.redraw import redraw
    from simbias.results import open_result
    from simbias.shown import draw, judge
    from simbias.simulate import Trajectory, simulate, solve

    __version__: str

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
# Where those are that are not in `core`.
_HOMES = {
    "BadInput": "errors",
    "Trajectory": "simulate",
    "cache_programs": "compiled",
    "draw": "shown",
    "exact_numerics": "ensemble.engine",
    "judge": "shown",
    "open_result": "results",
    "evaluate": "recall.evaluate",
    "Member": "recall.member",
    "member": "recall.member",
    "redraw": "recall.redraw",
    "simulate": "simulate",
    "solve": "simulate",
}


class _Package(types.ModuleType):
    """`simbias.simulate` is the function, whoever has imported the module before."""

    def __getattr__(self, name: str) -> Any:
        if name == "__version__":
            return importlib.import_module("importlib.metadata").version("simbias")
        if name in __all__:
            home = importlib.import_module(f"simbias.{_HOMES.get(name, 'core')}")
            value = getattr(home, name)
            setattr(self, name, value)
            return value
        if not name.startswith("_"):
            try:
                return importlib.import_module(f"simbias.{name}")
            except ModuleNotFoundError as error:
                if error.name != f"simbias.{name}":
                    raise
        raise AttributeError(f"module 'simbias' has no attribute {name!r}")

    def __setattr__(self, name: str, value: Any) -> None:
        if name in __all__ and isinstance(value, types.ModuleType):
            value = getattr(value, name)
        super().__setattr__(name, value)

    def __dir__(self) -> list[str]:
        return sorted({*super().__dir__(), *__all__, "__version__"})


sys.modules[__name__].__class__ = _Package
