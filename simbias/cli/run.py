"""`simbias run`: one run in one place, a folder or a URL."""

import tyro

from simbias.cli._budget import seconds_of
from simbias.cli._option_names import check_flow_options, naming_options, options_of
from simbias.cli._options import (
    RunOptions,
    experiment_of,
    options_class,
    overrides,
    resolved,
    sizes,
)
from simbias.cli._source import named
from simbias.cli._stored_run import Request, complete_run, decide_run
from simbias.ensemble.grid import make_grid
from simbias.errors import BadInput
from simbias.store.address import place_at


def run(arguments: list[str]) -> int:
    """Simulate, draw the figure, check the claims."""
    if {"-h", "--help"} & {*arguments[:1]}:
        tyro.cli(RunOptions, args=["--help"], prog="simbias run NAME")
    source, rest = named(arguments, "run")
    preset, steps, rest = resolved(rest)
    experiment = experiment_of(source.module, preset, steps)
    make_grid(experiment)  # a wrong value in the file is named before tyro sees it
    check_flow_options(rest, experiment.flow)
    parsed = tyro.cli(
        options_class(experiment, preset, sizes(source.module)),
        args=rest,
        prog=f"simbias run {arguments[0]}",
        description=source.module.__doc__,
    )
    steps = [*steps, overrides(parsed, experiment)]
    default = f"runs/{source.name}-{preset}"
    out = place_at(default if parsed.out is None else parsed.out)
    recipe = {**source.recipe, "preset": preset, "overrides": steps}
    asked = (parsed.lanes, parsed.workers, parsed.format, parsed.live)
    request = Request(source, recipe, out, *asked)
    if parsed.decide and (parsed.workers is not None or parsed.live):
        option = "workers" if parsed.workers is not None else "live"
        raise BadInput(
            f"`--{option}` cannot be used with --decide: one process adds the "
            "seeds. Leave it out."
        )
    with naming_options(options_of(experiment)):
        if parsed.decide:
            return decide_run(request, arguments, seconds_of(parsed.budget))
        return complete_run(request)
