"""What the whole check takes and finds, by theme, as a table."""

import collections
import pathlib
from typing import Any

from claims_shown import runs_of

from simbias.core import VERDICTS


def times(
    themes: dict[str, list[pathlib.Path]], checked: dict[str, dict[str, Any]]
) -> str:
    """A line for every theme and one for all of them.

    Args:
        themes: name of the folder -> files of its experiments.
        checked: the stored check of every experiment and variant.
    """
    lines = [
        f"| theme | experiments | {' | '.join(VERDICTS)} | minutes |",
        "|---" * (3 + len(VERDICTS)) + "|",
    ]
    every = [path for paths in themes.values() for path in paths]
    for theme, paths in [*themes.items(), ("**all**", every)]:
        names = [path.stem for path in paths if path.stem in checked]
        ones = [checked[run] for run in runs_of(names) if run in checked]
        found = collections.Counter(c["verdict"] for one in ones for c in one["claims"])
        counts = " | ".join(str(found[verdict]) for verdict in VERDICTS)
        known = [one["seconds"] for one in ones if one["seconds"] is not None]
        minutes = f"{'over ' * (len(known) < len(ones))}{sum(known) / 60:.1f}"
        lines.append(f"| {theme} | {len(names)} | {counts} | {minutes} |")
    return "".join(f"{line}\n" for line in lines)
