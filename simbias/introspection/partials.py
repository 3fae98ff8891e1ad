"""The function that a `functools.partial` was made of."""

import functools
from typing import Any


def whole(function: Any) -> Any:
    """The function itself, if it is no partial."""
    while isinstance(function, functools.partial):
        function = function.func
    return function
