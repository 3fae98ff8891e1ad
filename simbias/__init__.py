"""simbias: many small neural networks at once, exactly, to see what training prefers.

    from simbias.experiments import threshold
    ds = simbias.simulate(threshold.experiment(n=(12, 50, 200)), progress=True)

An experiment      Experiment, presets; Dataset, DrawnFrom; Real and Index, the numbers
                   that are traced
A flow             ReluFlow, DeepReluFlow, GradientFlow, Descent
Run and read       simulate, solve, open_result; Status and BadInput say what went wrong
Figures, claims    draw, check; Claim, Estimate
Results            evaluate, compare, export; member, initial, neuron_history, animate;
                   derivative
Classes of yours   AbstractNetwork, AbstractFlow, AbstractMeasure, AbstractStop
The process        cache_programs, exact_numerics
Modules            datasets, networks, flows, losses, measures, stops, theory, analysis,
                   claims, figures, experiments; core has the other nouns

Nothing is imported before it is used.
"""

import importlib
from typing import Any

import lazy_loader

_get, __dir__, __all__ = lazy_loader.attach_stub(__name__, __file__)


def __getattr__(name: str) -> Any:
    if name == "__version__":
        return importlib.import_module("importlib.metadata").version("simbias")
    return _get(name)
