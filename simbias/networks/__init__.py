"""Networks and their initial laws: a pytree and the functions that draw it."""

import lazy_loader

__getattr__, __dir__, __all__ = lazy_loader.attach_stub(__name__, __file__)
