"""What `make` of an experiment takes after the key."""

import inspect

from simbias.core import Make
from simbias.errors import BadInput


def parameters_of(make: Make) -> dict[str, inspect.Parameter]:
    """Parameters of `make` after the key: what a cell may hold.

    Raises:
        ValueError: if `make` does not take a key first.
    """
    first, *rest = [*inspect.signature(make).parameters.values(), None]
    if first is None or first.kind in (first.KEYWORD_ONLY, first.VAR_KEYWORD):
        raise BadInput(
            "`make` must take a key first. Example: def make(key, *, n: int = 50)."
        )
    return {p.name: p for p in rest if p is not None and _is_argument(p)}


def _is_argument(parameter: inspect.Parameter) -> bool:
    if parameter.kind is parameter.KEYWORD_ONLY:
        return True
    default = parameter.default
    # Any other default is what the function was made with: lambda key, law=law: …
    is_value = default is parameter.empty or isinstance(default, (int, float, str))
    return parameter.kind is parameter.POSITIONAL_OR_KEYWORD and is_value
