"""Factorisations of matrices one at a time, and where a program makes several at once.

Before jaxlib 0.11.2 a CPU shares the matrices of one call of `qr`, `svd` or their like
out among a pool of threads and waits for them on a thread of the same pool.  When as
many calls wait as there are threads, two in one program or one in each of two, nobody
is left to do what they wait for: the process hangs for ever, without a message.  A
call with one matrix waits for nobody.
"""

from collections.abc import Callable
from typing import Any

import jax

# Of jax.lax.linalg, and what they are made of.
_KINDS = {
    "cholesky",
    "eig",
    "eigh",
    "geqrf",
    "hessenberg",
    "householder_product",
    "lu",
    "qr",
    "schur",
    "svd",
    "triangular_solve",
    "tridiagonal",
    "tridiagonal_solve",
}


def in_turn(f: Callable[..., Any], *arguments: Any) -> Any:
    """`f` of the first entries of all arguments, of the second, …: stacked.

    As `jax.vmap(f)(*arguments)`, but for the last digits, in a loop.
    """
    return jax.lax.map(lambda one: f(*one), arguments)


def at_once(program: Any) -> set[str]:
    """Factorisations of several matrices in one call, by name.

    Args:
        program: what `jax.make_jaxpr` returns.
    """
    return _of(program.jaxpr, set())


def _of(jaxpr: Any, seen: set[int]) -> set[str]:
    """Those of a program in which `seen` was looked through already."""
    found = set()
    for equation in jaxpr.eqns:
        kind = equation.primitive.name
        if kind in _KINDS and any(len(v.aval.shape) > 2 for v in equation.invars):
            found.add(kind)
        for inner in jax.tree.leaves(list(equation.params.values())):
            inner = getattr(inner, "jaxpr", inner)
            if hasattr(inner, "eqns") and id(inner) not in seen:
                seen.add(id(inner))
                found |= _of(inner, seen)
    return found
