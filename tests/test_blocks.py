"""Every block of code of README and docs is run, or says why not."""

import pathlib
import re

import matplotlib
import numpy as np
import pytest
from blocks import Block, Put, blocks_of, run
from tree import ROOT

from simbias.registry import experiment_names, variants

PAGES = [
    *(ROOT / name for name in ("README.md", "CONTRIBUTING.md")),
    *sorted((ROOT / "docs").rglob("*.md")),
]
BLOCKS = {page: blocks_of(page) for page in PAGES}
NAME = lambda page: page.relative_to(ROOT).as_posix()


def pages_with(*kinds: str) -> list[pathlib.Path]:
    return [p for p, blocks in BLOCKS.items() if any(b.kind in kinds for b in blocks)]


@pytest.mark.parametrize("page", [p for p in PAGES if BLOCKS[p]], ids=NAME)
def test_every_block_can_be_run_or_says_why_not(page):
    faults = {b.line: b.fault for b in BLOCKS[page] if b.fault}
    assert faults == {}


def test_fences_are_found_as_readers_see_them():
    fences = sum(len(re.findall(r"(?m)^```", p.read_text())) for p in PAGES)
    assert fences == 2 * sum(map(len, BLOCKS.values())) > 0


@pytest.mark.parametrize("page", pages_with("elsewhere"), ids=NAME)
def test_what_is_run_elsewhere_is_there(page):
    for block in BLOCKS[page]:
        for command in block.commands if block.kind == "elsewhere" else ():
            assert command[:2] == ["simbias", "run"]
            assert command[2] in experiment_names()
            assert command[3:] in ([], *_presets(command[2]))


def _presets(name: str) -> list[list[str]]:
    return [["--preset", variant] for variant in variants(name)]


@pytest.fixture
def folder(tmp_path, monkeypatch):
    """Where a page is at home, with the files that a reader is said to have."""
    monkeypatch.chdir(tmp_path)
    matplotlib.use("agg")
    rng = np.random.default_rng(0)
    x, y = rng.normal(size=(80, 5)), rng.normal(size=80)
    np.savez("mine.npz", x=x, y=y, x_test=x, y_test=y)
    pathlib.Path("mine.toml").write_text("seeds = 2\n\n[cell]\nn = [20]\n")
    return monkeypatch.setattr


def told(page: pathlib.Path, put: Put, *kinds: str) -> None:
    namespace: dict[str, object] = {"__name__": page.stem}
    for block in BLOCKS[page]:
        is_asked = block.kind in kinds or block.kind.startswith("with ")
        if is_asked and block.is_possible:
            run(block, namespace, put)


@pytest.mark.docs
@pytest.mark.parametrize("page", pages_with(""), ids=NAME)
def test_the_blocks_of_a_page_run_in_order(page, folder):
    told(page, folder, "")


@pytest.mark.docs
@pytest.mark.parametrize("page", pages_with("planned"), ids=NAME)
def test_the_options_of_what_takes_hours_are_right(page, folder):
    told(page, folder, "planned")


@pytest.mark.long
@pytest.mark.parametrize("page", pages_with("long"), ids=NAME)
def test_the_long_blocks_of_a_page_run_too(page, folder):
    told(page, folder, "", "long")


def test_a_recipe_has_at_most_five_lines():
    shared, *recipes = BLOCKS[ROOT / "docs" / "recipes.md"]
    assert len(recipes) > 5
    for block in recipes:
        lines = [one for one in block.text.splitlines() if one.strip()]
        own = [one for one in lines if not one.startswith(("import ", "from "))]
        assert len(own) <= 5, block.text


def test_commands_are_read_as_a_shell_reads_them(tmp_path):
    (tmp_path / "page.md").write_text(
        "```\nuv run simbias new a && simbias run b \\\n"
        "    --cell.draw $(seq 0 3)  # four\n```\n"
    )
    (block,) = blocks_of(tmp_path / "page.md")
    draws = ["--cell.draw", "0", "1", "2", "3"]
    assert block.commands == [["simbias", "new", "a"], ["simbias", "run", "b", *draws]]


@pytest.mark.parametrize(
    ("text", "fault"),
    [
        ("```\nls\n```\n", "nobody runs ls"),
        ("```yaml\na: 1\n```\n", "yaml is not run: say so, <!-- not run: why -->"),
        ("<!-- not run: it is yours -->\n```yaml\na: 1\n```\n", None),
        ("<!-- long, but for ls: slow -->\n\n```\nls\nsimbias list\n```\n", None),
        ("<!-- long: slow -->\ntext\n```\nls\n```\n", "nobody runs ls"),
        ("```\npip install uv && uv run simbias list  # all\n```\n", None),
    ],
)
def test_a_block_without_a_reason_is_found(tmp_path, text, fault):
    (tmp_path / "page.md").write_text(text)
    (block,) = blocks_of(tmp_path / "page.md")
    assert isinstance(block, Block)
    assert block.fault == fault
