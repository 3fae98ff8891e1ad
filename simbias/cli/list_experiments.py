"""`simbias list`."""

import dataclasses
import json as _json

import tyro

from simbias.cli._terminal import put
from simbias.registry import themes, titles, variants


@dataclasses.dataclass(frozen=True)
class ListOptions:
    """The experiments and their variants, by theme; [package] if from another one."""

    json: bool = False
    """Print JSON: theme, its subject, name, title and variants of each."""


def list_experiments(arguments: list[str]) -> int:
    """Print the experiments and what each one shows."""
    parsed = tyro.cli(ListOptions, args=arguments, prog="simbias list")
    known, groups = titles(), themes()
    if parsed.json:
        rows = [
            {
                "theme": theme,
                "about": about,
                "name": name,
                "title": known[name],
                "variants": variants(name),
            }
            for theme, (about, names) in groups.items()
            for name in names
        ]
        put(_json.dumps(rows, indent=1))
        return 0
    width = max(map(len, known))
    for i, (theme, (about, names)) in enumerate(groups.items()):
        put("\n" * (i > 0) + f"{theme or 'others'}: {about}".rstrip(": "))
        for name in names:
            put(f"  {name:{width}s} {known[name]}")
            for variant in variants(name):
                put(f"  {'':{width}s} --preset {variant}")
    return 0
