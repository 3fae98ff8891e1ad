"""What a run is made of: its recipe, and the plan that follows from it."""

from typing import Any

from simbias.cli._options import experiment_of, sizes
from simbias.cli._overrides import moved
from simbias.cli._source import Source
from simbias.ensemble.plan import Plan
from simbias.errors import BadInput
from simbias.store.layout import Store
from simbias.suggestion import suggestion
from simbias.verbs.phenomenon import check_figure
from simbias.verbs.simulate import planned

Recipe = dict[str, Any]


def plan_of(
    source: Source, recipe: Recipe, lanes: int | None, *, holds_result: bool
) -> Plan:
    """The plan of a recipe, checked against the memory of this machine.

    Raises:
        ValueError: for a plan that cannot be run, or could not be drawn.
    """
    experiment = experiment_of(source.module, recipe["preset"], recipe["overrides"])
    plan = planned(experiment, lanes, holds_result=holds_result)
    check_figure(source.module, plan)
    return plan


def recipe_of(store: Store, source: Source, data: str | None = None) -> Recipe:
    """The recipe of a run, with the experiment of a source, and its file of data.

    Raises:
        ValueError: if its experiment has no such preset, or its data are another file.
    """
    recipe = store.attributes["recipe"]
    known = sizes(source.module)
    if recipe["preset"] not in known:
        raise BadInput(
            f"`{store.place}` was run with the preset `{recipe['preset']}`, which its "
            f"experiment does not have.{suggestion(recipe['preset'], known)}"
        )
    if data is not None:
        recipe = {**recipe, "overrides": moved(recipe["overrides"], data)}
    return {**recipe, **source.recipe}
