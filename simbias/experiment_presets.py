"""One experiment in several sizes, and variants of it."""

import dataclasses
import difflib
import inspect
from collections.abc import Collection, Mapping
from typing import Any

from simbias.core import Experiment
from simbias.errors import BadInput
from simbias.preset_names import preset_of, size_of
from simbias.suggestion import suggestion


@dataclasses.dataclass(frozen=True)
class Presets:
    """One experiment in many presets, as `presets` makes it.

    Attributes:
        quick: the experiment of the preset "quick".
        differences: preset -> the fields that differ from those of `quick`; of several
            mappings a later one replaces what an earlier one says.
    """

    quick: Experiment
    differences: Mapping[str, tuple[Mapping[str, Any], ...]]

    def __call__(self, preset: str = "quick", **changes: Any) -> Experiment:
        """The experiment; keywords replace values of its cell, or its fields.

        Raises:
            ValueError: for a preset that it does not have.
        """
        check_preset(preset, self.differences)
        cell, fields = dict(self.quick.cell), {}
        for one in self.differences[preset]:
            cell |= one.get("cell", {})
            fields |= {k: v for k, v in one.items() if k != "cell"}
        cell = {k: v for k, v in cell.items() if v is not None}
        known = {f.name for f in dataclasses.fields(Experiment)}
        known -= {
            "name",
            "make",
            "cell",
            *inspect.signature(self.quick.make).parameters,
        }
        for name, value in changes.items():
            (fields if name in known else cell)[name] = value
        return dataclasses.replace(self.quick, cell=cell, **fields)


def presets(
    quick: Experiment,
    *,
    smoke: Mapping[str, Any],
    paper: Mapping[str, Any],
    **variants: Mapping[str, Any],
) -> Presets:
    """One experiment in three sizes, and variants of it; a file names it `experiment`.

        experiment = presets(Experiment(…), smoke={"seeds": 2}, paper={"seeds": 100})

    Args:
        quick: the default, minutes on two cores.
        smoke: fields in which the smallest size differs, under a minute, most of it
            compiling.  Values of its `cell` replace those of the cell of `quick`; None
            takes one away.
        paper: the same for what was published, most of it for an accelerator.
        variants: further presets by name, such as `sgd={"flow": Descent()}`: the same
            question with another flow, other data or other networks.  Each comes in
            three sizes: `sgd` replaces fields of `quick`, and `sgd_smoke` and
            `sgd_paper` are `sgd` with what `smoke` and `paper` replace.  Keywords
            `sgd_smoke` and `sgd_paper` replace fields of these two.

    Returns:
        A function of the name of the preset and of what is to be replaced: arguments
        of `make`, which are values of the cell, or fields of the experiment.  It raises
        a ValueError for a preset of any other name.

    Raises:
        ValueError: for `sgd_smoke` or `sgd_paper` without `sgd`, or a preset that names
            what is no field of an experiment.
    """
    for name, fields in {"smoke": smoke, "paper": paper, **variants}.items():
        _check_fields(name, fields)
    sizes = {"smoke": smoke, "quick": {}, "paper": paper}
    differences: dict[str, tuple[Mapping[str, Any], ...]]
    differences = {size: (change,) for size, change in sizes.items()}
    names = [name for name in variants if size_of(name) == "quick"]
    for name in names:
        for size, change in sizes.items():
            preset = preset_of(name, size)
            own = variants.get(preset, {}) if size != "quick" else {}
            differences[preset] = (variants[name], change, own)
    if unknown := [name for name in variants if name not in differences]:
        raise BadInput(
            f"`{unknown[0]}` is a size of a variant that is missing. Example: "
            f"{unknown[0].rpartition('_')[0]}={{'seeds': 3}}."
        )
    return Presets(quick, differences)


def _check_fields(preset: str, fields: Mapping[str, Any]) -> None:
    """Refuse a preset that names what is no field of an experiment."""
    known = [field.name for field in dataclasses.fields(Experiment)]
    for name in fields:
        if name not in known:
            raise BadInput(
                f"the preset `{preset}` names `{name}`, which is no field of an "
                f"Experiment.{suggestion(str(name), known)} Arguments of `make` belong "
                f"in its cell. Example: {preset}={{'cell': {{'n': 20}}}}."
            )


def check_preset(preset: Any, known: Collection[str]) -> None:
    """Refuse a preset that an experiment does not have.

    Raises:
        ValueError: which names those that it has.
    """
    if preset not in known:
        close = difflib.get_close_matches(str(preset), known, n=1)
        raise BadInput(
            f"`preset` must be one of {', '.join(known)}, got {preset!r}."
            + (f" Did you mean {close[0]!r}?" if close else "")
        )
