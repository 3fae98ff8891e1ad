"""simbias: many small neural networks at once, exactly, to see what training prefers.

    from simbias.experiments import threshold
    ds = simbias.simulate(threshold.experiment(n=(12, 50, 200)), progress=True)

The nouns are in `simbias.core`; datasets, networks, flows, measures and experiments
are one per file in the folders of those names.  Nothing is imported before it is used.
"""

import importlib
from typing import Any

import lazy_loader

_get, __dir__, __all__ = lazy_loader.attach_stub(__name__, __file__)


def __getattr__(name: str) -> Any:
    if name == "__version__":
        return importlib.import_module("importlib.metadata").version("simbias")
    return _get(name)
