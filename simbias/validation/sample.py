"""A check of names, for laws that come in several variants."""

from collections.abc import Sequence

from simbias.errors import BadInput


def one_of(name: str, value: str, choices: Sequence[str]) -> None:
    """Raise ValueError unless `value` is one of the choices."""
    if value not in choices:
        raise BadInput(
            f"`{name}` must be one of {', '.join(choices)}, got {value!r}. "
            f'Example: {name}="{choices[0]}".'
        )
