"""`simbias list`."""

import dataclasses

import tyro

from simbias.registry import titles


@dataclasses.dataclass(frozen=True)
class ListOptions:
    """The experiments and what each one shows; [package] if another one brings it."""


def list_experiments(arguments: list[str]) -> int:
    """Print the experiments and what each one shows."""
    tyro.cli(ListOptions, args=arguments, prog="simbias list")
    known = titles()
    width = max(map(len, known))
    for name, title in known.items():
        print(f"{name:{width}s} {title}")
    return 0
