"""`simbias new NAME`: a file with an experiment of your own."""

import dataclasses
import pathlib
from typing import Annotated

import tyro

from simbias.cli._terminal import put
from simbias.errors import BadInput

# A module like any other, read and not imported.
_TEMPLATE = pathlib.Path(__file__).with_name("_template.py")


@dataclasses.dataclass(frozen=True)
class NewOptions:
    """Write NAME.py: an experiment with its data, measure, figure and claim.

    It runs as it is: simbias run NAME.py
    """

    name: Annotated[str, tyro.conf.Positional]
    """Name of the experiment or of its file."""


def new(arguments: list[str]) -> int:
    """Write a file with an experiment of your own."""
    parsed = tyro.cli(NewOptions, args=arguments, prog="simbias new")
    if not pathlib.Path(parsed.name).name:
        raise BadInput("`name` must not be empty. Example: simbias new mine.")
    file = pathlib.Path(parsed.name)
    file = file if file.suffix == ".py" else file.with_name(f"{file.name}.py")
    if not file.stem.isidentifier():
        raise BadInput(
            f"`name` must be a Python identifier, got {file.stem!r}. Example: mine."
        )
    text = _TEMPLATE.read_text(encoding="utf-8").replace('"mine"', f'"{file.stem}"')
    try:
        with file.open("x", encoding="utf-8") as opened:
            opened.write(text)
    except FileExistsError:
        raise BadInput(
            f"{file} exists already; nothing was written. Choose another name."
        ) from None
    put(f"{file}\n\nNext:\n\n  simbias run {file}")
    return 0
