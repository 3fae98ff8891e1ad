"""Who draws a stored run, and says what it claims."""

from simbias.cli._source import Source, source, source_file, source_of
from simbias.cli._terminal import say
from simbias.errors import BadInput
from simbias.registry import is_experiment
from simbias.store.layout import Store
from simbias.store.text import is_same_text

CHANGED = (
    "{file} has changed since this run was begun: the data are those of the text that "
    "the run keeps."
)


def drawing(
    verb: str, store: Store, name: str, file: str | None, trusts: bool
) -> Source:
    """A file that is named, or the experiment of the run.

    Args:
        verb: of the command.
        store: of the run.
        name: of its experiment.
        file: of yours, if one is named.
        trusts: whether the text that the run keeps may be used.

    Raises:
        ValueError: if it cannot be known, or a file is needed and not given.
    """
    recipe = store.attributes["recipe"]
    if file is not None:
        given = source_file(file)
        if not is_same_text(recipe, given.recipe):
            say(CHANGED.format(file=file))
        return given
    if recipe is not None:
        return source_of(store, verb, None, trusts)
    if not is_experiment(name):
        raise BadInput(
            f"{store.place.parent} holds `{name}`, which is not an experiment here. A "
            f"file of yours draws it: simbias {verb} DIR FILE."
        )
    return source(name)
