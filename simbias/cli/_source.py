"""Where an experiment comes from: simbias, another package, or a file of yours."""

import dataclasses
import pathlib
import shlex
from typing import Annotated, Any

import tyro

from simbias.cli._own import load, read
from simbias.errors import BadInput
from simbias.registry import (
    experiment_module,
    experiment_names,
    is_experiment,
    package_of,
)
from simbias.store.layout import Store
from simbias.store.source import kept
from simbias.suggestion import suggestion

File = Annotated[
    str | None,
    tyro.conf.Positional,
    tyro.conf.arg(metavar="[FILE]"),
]
TRUST = "--trust-code"


@dataclasses.dataclass(frozen=True)
class Source:
    """An experiment, and how a run says where it comes from.

    `recipe` is what the run keeps, `words` what a command needs besides the folder.
    """

    name: str
    module: Any
    recipe: dict[str, Any]
    words: tuple[str, ...] = ()

    def command(self, verb: str, out: object) -> str:
        """`simbias VERB OUT` with what else it needs."""
        return shlex.join(["simbias", verb, str(out), *self.words])


def source(word: str) -> Source:
    """What a name, or the path of a file, stands for.

    Raises:
        ValueError: if there is no such experiment, or the file cannot be one.
    """
    if word.endswith(".py"):
        return source_file(word)
    if not is_experiment(word):
        raise BadInput(
            f"`{word}` is not an experiment.{suggestion(word, experiment_names())} For "
            f"a file of yours, write: simbias run {word.removesuffix('/')}.py"
        )
    recipe = {"experiment": word}
    if package := package_of(word):
        recipe["package"] = " ".join(package)
    return Source(word, experiment_module(word), recipe)


def named(arguments: list[str], command: str) -> tuple[Source, list[str]]:
    """The experiment that is named, and the other arguments."""
    if not arguments or arguments[0].startswith("-"):
        raise BadInput(
            f"`simbias {command}` needs the name of an experiment or a file of yours, "
            f"such as ./mine.py. Experiments: {', '.join(experiment_names())}."
        )
    return source(arguments[0]), arguments[1:]


def source_of(store: Store, verb: str, file: str | None, trusts: bool) -> Source:
    """The experiment of a run.

    A folder may come from a stranger: the text that it keeps is run if you say so.

    Raises:
        ValueError: if it cannot be known, or a file is needed and not given.
    """
    recipe, out = store.attributes["recipe"], store.place.parent
    own = recipe and recipe.get("file")
    if own is None:
        _check_known(store, recipe)
        if file is not None:
            raise BadInput(
                f"{out} is a run of the experiment `{recipe['experiment']}` and not of "
                f"a file. Leave out {file}."
            )
        return source(recipe["experiment"])
    if file is not None:
        return source_file(file)
    name = own["name"]
    if not trusts:
        here = shlex.join(["simbias", verb, str(out), name])
        there = shlex.join(["simbias", verb, str(out), TRUST])
        raise BadInput(
            f"{out} is a run of the file {name}. Give the path of your copy:\n\n"
            f"  {here}\n\nOr, if you trust the person who made this run, use the copy "
            f"stored in it:\n\n  {there}"
        )
    module = load(_stem(name), own["text"], f"<{name} of {out}>")
    found = {"experiment": _stem(name), "file": dict(own)}
    return Source(_stem(name), module, found, (TRUST,))


def source_file(path: str) -> Source:
    """The experiment of a file of yours.

    Raises:
        ValueError: if it cannot be read, or has the name of something else.
    """
    text, name = read(path), pathlib.Path(path).name
    module = load(_stem(name), text, path)
    recipe = {"experiment": _stem(name), "file": kept(name, text)}
    return Source(_stem(name), module, recipe, (path,))


def _check_known(store: Store, recipe: dict[str, Any] | None) -> None:
    if recipe is not None and is_experiment(recipe["experiment"]):
        return
    if recipe is not None and "package" in recipe:
        raise BadInput(
            f"`{store.place}` is a run of `{recipe['experiment']}` of the package "
            f"{recipe['package']}, which is not installed here. Install it."
        )
    raise BadInput(
        f"`{store.place}` was started by a Python program that called `simulate`. To "
        "continue it, run that program again, on as many machines as you like."
    )


def _stem(name: str) -> str:
    return name.removesuffix(".py").replace(".", "_")
