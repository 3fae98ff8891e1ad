"""What `make` of an experiment takes after the key."""

import inspect

import numpy as np

from simbias.core import Make
from simbias.errors import BadInput

_VALUES = (bool, int, float, str)


def parameters_of(make: Make) -> dict[str, inspect.Parameter]:
    """Parameters of `make` after the key: what a cell may hold.

    Annotations that are texts are read (PEP 563 makes texts of all in a module).

    Raises:
        ValueError: if `make` does not take a key first, or has an annotation that names
            nothing.
    """
    try:
        signature = inspect.signature(make, eval_str=True)
    except (NameError, SyntaxError, AttributeError) as error:
        raise BadInput(
            f"an annotation of `make` cannot be evaluated: {error}. Import the name at "
            "run time, outside `if TYPE_CHECKING`."
        ) from error
    first, *rest = [*signature.parameters.values(), None]
    if first is None or first.kind in (first.KEYWORD_ONLY, first.VAR_KEYWORD):
        raise BadInput(
            "the first argument of `make` must be a random key. Example: def make(key, "
            "*, n: int = 50)."
        )
    return {p.name: _plain(p) for p in rest if p is not None and _is_argument(p)}


def _is_argument(parameter: inspect.Parameter) -> bool:
    """False for what a function was made with, as in lambda key, law=law: f(law)."""
    default = parameter.default
    is_value = default is parameter.empty or isinstance(default, (*_VALUES, np.generic))
    if parameter.kind is parameter.KEYWORD_ONLY:
        return is_value or default is None
    return parameter.kind is parameter.POSITIONAL_OR_KEYWORD and is_value


def _plain(parameter: inspect.Parameter) -> inspect.Parameter:
    default = parameter.default
    if isinstance(default, np.generic):
        return parameter.replace(default=default.item())
    return parameter
