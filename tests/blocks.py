"""Blocks of code on the pages: what they hold, and how they are run.

A comment before a block says how, or why not:

    <!-- not run: it needs Slurm -->
    <!-- long: a minute -->           run by `pytest -m long`
    <!-- planned: hours -->           of `simbias run` the options are checked, no more
    <!-- elsewhere: … -->             `simbias run NAME`, or a variant, which another
                                     test runs
    <!-- with torch: … -->            run where that library is

`<!-- long, but for git, pip: … -->` leaves lines of these programs out.  A block
without one is run: Python in order, with one namespace per page, and lines of
`simbias …` with the preset `smoke`, in a folder of the page.
"""

import dataclasses
import importlib
import itertools
import linecache
import pathlib
import re
import shlex
from collections.abc import Callable
from importlib.util import find_spec

from simbias import cli
from simbias.preset_names import SIZES, preset_of
from simbias.registry import experiment_names, themes

_MARK = re.compile(
    r"<!-- (not run|long|planned|elsewhere|with \w+)(?:, but for ([^:]+))?: .+ -->$"
)
Put = Callable[..., None]
_SEQUENCE = re.compile(r"\$\(seq (\d+) (\d+)\)")
_BEFORE = re.compile(r"^(pip install \S+ && )?(uv run )?")


@dataclasses.dataclass(frozen=True)
class Block:
    page: pathlib.Path
    line: int
    language: str
    text: str
    kind: str
    others: tuple[str, ...]

    @property
    def commands(self) -> list[list[str]]:
        """The words of every line of a shell, without what installs and comments."""
        text = _SEQUENCE.sub(_counted, self.text.replace("\\\n", " "))
        lines = [_BEFORE.sub("", line) for line in text.splitlines()]
        parts = [_BEFORE.sub("", part) for line in lines for part in line.split(" && ")]
        words = [shlex.split(part, comments=True) for part in parts]
        return [one for one in words if one]

    @property
    def is_possible(self) -> bool:
        """Whether the library is there that the block is said to need."""
        before, _, library = self.kind.partition("with ")
        return before != "" or not library or find_spec(library) is not None

    @property
    def fault(self) -> str | None:
        """Why nobody could run it, None if somebody can."""
        if self.kind == "not run" or self.language == "python":
            return None
        if self.language:
            return f"{self.language} is not run: say so, <!-- not run: why -->"
        strange = {c[0] for c in self.commands} - {"simbias", *self.others}
        return f"nobody runs {', '.join(sorted(strange))}" if strange else None


def blocks_of(page: pathlib.Path) -> list[Block]:
    """Every block between fences, and what was said of it."""
    out, mark, begun, lines = [], None, None, page.read_text().splitlines()
    for number, line in enumerate(lines, 1):
        if begun is None and line.startswith("```"):
            begun = (number, line[3:].strip())
        elif begun is not None and line == "```":
            text = "\n".join(lines[begun[0] : number - 1]) + "\n"
            kind, others = (mark[1], mark[2] or "") if mark else ("", "")
            named = tuple(re.findall(r"\w+", others))
            out.append(Block(page, *begun, text, kind, named))
            begun, mark = None, None
        elif begun is None and line.strip():
            mark = _MARK.match(line)
    return out


def run(block: Block, namespace: dict[str, object], put: Put) -> None:
    """A block, in the folder where we are; `put` gives a room what the block adds."""
    if block.language == "python":
        name = f"{block.page.name}:{block.line}"
        lines = block.text.splitlines(keepends=True)
        linecache.cache[name] = (len(block.text), None, lines, name)
        exec(compile(block.text, name, "exec"), namespace)
        if file := re.match(r"# simbias/(\w+)/.*?(\w+)\.py$", lines[0]):
            room = importlib.import_module(f"simbias.{file[1]}")
            put(room, file[2], namespace[file[2]], raising=False)
        return
    for command in block.commands:
        if command[0] == "simbias":
            here = f"file://{pathlib.Path.cwd()}/"
            words = [word.replace("file:///tmp/", here) for word in command[1:]]
            words = shortened(words, is_planned=block.kind == "planned")
            assert exit_code(words) == 0, " ".join(words)


def shortened(words: list[str], *, is_planned: bool) -> list[str]:
    """The same command, of the smallest size, or without what it would compute."""
    if words[0] == "check" and not {*words} & {*experiment_names()}:
        return ["check", "three_points", *(w for w in words[1:] if w not in themes())]
    if words[0] != "run" or words[1] not in experiment_names():
        return words
    asked = "quick"
    if "--preset" not in words:
        words = [*words, "--preset", "smoke"]
    elif (preset := words[words.index("--preset") + 1]) not in SIZES:
        asked = preset
        small = preset_of(preset, "smoke")
        words = [small if w == preset and not is_planned else w for w in words]
    if is_planned:
        where = ["--workers", "0", "--out", f"planned/{abs(hash(tuple(words)))}"]
        return [*ends(words), *where]
    return words if "--out" in words else [*words, "--out", f"runs/{words[1]}-{asked}"]


def ends(words: list[str]) -> list[str]:
    """The same with two numbers of each option: all that lie between cost as much."""
    out: list[str] = []
    for is_number, some in itertools.groupby(words, _is_number):
        part = list(some)
        out += [part[0], part[-1]] if is_number and len(part) > 2 else part
    return out


def _is_number(word: str) -> bool:
    return re.fullmatch(r"[-+\d.]+(e[-+]?\d+)?", word) is not None


def _counted(found: re.Match[str]) -> str:
    return " ".join(map(str, range(int(found[1]), int(found[2]) + 1)))


def exit_code(words: list[str]) -> int:
    try:
        cli.main(words)
    except SystemExit as leaving:
        return leaving.code if isinstance(leaving.code, int) else bool(leaving.code)
    return 0
