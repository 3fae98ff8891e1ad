"""The experiment file that draws a stored run and checks its claims."""

import itertools
import pathlib
from collections.abc import Sequence

from simbias.cli._own import read
from simbias.cli._source import Source, source, source_file, source_of
from simbias.cli._terminal import say
from simbias.errors import BadInput
from simbias.registry import is_experiment
from simbias.store.layout import Store
from simbias.store.source import is_same_file

CHANGED = (
    "{file} has changed since this run was started. The data are from the old version, "
    "whose text is stored in the run."
)


def phenomenon_of(
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
        if not is_same_file(recipe, given.recipe):
            say(CHANGED.format(file=file))
        return given
    if recipe is not None:
        return source_of(store, verb, None, trusts)
    if not is_experiment(name):
        raise BadInput(
            f"{store.place.parent} is a run of `{name}`, which is not an experiment of "
            "this installation. Give a file with its `figure` and `claims`: simbias "
            f"{verb} DIR FILE."
        )
    return source(name)


def files_of(stores: Sequence[Store], files: Sequence[str]) -> list[str | None]:
    """Which of the files that are named each run is of.

    One is of every run that is of a file, or of all if none is.  Several are told apart
    by the text that a run keeps, else by their names, else by their order.

    Raises:
        ValueError: if one cannot be read.
    """
    kept = [(store.attributes["recipe"] or {}).get("file") for store in stores]
    if len(files) < 2:
        (file,) = files or (None,)
        return [None if one is None and any(kept) else file for one in kept]
    given = [{"name": pathlib.Path(f).name, "text": read(f)} for f in files]

    def fit(order: tuple[int, ...]) -> int:
        pairs = [(one, given[i]) for one, i in zip(kept, order, strict=True) if one]
        same = lambda key: sum(one[key] == other[key] for one, other in pairs)
        return len(files) * same("text") + same("name")

    best = max(itertools.permutations(range(len(files))), key=fit)
    return [files[i] for i in best]
