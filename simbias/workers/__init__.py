"""Who places the workers of a stored run: this machine, Slurm, Ray or Dask.

What they place is a process that sees the store, and is the same for all.
"""

import lazy_loader

__getattr__, __dir__, __all__ = lazy_loader.attach_stub(__name__, __file__)
