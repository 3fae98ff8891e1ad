"""One experiment in several sizes."""

import dataclasses
import difflib
from collections.abc import Mapping
from typing import Any, Protocol, runtime_checkable

from simbias.core import CellValue, Experiment
from simbias.errors import BadInput


@runtime_checkable
class Sizes(Protocol):
    """`experiment` of a file of `simbias.experiments`."""

    def __call__(
        self, preset: str = "quick", **cell: CellValue | tuple[CellValue, ...]
    ) -> Experiment:
        """The experiment; keyword arguments replace values of the cell."""
        ...


def presets(
    quick: Experiment, *, smoke: Mapping[str, Any], paper: Mapping[str, Any]
) -> Sizes:
    """`experiment(preset="quick", **cell)` of a file of `simbias.experiments`.

    Args:
        quick: the default, minutes on two cores.
        smoke: fields in which the smallest size differs, under a minute, most of it
            compiling.  Values of its `cell` replace those of the cell of `quick`; None
            takes one away.
        paper: the same for what was published, on an accelerator.

    Returns:
        A function of the name of the preset and of values of the cell to replace; it
        raises a ValueError for any other name.
    """
    known: dict[str, Mapping[str, Any]] = {"smoke": smoke, "quick": {}, "paper": paper}

    def experiment(preset: str = "quick", **cell: Any) -> Experiment:
        """The experiment; keyword arguments replace values of the cell."""
        if preset not in known:
            close = difflib.get_close_matches(str(preset), known, n=1)
            raise BadInput(
                f"`preset` must be one of {', '.join(known)}, got {preset!r}."
                + (f" Did you mean {close[0]!r}?" if close else "")
            )
        chosen = dict(known[preset])
        own = {**quick.cell, **chosen.pop("cell", {})}
        whole = {k: v for k, v in own.items() if v is not None} | cell
        return dataclasses.replace(quick, cell=whole, **chosen)

    return experiment
