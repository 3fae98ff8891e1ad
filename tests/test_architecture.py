"""Laws of the source tree: imports go down, a folder is its own registry."""

import ast
import functools
import importlib
import pathlib
import re
import subprocess
import sys

import pytest
from tree import ROOT

import simbias

SOURCE = ROOT / "simbias"

# Low to high; names on one line are siblings and do not import each other.
LAYERS = [
    {"errors", "preset_names", "suggestion"},
    {"dataset", "network"},
    {"flow", "wrapper"},
    {"core", "numerics"},
    {"introspection"},
    {"attacks", "drawn_from", "experiment_presets", "losses", "validation"},
    {"limits", "variational"},
    {"theory"},
    {"datasets", "networks", "flows", "measures", "stops"},
    {"ensemble"},
    {"store"},
    {"workers"},
    {"results"},
    {"analysis"},
    {"claims"},
    {"figures"},
    {"verbs"},
    {"experiments", "films", "report"},
    {"registry", "ledger"},
    {"cli", "__init__"},
    {"__main__"},
]
LEVEL = {name: level for level, names in enumerate(LAYERS) for name in names}
ONLY_IN = {
    "diffrax": {"flows", "numerics"},
    "optax": {"flows"},
    "zarr": {"store", "results"},
    "obstore": {"store"},
    "xarray": {
        *("results", "analysis", "figures", "verbs", "films", "experiments"),
        *("report", "cli"),
    },
    "matplotlib": {"figures", "verbs", "films", "experiments", "report", "cli"},
    "plotly": {"report"},
    "tyro": {"cli"},
    "scipy": {"analysis", "theory"},
}
FILES = sorted(SOURCE.rglob("*.py"))


def unit(path: pathlib.Path) -> str:
    return path.relative_to(SOURCE).parts[0].removesuffix(".py")


@functools.cache
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


# Of a room or a folder, and looked at from outside it.
SEEN = {
    "simbias.flows._descent",
    "simbias.measures.clusters._clusters",
    "simbias.networks.sequence._laws",
}


def test_what_begins_with_a_line_is_of_its_folder():
    for path in FILES:
        here = ("simbias", *path.relative_to(SOURCE).parts[:-1])
        for name in imported(path):
            parts = tuple(name.split("."))
            for i, part in enumerate(parts):
                is_private = part.startswith("_") and not part.startswith("__")
                if parts[0] == "simbias" and is_private and here[:i] != parts[:i]:
                    assert ".".join(parts[: i + 1]) in SEEN, (path, name)


def test_imports_go_down_only():
    for path in FILES:
        here = unit(path)
        for name in imported(path):
            parts = name.split(".")
            if parts[0] == "simbias" and len(parts) > 1 and parts[1] in LEVEL:
                there = parts[1]
                is_lower = LEVEL[there] < LEVEL[here]
                assert there == here or is_lower, f"{path} imports {name}"
            elif parts[0] in ONLY_IN:
                assert here in ONLY_IN[parts[0]], f"{path} imports {parts[0]}"


def test_only_who_is_asked_to_touches_the_global_configuration():
    for path in FILES:
        text = path.read_text()
        assert "jax.config" not in text or unit(path) in ("cli", "numerics"), path
        assert "from __future__" not in text, path
        assert not re.search(r"\bprint\(", text) or unit(path) == "cli", path


def test_every_source_file_belongs_to_a_layer():
    assert {unit(path) for path in FILES} == set(LEVEL)


def test_importing_simbias_does_not_import_zarr():
    code = "import simbias, sys; sys.exit('zarr' in sys.modules)"
    assert subprocess.run([sys.executable, "-c", code], check=False).returncode == 0


def test_a_theme_imports_nothing_of_another_theme_of_its_room():
    for path in FILES:
        room, *inner = path.relative_to(SOURCE).with_suffix("").parts
        theme = inner[0] if len(inner) > 1 else None
        for name in imported(path) if theme else ():
            parts = name.split(".")
            if parts[:2] == ["simbias", room] and (SOURCE / room / parts[2]).is_dir():
                assert parts[2] in (theme, "_shared"), f"{path} imports {name}"


def test_the_stubs_of_the_rooms_are_complete(monkeypatch):
    monkeypatch.syspath_prepend(str(ROOT / "tools"))
    from stubs import stubs  # pyright: ignore

    for path, text in stubs().items():
        assert path.read_text() == text, f"{path}: run `python tools/stubs.py`"


def test_every_name_that_a_room_offers_is_there():
    rooms = ("", ".datasets", ".experiments", ".figures", ".flows", ".measures")
    for room in (*rooms, ".networks", ".stops", ".workers"):
        package = importlib.import_module(f"simbias{room}")
        assert set(package.__all__) <= set(dir(package))
        for name in package.__all__:
            assert getattr(package, name) is not None


def test_the_docstring_of_simbias_names_all_that_it_exports():
    said = {*re.findall(r"\w+", simbias.__doc__ or "")}
    assert {*simbias.__all__} <= said


@pytest.mark.slow
@pytest.mark.parametrize(
    "first",
    [
        "import simbias.verbs.simulate; from simbias.verbs import member",
        "import simbias.experiments.interpolation.threshold",
    ],
)
def test_a_short_name_means_the_same_whatever_was_imported_before(first):
    code = (
        f"{first}\nimport simbias\nfrom types import FunctionType, ModuleType\n"
        "from simbias.datasets import xor_clusters\n"
        "from simbias.experiments import threshold\n"
        "assert isinstance(xor_clusters, FunctionType)\n"
        "assert isinstance(threshold, ModuleType)\n"
        "verbs = 'simulate solve initial member neuron_history evaluate check draw'\n"
        "verbs += ' compare export animate open_result presets cache_programs'\n"
        "for verb in verbs.split():\n"
        "    assert isinstance(getattr(simbias, verb), FunctionType), verb\n"
    )
    subprocess.run([sys.executable, "-c", code], check=True)
