"""The options of `run`, read off the experiment that is named.

tyro makes them of a dataclass.  It does not know the experiment: `options_class` adds
the arguments of its `make` and the fields of its flow.
"""

import dataclasses
import inspect
import pathlib
from typing import Annotated, Any, Literal

import tyro

from simbias.cli import _overrides as options
from simbias.core import PLAIN, Experiment
from simbias.ensemble.configuration import with_current_names
from simbias.ensemble.fields import flow_fields
from simbias.ensemble.grid import FLOW_PREFIX
from simbias.ensemble.parameters import parameters_of
from simbias.ensemble.tuples import with_tuples
from simbias.errors import BadInput
from simbias.experiment_presets import Presets, check_preset
from simbias.introspection.docstrings import argument_docs, meaning
from simbias.preset_names import SIZES
from simbias.registry import flows
from simbias.verbs.phenomenon import check_phenomenon

Format = Literal["png", "pdf", "svg"]
Folder = Annotated[str, tyro.conf.Positional, tyro.conf.arg(metavar="DIR")]


@dataclasses.dataclass(frozen=True)
class RunOptions:
    """Simulate an experiment, draw its figure, check its claims.

    NAME is one of `simbias list`, or a file of yours, ./mine.py. Each has further
    options: --cell.X for arguments of its sample and networks, and --flow.X for how
    weights move. They and their defaults: simbias run NAME --help.
    """

    preset: str = "quick"
    """Size of the run: smoke, quick or paper; or a variant of `simbias list`. It sets
    all other defaults."""
    config: str | None = None
    """TOML file of these options, cell and flow. Options on the command line override
    it."""
    data: str | None = None
    """Your dataset instead of the experiment's own: a numpy.savez file with arrays x
    and y, and x_test and y_test if there is a test set."""
    seeds: int | None = None
    """Number of seeds: each gives a network in every cell."""
    times: tuple[float, ...] | None = None
    """Times of the flow at which to record; training ends at the last one."""
    final_time: float | None = None
    """The last time; all --times are rescaled to it."""
    keep: tuple[float, ...] | None = None
    """Those of --times at which whole networks are stored."""
    dtype: Literal["float32", "float64"] = "float64"
    """Number type of weights and data."""
    root: int | None = None
    """Seed from which all seeds are derived."""
    pad_to: int | None = None
    """Datasets with fewer samples are padded to this size, so that they share a
    compiled program."""
    lanes: int | None = None
    """Networks computed at a time; by default as many as memory allows."""
    workers: int | None = None
    """Number of processes on this machine; 0 only creates the run, for `simbias
    worker`."""
    format: tuple[Format, ...] = ("png",)
    """Format of the figure; several are possible."""
    out: str | None = None
    """Folder or URL of the run; by default runs/NAME-PRESET."""
    live: bool = False
    """Show the page of the run in a browser of this machine while it goes on."""
    decide: bool = False
    """Add seeds, in the cells on which open claims depend, until all are decided."""
    budget: str = "10m"
    """With --decide: how long it may take, such as 90s, 20m or 2h."""


@dataclasses.dataclass(frozen=True)
class _Flow:
    name: str | None = None


@dataclasses.dataclass(frozen=True)
class _Deciding:
    """What decides which options there are, and their defaults."""

    preset: str | None = None
    config: str | None = None
    data: str | None = None
    flow: _Flow = _Flow()


def resolved(rest: list[str]) -> tuple[str, list[dict[str, Any]], list[str]]:
    """The preset and the file, which decide what the other options are.

    Returns:
        The preset, the overrides so far, in order, and the other arguments.
    """
    first, rest = tyro.cli(
        _Deciding, args=rest, return_unknown_args=True, add_help=False
    )
    table = options.read_toml(pathlib.Path(first.config)) if first.config else {}
    in_file = table.pop("preset", None)
    given = [one for one in (in_file, first.preset) if one is not None]
    data = table.pop("data", None)
    data = data if first.data is None else first.data
    if isinstance(data, str):  # the same from wherever the run is taken up again
        data = options.kept_file(data)
    steps = [table] if data is None else [{"data": data}, table]
    if first.flow.name is not None:
        steps.append({"flow": {"name": first.flow.name}})
    return (given or ["quick"])[-1], steps, rest


def sizes(module: Any) -> tuple[str, ...]:
    """The presets that an experiment has; `quick` alone if it knows of none.

    Raises:
        ValueError: if there is no experiment.
    """
    if not hasattr(module, "experiment"):
        raise BadInput(
            f"{module.__name__} must define `experiment`, a function that returns a "
            "simbias.Experiment. `simbias new NAME` writes a file with an example."
        )
    made = module.experiment
    if isinstance(made, Presets):
        return tuple(made.differences)
    is_sized = callable(made) and "preset" in inspect.signature(made).parameters
    return SIZES if is_sized else ("quick",)


def experiment_of(module: Any, preset: str, steps: list[dict[str, Any]]) -> Experiment:
    """The experiment of a preset with overrides, one after another.

    Raises:
        ValueError: for a preset that it does not have, a wrong override, or axes of
            figure and claims that are none.
    """
    known, made = sizes(module), module.experiment
    check_preset(preset, known)
    if len(known) > 1:
        made = made(preset)
    elif callable(made):
        made = made()
    if not isinstance(made, Experiment):
        raise BadInput(
            f"`experiment` of {module.__name__} must return a simbias.Experiment, got "
            f"{type(made).__name__}."
        )
    made = with_tuples(made)
    for step in steps:
        made = options.overridden(made, with_current_names(step))
    fields = (FLOW_PREFIX + name for name in flow_fields(type(made.flow)))
    check_phenomenon(module, {*parameters_of(made.make), *fields})
    return made


def options_class(
    experiment: Experiment, preset: str = "quick", known: tuple[str, ...] = SIZES
) -> type:
    """The options of `run`, with the experiment's own values as defaults.

    `preset`, `config` and `data` are there to be shown: `resolved` has taken them.
    """
    said, of_flow = argument_docs(experiment.make), argument_docs(type(experiment.flow))
    explained = lambda kind, text: Annotated[kind, tyro.conf.arg(help=text or None)]
    cells = []
    for key, parameter in parameters_of(experiment.make).items():
        value = experiment.cell.get(key, parameter.default)
        value = value if isinstance(value, tuple) else (value,)
        annotation = PLAIN.get(parameter.annotation, parameter.annotation)
        if annotation is parameter.empty:  # as in the cell, or as the default
            annotation = type(value[0]) if value != (parameter.empty,) else float
        kind = tuple[annotation, ...]  # pyright: ignore
        kind = explained(kind, meaning(key, said))
        cells.append((key, kind, dataclasses.field(default=value)))
    fields = []
    for key, (kind, default) in flow_fields(type(experiment.flow)).items():
        value = getattr(experiment.flow, key, default)
        value = experiment.cell.get(FLOW_PREFIX + key, value)
        if _has_no_text(value):
            kind, value = kind | Literal[_name(value)], _name(value)  # pyright: ignore
        if kind is not bool:  # which are flags
            kind = tuple[kind, ...]  # pyright: ignore
            value = value if isinstance(value, tuple) else (value,)
        kind = explained(kind, of_flow.get(key))
        fields.append((key, kind, dataclasses.field(default=value)))
    cell = dataclasses.make_dataclass("Cell", cells, frozen=True)
    cell.__doc__ = "Several values make an axis of the grid."
    flow = dataclasses.make_dataclass("Flow", fields, frozen=True)
    flow.__doc__ = (
        f"Fields of {type(experiment.flow).__name__}; several values make an axis. "
        f"--flow.name selects another flow ({', '.join(flows())})."
    )
    own = [
        ("preset", Literal[known], preset),
        ("seeds", int | None, experiment.seeds),
        ("times", tuple[float, ...], experiment.times),
        ("keep", tuple[float, ...], experiment.keep),
        ("dtype", Literal["float32", "float64"], experiment.dtype),
        ("root", int, experiment.root),
        ("pad_to", int, experiment.pad_to),
        ("cell", cell, dataclasses.field(default_factory=cell)),
        ("flow", flow, dataclasses.field(default_factory=flow)),
    ]
    run = dataclasses.make_dataclass("Run", own, bases=(RunOptions,), frozen=True)
    run.__doc__ = "Options."
    return run


def _has_no_text(value: Any) -> bool:
    """Whether it is a function or a module, such as an optimiser of one's own."""
    return callable(value) or hasattr(value, "_fields")


def _name(value: Any) -> str:
    return getattr(value, "__name__", type(value).__name__)


def overrides(parsed: Any, experiment: Experiment) -> dict[str, Any]:
    """What was asked for; one value for a fixed key stays a fixed key."""
    is_axis = lambda key: isinstance(experiment.cell.get(key), tuple)
    given = lambda key, v: list(v) if is_axis(key) or len(v) != 1 else v[0]
    cell = {key: given(key, values) for key, values in vars(parsed.cell).items()}
    flow = {}
    for field, values in vars(parsed.flow).items():
        key = FLOW_PREFIX + field
        value = given(key, values) if isinstance(values, tuple) else values
        own = getattr(experiment.flow, field, None)
        if _has_no_text(own) and value == _name(own):
            continue
        if key in experiment.cell or isinstance(value, list):
            cell[key] = value
        else:
            flow[field] = value
    overrides = {
        "cell": cell,
        "flow": flow,
        "seeds": parsed.seeds,
        "times": parsed.times,
        "keep": parsed.keep,
        "dtype": parsed.dtype,
        "root": parsed.root,
        "pad_to": parsed.pad_to,
    }
    if parsed.final_time is not None:
        overrides["final_time"] = parsed.final_time
    return overrides
