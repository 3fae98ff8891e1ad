"""What may come next on a command line, for Tab: read off the files, nothing imported.

Options of a command are the fields of the dataclass in its file; those of `run` are
found in the source of the experiment and of its flow.  The completion of tyro would be
a fixed script of 1 MB, for which all experiments are imported, and it knows neither
your files nor your runs.
"""

import ast
import itertools
import pathlib
import re
from collections.abc import Iterable, Iterator, Mapping

import simbias
from simbias.preset_names import SIZES
from simbias.registry import (
    experiment_file,
    experiment_names,
    flow_names,
    preset_names,
    syntax,
    themes,
)

COMPLETE = "_complete"
_HERE = pathlib.Path(__file__).parent
_EVERYWHERE = ("--help", "--debug", "--no-compile-cache")
_LINES = ("--json-lines",)
_SHELLS = ("bash", "zsh", "fish")
# Fields of a flow that can be written.
_PLAIN = re.compile(r"\b(Real|Index|int|float|bool|str|Sampling|Optimiser)\b")


def words(line: list[str], commands: Mapping[str, tuple[str, bool]]) -> list[str]:
    """What may stand for the last word of a line, after `simbias`, sorted."""
    *before, word = line or [""]
    # bash takes `--preset=quick` apart.
    before, word = [one for one in before if one != "="], word.removeprefix("=")
    if not before:
        return _fitting([*commands, "--help", "--version"], word)
    command = before[0]
    if command not in commands:
        return []
    option, _, value = word.rpartition("=")
    if option:
        found = _fitting(_values(option, command, before[1:], commands), value)
        return [f"{option}={one}" for one in found]
    known = _values(before[-1], command, before[1:], commands)
    if before[-1].startswith("--") and known:
        return _fitting(known, word)
    if word.startswith("-"):
        return _fitting(_options(command, before[1:], commands), word)
    return _fitting(_operands(command, before[1:], word, commands), word)


def _fitting(known: Iterable[str], word: str) -> list[str]:
    return sorted({one for one in known if one.startswith(word)})


def _operands(
    command: str, rest: list[str], word: str, commands: Mapping[str, tuple[str, bool]]
) -> list[str]:
    """What is no option: names, folders of runs, files."""
    is_first = not [one for one in rest if not one.startswith("-")]
    if command == "completion":
        return [*_SHELLS] if is_first else []
    if command == "check":
        return [*experiment_names(), *filter(None, themes()), *_paths(word, ".py")]
    if command == "run" and is_first:
        return [*experiment_names(), *_paths(word, ".py")]
    if command == "ledger":
        return [path.stem for path in (_HERE.parent / "ledger").glob("papers/*.toml")]
    kinds = [ast.unparse(one.annotation) for one in _declared(command, commands)]
    if "Folder" in kinds:
        more = any("DIR|" in kind for kind in kinds)
        runs = _runs(word) if is_first or more else []
        return runs if is_first else [*runs, *_paths(word, ".py")]
    return _paths(word, ".py")


def _runs(word: str) -> list[str]:
    """Folders of runs, and those that lead on: runs/ first of all."""
    found = []
    for path in _below(word):
        if (path / "run.zarr").is_dir():
            found.append(str(path))
        elif path.is_dir() and path.suffix != ".zarr":
            found.append(f"{path}/")
    return found


def _paths(word: str, suffix: str) -> list[str]:
    every = _below(word)
    return [
        f"{path}/" if path.is_dir() else str(path)
        for path in every
        if path.is_dir() or path.suffix == suffix
    ]


def _below(word: str) -> list[pathlib.Path]:
    """What lies where a word leads; hidden only if asked for."""
    folder, _, start = word.rpartition("/")
    at = pathlib.Path(folder or ("/" if word.startswith("/") else "."))
    try:
        every = [path for path in at.iterdir() if path.name.startswith(start)]
    except OSError:
        return []
    if word.startswith("./") and at == pathlib.Path("."):
        return []  # which the shell completes itself
    return [path for path in every if start or not path.name.startswith(".")]


def _options(
    command: str, rest: list[str], commands: Mapping[str, tuple[str, bool]]
) -> list[str]:
    found = [*_EVERYWHERE]
    if command in ("run", "resume"):
        found += _LINES
    found += [f"--{name}" for name in _fields(command, commands)]
    if command != "run":
        return found
    found.append("--flow.name")
    names = [one for one in rest if not one.startswith("-")]
    source = experiment_file(names[0]) if names else None
    if names and names[0].endswith(".py"):
        source = pathlib.Path(names[0])
    for name in _arguments(source) if source else ():
        found.append(f"--cell.{_dashed(name)}")
    return found + [f"--flow.{_dashed(name)}" for name in _flow_fields(rest, source)]


def _values(
    option: str,
    command: str,
    rest: list[str],
    commands: Mapping[str, tuple[str, bool]],
) -> list[str]:
    name = option.removeprefix("--")
    if name == "flow.name":
        return flow_names()
    if name == "preset" and command in ("run", "check"):
        return [*SIZES, *itertools.chain(*map(preset_names, rest))]
    annotation = _fields(command, commands).get(name)
    return [] if annotation is None else _choices(annotation, _aliases())


def _fields(
    command: str, commands: Mapping[str, tuple[str, bool]]
) -> dict[str, ast.expr]:
    """Options of a command and their annotations, positional ones left out."""
    found = {}
    for one in _declared(command, commands):
        said = ast.unparse(one.annotation)
        if "Positional" not in said and said not in ("Folder", "File"):
            found[_dashed(ast.unparse(one.target))] = one.annotation
    return found


def _declared(
    command: str, commands: Mapping[str, tuple[str, bool]]
) -> list[ast.AnnAssign]:
    """What the dataclass of a command's options declares."""
    module, _, function = commands[command][0].rpartition(".")
    wanted = f"{function.partition('_')[0]}options"
    files = [f"{module.replace('.', '/')}.py", "_options.py"]
    for node in itertools.chain(*(syntax(_HERE / file).body for file in files)):
        if isinstance(node, ast.ClassDef) and node.name.lower() == wanted:
            return [one for one in node.body if isinstance(one, ast.AnnAssign)]
    return []


def _choices(annotation: ast.expr, aliases: Mapping[str, list[str]]) -> list[str]:
    found = []
    for node in ast.walk(annotation):
        if isinstance(node, ast.Name):
            found += aliases.get(node.id, [])
        if isinstance(node, ast.Subscript) and ast.unparse(node.value) == "Literal":
            found += _texts(node.slice)
    return found


def _aliases() -> dict[str, list[str]]:
    """Names of choices where commands take them from: Format, Kind."""
    found = {}
    for file in (_HERE / "_options.py", _HERE.parent / "films" / "animate.py"):
        for node in syntax(file).body:
            if isinstance(node, ast.Assign) and isinstance(node.targets[0], ast.Name):
                found[node.targets[0].id] = _choices(node.value, {})
    return found


def _texts(node: ast.AST) -> list[str]:
    every = (one.value for one in ast.walk(node) if isinstance(one, ast.Constant))
    return [value for value in every if isinstance(value, str)]


def _arguments(file: pathlib.Path) -> list[str]:
    """What `make` of an experiment takes by name, after the key."""
    for node in syntax(file).body:
        if isinstance(node, ast.FunctionDef) and node.name == "make":
            return [one.arg for one in (*node.args.args, *node.args.kwonlyargs)][1:]
    return []


def _flow_fields(rest: list[str], source: pathlib.Path | None) -> Iterator[str]:
    """Fields of the flow that is named, or which the file names first."""
    chosen = [b for a, b in zip(rest, rest[1:], strict=False) if a == "--flow.name"]
    chosen += [a.partition("=")[2] for a in rest if a.startswith("--flow.name=")]
    files = {
        name: pathlib.Path(simbias.__path__[0]) / "flows" / f"{name}.py"
        for name in flow_names()
    }
    if not chosen and source is not None:
        seen = [n.id for n in ast.walk(syntax(source)) if isinstance(n, ast.Name)]
        seen += [
            n.attr for n in ast.walk(syntax(source)) if isinstance(n, ast.Attribute)
        ]
        chosen = [name for name in files if _camel(name) in seen]
    for name in chosen[:1]:
        for node in syntax(files[name]).body if name in files else ():
            if not (isinstance(node, ast.ClassDef) and node.name == _camel(name)):
                continue
            for one in node.body:
                is_field = isinstance(one, ast.AnnAssign)
                if is_field and _PLAIN.search(ast.unparse(one.annotation)):
                    yield ast.unparse(one.target)


def _camel(name: str) -> str:
    return name.title().replace("_", "")


def _dashed(name: str) -> str:
    return name.replace("_", "-")
