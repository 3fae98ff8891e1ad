"""A paper, its statements, and the claims that are about each."""

import dataclasses
import pathlib
import re
import tomllib
from collections.abc import Mapping, Set
from typing import Any, Literal, get_args

from simbias.errors import BadInput
from simbias.ledger.stored_checks import StoredChecks
from simbias.preset_names import size_of

Setting = Literal["published", "ours"]
FOLDER = pathlib.Path(__file__).parent / "papers"


@dataclasses.dataclass(frozen=True)
class Tried:
    """An experiment in which a statement is looked at.

    Attributes:
        experiment: its name.
        setting: "published" where law, sizes and optimiser are those of a run of the
            paper, "ours" elsewhere.
        claims: how the claims begin that are about the statement.
        preset: of the run that is meant.
    """

    experiment: str
    setting: Setting
    claims: tuple[str, ...]
    preset: str = "quick"

    def seen(self, checks: StoredChecks) -> list[dict[str, Any]] | None:
        """Those of the stored claims that begin so; None if nothing is stored."""
        check = checks.get((self.experiment, self.preset))
        claims = None if check is None else check["claims"]
        return claims and [c for c in claims if c["statement"].startswith(self.claims)]

    def command(self, checks: StoredChecks) -> str:
        """What computes them: as it is stored with them, or else of all of a preset."""
        verb = "run" if size_of(self.preset) == "paper" else "check"
        of = "" if self.preset == "quick" else f" --preset {self.preset}"
        whole = f"simbias {verb} {self.experiment}{of}"
        return checks.get((self.experiment, self.preset), {}).get("command", whole)


@dataclasses.dataclass(frozen=True)
class Statement:
    """One statement of a paper; either `tried` or `missing` is empty.

    Attributes:
        number: as the paper numbers it, or "unnumbered"; (?) where that is in doubt;
            "beside it" of what the paper does not say.
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
        beside: what experiments look at that is close to it, and that it does not say.
    """

    key: str
    paper: str
    source: str
    read: str
    statements: tuple[Statement, ...]
    beside: tuple[Statement, ...] = ()

    @property
    def authors(self) -> str:
        """Authors and year, without the title."""
        return re.match(r".*?\(\d{4}\)|.*", self.paper)[0]  # pyright: ignore

    @property
    def year(self) -> int:
        """The year, 0 if the paper has none."""
        found = re.search(r"\((\d{4})\)", self.authors)
        return int(found[1]) if found else 0


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
    needed = {"paper", "source", "read", "statement"}
    given = _fields(file, found, needed, {"beside"})
    statements = tuple(_statement(file, one) for one in given.pop("statement"))
    beside = tuple(
        _statement(file, {"number": "beside it", **one})
        for one in given.pop("beside", ())
    )
    return Paper(key=file.stem, statements=statements, beside=beside, **given)


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
    given = _fields(file, found, {"experiment", "setting", "claims"}, {"preset"})
    preset = given.get("preset", "quick")
    is_known = given["setting"] in get_args(Setting) and isinstance(preset, str)
    if not (is_known and given["claims"]):
        raise BadInput(
            f"{file}: {given['experiment']} must have a `setting`, one of "
            f"{', '.join(get_args(Setting))}, and `claims`, and may have the name of a "
            f"`preset`, got {found}."
        )
    return Tried(given["experiment"], given["setting"], tuple(given["claims"]), preset)


def _fields(
    file: pathlib.Path,
    found: Mapping[str, Any],
    needed: set[str],
    optional: Set[str] = frozenset(),
) -> dict[str, Any]:
    if not isinstance(found, dict) or {*found} - optional != needed:
        raise BadInput(f"{file}: expected {', '.join(sorted(needed))}, got {found}.")
    return dict(found)
