"""Laws of the source tree: imports go down, a folder is its own registry."""

import ast
import pathlib
import re
import subprocess
import sys

import pytest

ROOT = pathlib.Path(__file__).parent.parent / "simbias"

# Low to high; names on one line are siblings and do not import each other.
LAYERS = [
    {"errors", "suggestion"},
    {"branching", "checks", "compiled", "core", "precision", "tiling"},
    {"identity"},
    {"attacks", "drawn_from", "losses", "presets", "trained", "wrapped"},
    {"kinks"},
    {"datasets", "networks", "flows", "measures", "stops", "theory"},
    {"ensemble"},
    {"configuration"},
    {"store"},
    {"results"},
    {"simulate"},
    {"analysis"},
    {"claims"},
    {"figures", "recall"},
    {"shown"},
    {"experiments"},
    {"registry"},
    {"options"},
    {"cli", "__init__"},
    {"__main__"},
]
LEVEL = {name: level for level, names in enumerate(LAYERS) for name in names}
ONLY_IN = {
    "diffrax": {"flows"},
    "optax": {"flows"},
    "zarr": {"store", "results"},
    "obstore": {"store"},
    "xarray": {
        *("results", "simulate", "analysis", "figures", "recall", "shown"),
        *("experiments", "cli"),
    },
    "matplotlib": {"figures", "shown", "experiments", "cli"},
    "tyro": {"cli"},
    "scipy": {"analysis", "theory"},
}
FILES = sorted(ROOT.rglob("*.py"))


def unit(path: pathlib.Path) -> str:
    return path.relative_to(ROOT).parts[0].removesuffix(".py")


def imported(path: pathlib.Path) -> set[str]:
    names = set()
    for node in ast.walk(ast.parse(path.read_text())):
        if isinstance(node, ast.Import):
            names |= {alias.name for alias in node.names}
        elif isinstance(node, ast.ImportFrom):
            assert node.level == 0, f"{path}: relative import"
            names.add(node.module)
            names |= {f"{node.module}.{alias.name}" for alias in node.names}
    return names


@pytest.mark.parametrize("path", FILES, ids=lambda p: str(p.relative_to(ROOT)))
def test_imports_go_down_only(path):
    here = unit(path)
    for name in imported(path):
        parts = name.split(".")
        if parts[0] == "simbias" and len(parts) > 1 and parts[1] in LEVEL:
            there = parts[1]
            is_same_folder = there == here
            assert is_same_folder or LEVEL[there] < LEVEL[here], f"{here} -> {name}"
        elif parts[0] in ONLY_IN:
            assert here in ONLY_IN[parts[0]], f"{here} imports {parts[0]}"


@pytest.mark.parametrize("path", FILES, ids=lambda p: str(p.relative_to(ROOT)))
def test_only_who_is_asked_to_touches_the_global_configuration(path):
    text = path.read_text()
    assert "jax.config" not in text or unit(path) in ("cli", "compiled")
    assert "from __future__" not in text
    assert not re.search(r"\bprint\(", text) or unit(path) == "cli"


def test_every_source_file_belongs_to_a_layer():
    assert {unit(path) for path in FILES} == set(LEVEL)


def test_importing_simbias_does_not_import_zarr():
    code = "import simbias, sys; sys.exit('zarr' in sys.modules)"
    assert subprocess.run([sys.executable, "-c", code], check=False).returncode == 0
