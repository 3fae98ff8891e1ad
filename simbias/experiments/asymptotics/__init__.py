"""Asymptotics: infinitely many samples or neurons, and a start of size 0."""

import lazy_loader

__getattr__, __dir__, __all__ = lazy_loader.attach_stub(__name__, __file__)
