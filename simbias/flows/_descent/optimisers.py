"""The optimisers of `Descent`: those with a name, and any of optax."""

import inspect
from collections.abc import Callable, Mapping
from typing import Any, Literal

import jax
import jax.numpy as jnp
import optax
from jaxtyping import Array, Bool, Float, PyTree

from simbias.core import Real
from simbias.errors import BadInput
from simbias.flows._descent.keys import check_draws

OptimiserName = Literal["gd", "momentum", "nesterov", "adam", "adamw"]


class Family:
    """In the place of a name: whichever the coefficients say.  All are one."""

    def __eq__(self, other: object) -> bool:
        return isinstance(other, Family)

    def __hash__(self) -> int:
        return hash(Family)


# A name, a function of the rate, or what has a rate of its own.
Optimiser = (
    OptimiserName
    | Family
    | optax.GradientTransformation
    | Callable[..., optax.GradientTransformation]
)

# Constants of each optimiser, with the values most papers leave them at.
CONSTANTS: dict[str, dict[str, float]] = {
    "gd": {},
    "momentum": {"decay": 0.9},
    "nesterov": {"decay": 0.9},
    "adam": {"decay": 0.9, "beta2": 0.999, "epsilon": 1e-8},
    "adamw": {"decay": 0.9, "beta2": 0.999, "epsilon": 1e-8, "weight_decay": 1e-2},
}


def has_own_rate(optimiser: Any) -> bool:
    """True for a transformation, such as `optax.adamw(1e-3)`."""
    return isinstance(optimiser, optax.GradientTransformation)


def check_optimiser(optimiser: Any, rate: Any) -> None:
    """Refuse what is no optimiser.

    Raises:
        ValueError: naming `optimiser`.
    """
    is_ours = isinstance(optimiser, Family) or (
        isinstance(optimiser, str) and optimiser in CONSTANTS
    )
    if has_own_rate(optimiser) or is_ours:
        return
    known = (
        f"`optimiser` must be one of {tuple(CONSTANTS)}, a function of the rate such "
        "as optax.lion, or a transformation such as optax.adamw(1e-3)"
    )
    if isinstance(optimiser, str) or not callable(optimiser):
        raise BadInput(
            f'{known}, got {optimiser!r}. SGD is optimiser="gd" with a `batch`.'
        )
    try:
        made = from_rate(optimiser, rate)
    except Exception as error:  # of any kind: it is not ours
        raise BadInput(f"{known}; of the rate alone it fails: {error}") from error
    if not has_own_rate(made):
        raise BadInput(f"{known}; of the rate it makes a {type(made).__name__}.")


def from_rate(optimiser: Any, rate: Real | None) -> Any:
    """What a function of the rate makes; a transformation as it is."""
    if has_own_rate(optimiser):
        return optimiser
    with jax.numpy_dtype_promotion("standard"):
        return optimiser(rate)


def named(
    name: str, rate: Float[Array, ""], constants: Mapping[str, Float[Array, ""]]
) -> optax.GradientTransformation:
    """An optimiser of ours."""
    return _TRANSFORMS[name](rate, **constants)


def first_memory(transform: Any, params: PyTree, **extra: Any) -> PyTree:
    """Memory at time 0 of a transformation of any kind; `extra` as in `updated`.

    Raises:
        ValueError: if it cannot take a step, remembers something else after one, has
            its result in its memory, or draws from a key that it does not remember.
    """
    step = lambda params, memory: updated(transform, params, memory, params, **extra)
    try:
        with jax.numpy_dtype_promotion("standard"):
            memory = jax.tree.map(jnp.asarray, transform.init(params))
            updates, after = jax.eval_shape(step, params, memory)
    except Exception as error:  # of any kind: it is not ours
        why = (str(error).strip() or repr(error)).splitlines()[0]
        raise BadInput(f"`optimiser` cannot take a step here: {why}") from error
    kinds = {str(leaf.dtype) for leaf in jax.tree.leaves(updates)}
    if found := [kind for kind in kinds if kind.startswith("complex")]:
        raise BadInput(
            f"`optimiser` must move the weights by real numbers, got {found[0]}: its "
            "rate or one of its constants is complex."
        )
    if jax.tree.structure(after) != jax.tree.structure(memory):
        raise BadInput(
            "`optimiser` remembers something else after a step than before, "
            f"{jax.tree.structure(after)} and {jax.tree.structure(memory)}."
        )
    _refuse_averages(memory)
    # Of the optimiser alone: a network may draw from what key it likes.
    squares = lambda params: sum(jnp.sum(leaf**2) for leaf in jax.tree.leaves(params))
    alone = {**extra, "value_fn": squares}
    with jax.numpy_dtype_promotion("standard"):
        check_draws(
            lambda held: updated(transform, params, held, params, **alone), memory
        )
    return memory


def _refuse_averages(memory: PyTree) -> None:
    """Refuse an optimiser whose weights to measure are not those that it steps."""
    averages = optax.contrib.ScheduleFreeState
    is_average = lambda v: isinstance(v, averages)
    if any(map(is_average, jax.tree.leaves(memory, is_leaf=is_average))):
        raise BadInput(
            "`optimiser` is schedule-free: it updates the weights y, but its result is "
            "x, which lies in its memory, and measures would read y. Example: "
            "optimiser=optax.adamw, with a `schedule`."
        )


def updated(
    transform: Any, gradient: PyTree, memory: PyTree, params: PyTree, **extra: Any
) -> tuple[PyTree, PyTree]:
    """Updates and memory after a step of a transformation of any kind.

    Args:
        transform: of optax.
        gradient: at `params`.
        memory: before the step.
        params: the weights.
        **extra: `value` and `value_fn` of the loss, which line searches ask for.
    """
    takes_more = optax.with_extra_args_support(transform)
    offered = {"grad": gradient, **extra}
    parameters = inspect.signature(takes_more.update).parameters
    if "grad_fn" in parameters:  # sharpness-aware minimisation
        offered["grad_fn"] = lambda params, _: jax.grad(extra["value_fn"])(params)
    if all(p.kind != p.VAR_KEYWORD for p in parameters.values()):
        offered = {k: v for k, v in offered.items() if k in parameters}
    updates, after = takes_more.update(gradient, memory, params, **offered)
    # A state keeps its types, whatever the constants inside are.
    same = lambda new, old: jnp.asarray(new).astype(old.dtype)
    if jax.tree.structure(after) == jax.tree.structure(memory):
        after = jax.tree.map(same, after, memory)
    return updates, after


def stays_finite(old: PyTree, new: PyTree) -> Bool[Array, ""]:
    """False if a number of a memory has become NaN or infinite.

    Some begin so, such as the best value so far.
    """
    stays = lambda old, new: jnp.all(jnp.isfinite(new) | ~jnp.isfinite(old))
    pairs = zip(jax.tree.leaves(old), jax.tree.leaves(new), strict=True)
    floats = [p for p in pairs if jnp.issubdtype(p[0].dtype, jnp.inexact)]
    return jnp.all(jnp.stack([jnp.array(True), *(stays(*p) for p in floats)]))


def _gd(rate: Float[Array, ""]) -> optax.GradientTransformation:
    return optax.sgd(rate)


def _momentum(
    rate: Float[Array, ""], decay: Float[Array, ""]
) -> optax.GradientTransformation:
    return optax.sgd(rate, momentum=decay)


def _nesterov(
    rate: Float[Array, ""], decay: Float[Array, ""]
) -> optax.GradientTransformation:
    return optax.sgd(rate, momentum=decay, nesterov=True)


def _adam(
    rate: Float[Array, ""],
    decay: Float[Array, ""],
    beta2: Float[Array, ""],
    epsilon: Float[Array, ""],
) -> optax.GradientTransformation:
    return optax.adam(rate, b1=decay, b2=beta2, eps=epsilon)


def _adamw(
    rate: Float[Array, ""],
    decay: Float[Array, ""],
    beta2: Float[Array, ""],
    epsilon: Float[Array, ""],
    weight_decay: Float[Array, ""],
) -> optax.GradientTransformation:
    return optax.adamw(rate, b1=decay, b2=beta2, eps=epsilon, weight_decay=weight_decay)


_TRANSFORMS = {
    "gd": _gd,
    "momentum": _momentum,
    "nesterov": _nesterov,
    "adam": _adam,
    "adamw": _adamw,
}
