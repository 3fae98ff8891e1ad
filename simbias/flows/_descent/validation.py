"""Arguments of `Descent` that do not go together are refused."""

from collections.abc import Mapping
from typing import Any, get_args

import jax

from simbias.errors import BadInput
from simbias.flows._descent.batches import Sampling
from simbias.flows._descent.optimisers import CONSTANTS, has_own_rate
from simbias.validation.values import below_one, not_negative


def check_batches(
    batch: int | None, sampling: Sampling, fork: Any, branch: Any
) -> None:
    """Refuse rows that are drawn without a batch, and a fork that is none.

    Raises:
        ValueError: naming the argument.
    """
    if sampling not in get_args(Sampling):
        raise BadInput(
            f"`sampling` must be one of {get_args(Sampling)}, got {sampling!r}."
        )
    if batch is None and sampling != "epochs":
        raise BadInput(
            f'`batch` must be given with sampling="{sampling}": it is the number of '
            "rows of a step. Example: batch=128."
        )
    for name, value in (("fork", fork), ("branch", branch)):
        if value is None or isinstance(value, jax.Array):
            continue
        is_integer = isinstance(value, int) and not isinstance(value, bool)
        if not (is_integer and 0 <= value < 2**31):
            raise BadInput(
                f"`{name}` must be an integer from 0 to 2³¹ − 1, got {value!r}. "
                f"Example: {name}=1."
            )
    if fork is not None and batch is None:
        raise BadInput(
            "`fork` is where the order of mini-batches changes, and there are none "
            "without a `batch`. Example: batch=128."
        )
    if fork is None and isinstance(branch, int) and branch > 0:
        raise BadInput(
            "`branch` is the order of batches from `fork` on, which is not given, "
            f"got branch={branch}. Example: fork=0."
        )


def check_constants(optimiser: str, constants: Mapping[str, Any]) -> None:
    """Refuse what is no constant of an optimiser with a name, or out of range.

    Raises:
        ValueError: naming the constant.
    """
    for name, value in constants.items():
        if value is None:
            continue
        if name not in CONSTANTS[optimiser] and name != "weight_decay":
            raise BadInput(
                f'`{name}` is no constant of "{optimiser}", got {value}. Leave it out '
                "or change `optimiser`."
            )
        check = below_one if name in ("decay", "beta2") else not_negative
        check(name, value)


def check_left_out(
    optimiser: Any, constants: Mapping[str, Any], rates: Mapping[str, Any]
) -> None:
    """Refuse what an optimiser of optax has been given itself.

    Raises:
        ValueError: naming the argument.
    """
    for name, value in constants.items():
        if value is not None:
            raise BadInput(
                f"`{name}` is for an optimiser with a name, got {value} beside one of "
                "optax. Give it its constants: functools.partial(optax.adamw, "
                "weight_decay=0.1)."
            )
    if not has_own_rate(optimiser):
        return
    for name, value in rates.items():
        if value is not None:
            raise BadInput(
                f"`{name}` must be left out beside a transformation, which has a rate "
                f"of its own, got {value}. Or give a function of the rate: "
                "optimiser=optax.lion, not optax.lion(0.1)."
            )
