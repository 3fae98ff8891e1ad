"""One experiment in several sizes."""

import dataclasses
import difflib
import inspect
from collections.abc import Mapping
from typing import Any, Protocol, runtime_checkable

from simbias.core import Experiment
from simbias.errors import BadInput


@runtime_checkable
class Sizes(Protocol):
    """`experiment` of a file of `simbias.experiments`."""

    def __call__(self, preset: str = "quick", **changes: Any) -> Experiment:
        """The experiment; keywords replace values of its cell, or its fields."""
        ...


def presets(
    quick: Experiment, *, smoke: Mapping[str, Any], paper: Mapping[str, Any]
) -> Sizes:
    """`experiment(preset="quick", **changes)` of a file of `simbias.experiments`.

    Args:
        quick: the default, minutes on two cores.
        smoke: fields in which the smallest size differs, under a minute, most of it
            compiling.  Values of its `cell` replace those of the cell of `quick`; None
            takes one away.
        paper: the same for what was published, most of it for an accelerator.

    Returns:
        A function of the name of the preset and of what is to be replaced: arguments
        of `make`, which are values of the cell, or fields of the experiment.  It raises
        a ValueError for a preset of any other name.
    """
    known: dict[str, Mapping[str, Any]] = {"smoke": smoke, "quick": {}, "paper": paper}

    drawn = inspect.signature(quick.make).parameters
    fields = {f.name for f in dataclasses.fields(Experiment)} - {"name", "make", "cell"}

    def experiment(preset: str = "quick", **changes: Any) -> Experiment:
        """The experiment; keywords replace values of its cell, or its fields."""
        if preset not in known:
            close = difflib.get_close_matches(str(preset), known, n=1)
            raise BadInput(
                f"`preset` must be one of {', '.join(known)}, got {preset!r}."
                + (f" Did you mean {close[0]!r}?" if close else "")
            )
        chosen = dict(known[preset])
        own = {**quick.cell, **chosen.pop("cell", {})}
        cell = {k: v for k, v in own.items() if v is not None}
        for name, value in changes.items():
            (chosen if name in fields - {*drawn} else cell)[name] = value
        return dataclasses.replace(quick, cell=cell, **chosen)

    return experiment
