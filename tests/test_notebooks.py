"""Every notebook runs in its smallest form, from the first cell to the last."""

import pytest
from tree import ROOT

FOLDER = ROOT / "notebooks"
SOURCES = sorted(FOLDER.glob("*.py"))


@pytest.mark.notebook
@pytest.mark.parametrize("path", SOURCES, ids=lambda p: p.stem)
def test_the_notebook_runs(path, tmp_path, monkeypatch):
    monkeypatch.delenv("MPLBACKEND", raising=False)  # figures go into the notebook
    monkeypatch.setenv("SIMBIAS_QUICK", "1")  # in the smallest form
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


@pytest.mark.parametrize("path", SOURCES, ids=lambda p: p.stem)
def test_a_notebook_is_short_and_was_executed(path):
    jupytext = pytest.importorskip("jupytext")
    paired = path.with_suffix(".ipynb")
    assert paired.stat().st_size < 300_000
    cells = [c for c in jupytext.read(paired).cells if c.cell_type == "code"]
    assert len(cells) <= 10
    shown = [o for c in cells for o in c["outputs"]]
    assert not [o for o in shown if o["output_type"] == "error"]
    assert any("image/" in str(o.get("data", {})) for o in shown)


def test_every_notebook_is_in_the_index():
    index = (ROOT / "docs" / "notebooks.md").read_text()
    assert SOURCES
    assert all(f"(../notebooks/{path.stem}.ipynb)" in index for path in SOURCES)
