"""What `make` asks of the numbers of a cell, found out before anything runs."""

from collections.abc import Callable, Mapping
from typing import Any

import equinox as eqx
import jax
import jax.numpy as jnp
import numpy as np

from simbias.errors import BadInput

Numbers = Mapping[str, int | float]


def check_traced(
    name: str, drawn: Callable[[Mapping], Any], numbers: Numbers, like: Any
) -> None:
    """Refuse a `make` that cannot do with numbers whose values it does not see.

    Args:
        name: of the experiment.
        drawn: what is drawn with these numbers; with their values it succeeds.
        numbers: of a cell, by name.
        like: what is drawn with their values.

    Raises:
        ValueError: naming the arguments; or for a network that is another one each
            time it is drawn.
    """
    found, error = _tried(drawn, numbers, numbers)
    if error is None:
        if jax.tree.structure(found) != jax.tree.structure(like):
            raise BadInput(
                f"`make` of {name} returns a network whose static fields differ in "
                "each call. Either it holds a number of the cell "
                f"({', '.join(numbers) or 'none here'}): write jnp.asarray(number) if "
                "it is trained, else Buffer(jnp.asarray(number)). Or it holds a "
                "function in a static field: define that function outside `make`."
            )
        return
    met = str(error).strip().splitlines()[0]
    if not numbers:
        raise BadInput(
            f"`make` of {name} fails when JAX traces it a second time: {met}"
        ) from error
    alone = [k for k in numbers if _tried(drawn, numbers, {k: numbers[k]})[1]]
    culprits = ", ".join(f"`{k}`" for k in alone or numbers)
    raise BadInput(
        f"`make` of {name} must not use the value of {culprits} in Python: arguments "
        "that are floats, or annotated `Index`, are traced, so that a sweep over them "
        "compiles once. They must not determine a shape or an `if`; write jnp.where. "
        "If they have to, annotate them as int, bool or str. Message of JAX: "
        f"{met}"
    ) from error


def _tried(
    drawn: Callable[[Mapping], Any], numbers: Numbers, hidden: Numbers
) -> tuple[Any, Exception | None]:
    """What is drawn if some of the numbers are hidden, or what goes wrong."""
    arrays = {k: jnp.asarray(np.asarray(v)) for k, v in hidden.items()}
    try:
        seen = lambda seen: drawn({**numbers, **seen})
        return eqx.filter_eval_shape(seen, arrays), None
    except Exception as error:  # of any kind: with the values all was well
        return None, error
