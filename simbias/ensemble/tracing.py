"""What `make` asks of the numbers of a cell, found out before anything runs."""

from collections.abc import Callable, Mapping
from typing import Any

import equinox as eqx
import jax.numpy as jnp
import numpy as np

from simbias.errors import BadInput

Numbers = Mapping[str, int | float]


def check_traced(name: str, drawn: Callable[[Mapping], Any], numbers: Numbers) -> None:
    """Refuse a `make` that cannot do with numbers whose values it does not see.

    Args:
        name: of the experiment.
        drawn: what is drawn with these numbers; with their values it succeeds.
        numbers: of a cell, by name.

    Raises:
        ValueError: naming the arguments.
    """
    error = _error(drawn, numbers, numbers) if numbers else None
    if error is None:
        return
    alone = [k for k in numbers if _error(drawn, numbers, {k: numbers[k]})]
    culprits = ", ".join(f"`{k}`" for k in alone or numbers)
    raise BadInput(
        f"`make` of {name} asks for the value of {culprits}, which it does not see: a "
        "sweep over floats, and over what is annotated `Index`, compiles once. Such a "
        "number may decide no shape, and no `if` (write jnp.where). One that must is "
        "an int, a bool or a str, annotated as such. What was met: "
        f"{str(error).strip().splitlines()[0]}"
    ) from error


def _error(
    drawn: Callable[[Mapping], Any], numbers: Numbers, hidden: Numbers
) -> Exception | None:
    """What goes wrong if some of the numbers are hidden."""
    arrays = {k: jnp.asarray(np.asarray(v)) for k, v in hidden.items()}
    try:
        eqx.filter_eval_shape(lambda seen: drawn({**numbers, **seen}), arrays)
    except Exception as error:  # of any kind: with the values all was well
        return error
    return None
