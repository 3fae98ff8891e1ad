"""A paper, its statements, and the claims that are about each."""

import dataclasses
import pathlib
import re
import tomllib
from collections.abc import Mapping
from typing import Any, Literal, get_args

from simbias.errors import BadInput

Setting = Literal["published", "ours"]
FOLDER = pathlib.Path(__file__).parent / "papers"


@dataclasses.dataclass(frozen=True)
class Tried:
    """An experiment in which a statement is looked at.

    Attributes:
        experiment: its name.
        setting: "published" where law, sizes and optimiser of its preset `quick` are
            those of the paper, "ours" elsewhere.
        claims: how the claims begin that are about the statement.
    """

    experiment: str
    setting: Setting
    claims: tuple[str, ...]

    def of(self, claims: list[dict[str, Any]]) -> list[dict[str, Any]]:
        """Those of the stored claims that begin so, each once."""
        return [c for c in claims if c["statement"].startswith(self.claims)]


@dataclasses.dataclass(frozen=True)
class Statement:
    """One statement of a paper; either `tried` or `missing` is empty.

    Attributes:
        number: as the paper numbers it, or "unnumbered"; (?) where that is in doubt.
        says: what it says, in a line.
        tried: where it is looked at.
        missing: why it is not.
    """

    number: str
    says: str
    tried: tuple[Tried, ...]
    missing: str


@dataclasses.dataclass(frozen=True)
class Paper:
    """A paper, and what of it can be listed.

    Attributes:
        key: name of its file.
        paper: authors, year and title.
        source: where it is.
        read: what of it the list is made from.
        statements: in the order of the paper.
    """

    key: str
    paper: str
    source: str
    read: str
    statements: tuple[Statement, ...]

    @property
    def authors(self) -> str:
        """Authors and year, without the title."""
        return re.match(r".*?\(\d{4}\)|.*", self.paper)[0]  # pyright: ignore


def papers(folder: pathlib.Path = FOLDER) -> dict[str, Paper]:
    """All papers, by the names of their files.

    Raises:
        ValueError: for a file that is not as `Paper` says; it is named.
    """
    return {file.stem: _paper(file) for file in sorted(folder.glob("*.toml"))}


def _paper(file: pathlib.Path) -> Paper:
    try:
        found = tomllib.loads(file.read_text(encoding="utf-8"))
    except tomllib.TOMLDecodeError as error:
        raise BadInput(f"{file}: {error}") from None
    given = _fields(file, found, {"paper", "source", "read", "statement"})
    statements = tuple(_statement(file, one) for one in given.pop("statement"))
    return Paper(key=file.stem, statements=statements, **given)


def _statement(file: pathlib.Path, found: dict[str, Any]) -> Statement:
    reason = "missing" if "missing" in found else "tried"
    given = _fields(file, found, {"number", "says", reason})
    tried = tuple(_tried(file, one) for one in given.get("tried", ()))
    if not (tried or given.get("missing")):
        raise BadInput(
            f"{file}: the statement {found['says']!r} must have `tried`, with an "
            "experiment, or `missing`, with a reason."
        )
    return Statement(given["number"], given["says"], tried, given.get("missing", ""))


def _tried(file: pathlib.Path, found: dict[str, Any]) -> Tried:
    given = _fields(file, found, {"experiment", "setting", "claims"})
    if given["setting"] not in get_args(Setting) or not given["claims"]:
        raise BadInput(
            f"{file}: {given['experiment']} must have a `setting`, one of "
            f"{', '.join(get_args(Setting))}, and `claims`, got {found}."
        )
    return Tried(given["experiment"], given["setting"], tuple(given["claims"]))


def _fields(
    file: pathlib.Path, found: Mapping[str, Any], names: set[str]
) -> dict[str, Any]:
    if not isinstance(found, dict) or {*found} != names:
        raise BadInput(f"{file}: expected {', '.join(sorted(names))}, got {found}.")
    return dict(found)
