"""Every notebook runs as a plain script, from the first cell to the last."""

import pytest
from tree import ROOT

FOLDER = ROOT / "notebooks"
SOURCES = sorted(FOLDER.glob("*.py"))


@pytest.mark.notebook
@pytest.mark.parametrize("path", SOURCES, ids=lambda p: p.stem)
def test_the_notebook_runs(path, tmp_path, monkeypatch):
    monkeypatch.delenv("MPLBACKEND", raising=False)  # figures go into the notebook
    jupytext = pytest.importorskip("jupytext")
    nbclient = pytest.importorskip("nbclient")
    notebook = jupytext.read(path)
    nbclient.NotebookClient(
        notebook,
        timeout=900,
        kernel_name="python3",
        resources={"metadata": {"path": str(tmp_path)}},
    ).execute()
    outputs = [o for cell in notebook.cells for o in cell.get("outputs", [])]
    assert any("image/png" in o.get("data", {}) for o in outputs)


@pytest.mark.parametrize("path", SOURCES, ids=lambda p: p.stem)
def test_the_paired_notebook_holds_the_same_code(path):
    jupytext = pytest.importorskip("jupytext")
    paired = path.with_suffix(".ipynb")
    sources = lambda p: [c.source for c in jupytext.read(p).cells]
    assert paired.exists(), f"jupytext --sync {path}"
    assert sources(paired) == sources(path)


def test_there_are_notebooks():
    assert SOURCES
