"""Whether what a user wrote gives the same when it is called again."""

import re
from collections.abc import Callable, Iterator, Mapping
from typing import Any

import equinox as eqx
import jax
import jax.numpy as jnp
import numpy as np
from jax.experimental.xla_metadata import set_xla_metadata

from simbias.core import Experiment
from simbias.ensemble.configuration import source
from simbias.ensemble.grid import Cell
from simbias.ensemble.keys import member_key
from simbias.ensemble.lane import Lane, of_original
from simbias.ensemble.members import draw, maker
from simbias.errors import BadInput
from simbias.introspection.identity import array_identity

# A program: its text without addresses, and its constants.
_Program = tuple[str, list[Any]]
_ADDRESS = re.compile(r" at 0x[0-9a-f]+")


def check_repeats(experiment: Experiment, cell: Cell, lane: Lane) -> None:
    """Refuse a `make`, a loss or a measure that is another one when called again.

    Each is traced twice, with one key, which costs no compiling.  What simbias brings
    is not looked at, nor what a callback computes on the host.

    Args:
        experiment: whose functions they are.
        cell: of the members that are drawn.
        lane: one of them, without its values.

    Raises:
        ValueError: naming it.
    """
    if source(experiment) is None:
        return
    key = member_key(experiment.root, cell, 0)
    drawn = lambda numbers: draw(maker(experiment), cell.sizes, numbers, key)
    numbers = {k: jnp.asarray(np.asarray(v)) for k, v in cell.numbers.items()}
    first, again = _programs(drawn, numbers)
    if not _is_same(first, again):
        raise BadInput(
            "`make` must be a function of its key, but two calls with the same key "
            "gave different datasets or networks. It may use a generator of NumPy or "
            "Python, the time, or a global that it changes. Use the key instead. "
            "Example: jax.random.normal(key, (n, d))."
        )
    data, network = lane.data, lane.state.network
    measures: Mapping[str, Any] = {**experiment.measures, **experiment.final}
    others = {f"measure `{k}`": of_original(v) for k, v in measures.items()}
    others["`loss`"] = lambda network, data: experiment.loss(
        jax.vmap(network)(data.x), data.y, data.weight
    )
    for name, function in others.items():
        if not _is_same(*_programs(function, network, data)):
            raise BadInput(
                f"{name} must be a function of its arguments, but two calls with the "
                "same arguments gave different values. It may use a generator of NumPy "
                "or Python, the time, or a global that it changes. Use a fixed key. "
                "Example: jax.random.normal(jax.random.key(0), (n, d))."
            )


def _programs(f: Callable[..., Any], *arguments: Any) -> list[_Program]:
    """Two programs of a function, traced one after the other."""
    arrays, rest = eqx.partition(arguments, _is_array)
    arrays_of = lambda *arrays: eqx.filter(f(*eqx.combine(arrays, rest)), eqx.is_array)
    out = []
    for count in ("first", "again"):
        # Functions inside that are jitted are traced anew in another context.
        with set_xla_metadata(simbias=count):
            traced = jax.make_jaxpr(arrays_of)(*arrays)
        out.append((_ADDRESS.sub("", str(traced)), [*_constants(traced)]))
    return out


def _is_array(value: Any) -> bool:
    return eqx.is_array(value) or isinstance(value, jax.ShapeDtypeStruct)


def _constants(program: Any) -> Iterator[Any]:
    """Arrays that a program, or one inside of it, holds."""
    yield from getattr(program, "consts", ())
    inner = getattr(program, "jaxpr", program)
    for equation in inner.eqns:
        yield from (v.val for v in equation.invars if hasattr(v, "val"))
        for parameter in equation.params.values():
            parts = parameter if isinstance(parameter, tuple | list) else [parameter]
            for part in parts:
                if hasattr(getattr(part, "jaxpr", part), "eqns"):
                    yield from _constants(part)


def _is_same(first: _Program, again: _Program) -> bool:
    (text, held), (other, others) = first, again
    if text != other or len(held) != len(others):
        return False
    return all(map(_is_equal, held, others))


def _is_equal(one: Any, other: Any) -> bool:
    if one is other:
        return True
    if not hasattr(one, "dtype"):
        one, other = np.asarray(one), np.asarray(other)
    return array_identity(one) == array_identity(other)
