"""What `run NAME --help` says is said again without working it out."""

import json
import subprocess
import sys

import numpy as np
import pytest

from simbias import cli

ASKED = ["run", "three_points", "--help"]


@pytest.fixture
def folder(tmp_path, monkeypatch):
    monkeypatch.setenv("JAX_COMPILATION_CACHE_DIR", str(tmp_path))
    return tmp_path / "help"


def said(capsys, arguments=ASKED):
    with pytest.raises(SystemExit) as left:
        cli.main(arguments)
    assert left.value.code == 0
    return capsys.readouterr().out


def test_help_is_said_again_without_the_experiment(folder, capsys, monkeypatch):
    first = said(capsys)
    assert "--cell.m" in first
    monkeypatch.setattr(cli, "_command", lambda *_: pytest.fail("it was worked out"))
    assert said(capsys) == first


@pytest.mark.process
def test_help_imports_no_jax_once_it_is_known(folder, capsys, monkeypatch):
    code = (
        "import contextlib, sys; from simbias.cli import main\n"
        f"with contextlib.suppress(SystemExit): main({ASKED})\n"
        "print('jax' in sys.modules, file=sys.stderr)"
    )
    ask = lambda: subprocess.run(
        [sys.executable, "-c", code], capture_output=True, text=True, check=True
    )
    first, second = ask(), ask()
    assert first.stderr.split()[-1] == "True"
    assert second.stderr.split()[-1] == "False"
    assert first.stdout == second.stdout


def test_other_options_have_other_help(folder, capsys):
    quick = said(capsys)
    smoke = said(capsys, [*ASKED, "--preset", "smoke"])
    assert quick != smoke
    assert said(capsys) == quick


@pytest.mark.parametrize("text", ["", "[]", '{"key": 1}', "\x00"])
def test_what_is_no_help_is_worked_out_again(folder, capsys, text):
    first = said(capsys)
    (folder / "three_points.json").write_text(text)
    assert said(capsys) == first
    kept = json.loads((folder / "three_points.json").read_text())
    assert kept["text"] == first


def test_help_of_another_simbias_is_not_said(folder, capsys, monkeypatch):
    first = said(capsys)
    file = folder / "three_points.json"
    kept = json.loads(file.read_text())
    file.write_text(json.dumps({**kept, "text": "of another one"}))
    assert said(capsys) == "of another one"
    monkeypatch.setattr(sys, "version", "another")
    assert said(capsys) == first


@pytest.mark.parametrize(
    "arguments",
    [
        ["run", "three_points", "--help", "--no-compile-cache"],
        ["run", "three_points", "--help", "--config", "mine.toml"],
        ["run", "spurious_minimum", "--help", "--data", "mine.npz"],
    ],
)
def test_what_depends_on_more_is_not_kept(folder, capsys, arguments, tmp_path):
    (tmp_path / "mine.toml").write_text("seeds = 3\n")
    np.savez(tmp_path / "mine.npz", x=np.ones((2, 3)), y=np.ones(2))
    arguments = [str(tmp_path / w) if "mine" in w else w for w in arguments]
    assert "--cell.m" in said(capsys, arguments)
    assert not folder.exists()


def test_a_folder_that_cannot_be_written_costs_nothing(tmp_path, capsys, monkeypatch):
    (tmp_path / "file").write_text("")
    monkeypatch.setenv("JAX_COMPILATION_CACHE_DIR", str(tmp_path / "file"))
    assert "--cell.m" in said(capsys)


def test_wrong_options_are_refused_as_without_help(folder, capsys):
    assert cli.exit_code([*ASKED, "--preset", "large"]) == 2
    assert "`preset` must be one of" in capsys.readouterr().err
    assert not folder.exists()
