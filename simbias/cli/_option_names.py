"""Errors of a run that name the option where the library names the argument."""

import contextlib
import re
from collections.abc import Iterator, Mapping, Sequence

from simbias.core import AbstractFlow, Experiment
from simbias.ensemble.fields import flow_fields
from simbias.ensemble.parameters import parameters_of
from simbias.errors import BadInput
from simbias.registry import flows

_RUN = ("seeds", "times", "final_time", "keep", "dtype", "root", "pad_to")
_HERE = ("lanes", "workers")
_FLOW = "--flow."


def options_of(experiment: Experiment) -> dict[str, str]:
    """The option of each name that an error may begin with.

    Args:
        experiment: its arguments of `make` come before fields of its flow.
    """
    named = {key: f"--{key.replace('_', '-')}" for key in (*_RUN, *_HERE)}
    of_flow = {key: _FLOW + key for key in flow_fields(type(experiment.flow))}
    of_cell = {key: f"--cell.{key}" for key in parameters_of(experiment.make)}
    both = (*of_flow.values(), *of_cell.values())
    dotted = {option.removeprefix("--"): option for option in both}
    return {**named, **of_flow, **dotted, **of_cell}


@contextlib.contextmanager
def naming_options(options: Mapping[str, str]) -> Iterator[None]:
    """Let bad input be named by its option.

    Args:
        options: name of an argument -> option.
    """
    try:
        yield
    except BadInput as error:
        error.args = (_with_option(str(error), options),)
        raise


def _with_option(text: str, options: Mapping[str, str]) -> str:
    match = re.match(r"`([\w.]+)`", text)
    if match is None or (option := options.get(match[1])) is None:
        return text
    text = f"`{option}`{text[match.end() :]}"
    example = rf"(Example: )\b{re.escape(match[1])}=([\w.-]+)\.$"
    return re.sub(example, rf"\1{option} \2.", text)


def check_flow_options(words: Sequence[str], flow: AbstractFlow) -> None:
    """Name the flow that has an option which the flow of a run does not have.

    Raises:
        ValueError: for an option of another flow.
    """
    own = flow_fields(type(flow))
    for word in words:
        field = word.partition("=")[0].removeprefix(_FLOW).replace("-", "_")
        if not word.startswith(_FLOW) or field in own:
            continue
        others = [n for n, kind in flows().items() if field in flow_fields(kind)]
        if others:
            choices = " or ".join(f"--flow.name {name}" for name in others)
            raise BadInput(
                f"`{_FLOW}{field}` is no option of {type(flow).__name__}, the flow of "
                f"this run. To choose a flow that has it: {choices}."
            )
