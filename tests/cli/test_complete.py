"""Tab knows commands, experiments, options, presets and runs, and imports no jax."""

import dataclasses
import os
import pathlib
import subprocess
import sys

import pytest

from simbias.cli import _COMMANDS
from simbias.cli._complete import words
from simbias.cli._options import options_class
from simbias.registry import experiment_names, experiments

BIN = pathlib.Path(sys.executable).parent


def found(*line):
    return words([*line], _COMMANDS)


@pytest.mark.parametrize(
    ("line", "wanted"),
    [
        (["ru"], ["run"]),
        (["run", "three_"], ["three_points"]),
        (["run", "three_points", "--pres"], ["--preset"]),
        (["run", "three_points", "--preset", ""], ["paper", "quick", "smoke"]),
        (["run", "three_points", "--preset=s"], ["--preset=smoke"]),
        (["run", "threshold", "--preset", "sg"], ["sgd", "sgd_paper", "sgd_smoke"]),
        (["run", "three_points", "--preset", "=", "s"], ["smoke"]),
        (["run", "three_points", "--preset", "="], ["paper", "quick", "smoke"]),
        (["run", "three_points", "--cell.s"], ["--cell.scale"]),
        (["run", "three_points", "--flow.ev"], ["--flow.events"]),
        (
            ["run", "three_points", "--flow.name", "descent", "--flow.opt"],
            ["--flow.optimiser"],
        ),
        (["run", "threshold", "--flow.name", "re"], ["relu_flow"]),
        (["check", "three_points", "--json", "x", "--preset", "q"], ["quick"]),
        (["check", "parity", "marg"], ["margins"]),
        (["submit", "--cluster", ""], ["dask", "local", "ray", "slurm"]),
        (["figure", "--format", "p"], ["pdf", "png"]),
        (["animate", "x", "--kind", "b"], ["boundary"]),
        (["completion", ""], ["bash", "fish", "zsh"]),
        (["nothing", "--"], []),
        (["worker", "--q"], ["--quiet"]),
    ],
)
def test_a_word_is_completed_by_what_may_stand_there(line, wanted):
    assert found(*line) == wanted


def test_every_command_and_every_experiment_is_offered():
    assert {*_COMMANDS} <= {*found("")}
    assert {*experiment_names()} <= {*found("run", "")}


@pytest.mark.parametrize("name", ["threshold", "bias_matrix", "random_fit", "min_norm"])
def test_the_options_of_an_experiment_are_those_that_it_has(name):
    made = experiments()[name].experiment("quick")
    parts = [field.name for field in dataclasses.fields(options_class(made))]
    assert {f"--{key.replace('_', '-')}" for key in parts} - {"--cell", "--flow"} <= {
        *found("run", name, "--")
    }
    offered = {one for one in found("run", name, "--cell.")}
    for key in made.cell:
        if not key.startswith("flow."):
            assert f"--cell.{key.replace('_', '-')}" in offered


def test_folders_of_runs_are_offered_where_a_run_is_wanted(tmp_path, monkeypatch):
    (tmp_path / "runs" / "mine" / "run.zarr").mkdir(parents=True)
    (tmp_path / "runs" / "other").mkdir()
    (tmp_path / "mine.py").write_text("")
    monkeypatch.chdir(tmp_path)
    assert found("resume", "ru") == found("watch", "ru") == ["runs/"]
    assert found("report", "runs/mine", "ru") == ["runs/"]
    assert found("resume", "runs/") == ["runs/mine", "runs/other/"]
    assert found("resume", "runs/mine", "mi") == ["mine.py"]
    assert found("run", "mi") == ["min_norm", "mine.py"]


def test_a_file_of_yours_has_its_options(tmp_path, monkeypatch):
    (tmp_path / "mine.py").write_text("def make(key, *, n=3, my_gap=1.0): ...\n")
    (tmp_path / "torn.py").write_text("def make(")
    monkeypatch.chdir(tmp_path)
    assert found("run", "mine.py", "--cell.") == ["--cell.my-gap", "--cell.n"]
    assert found("run", "torn.py", "--cell.") == []


# A real bash that has read the script: what it offers for a line.
_ASK = r"""
source /dev/stdin <<< "$(simbias completion bash)"
ask() {
    COMP_WORDS=("$@"); COMP_CWORD=$(($# - 1)); COMPREPLY=()
    _simbias
    printf '%s,' "${COMPREPLY[@]}"; echo
}
compopt() { :; }
"""


def bash(script, folder):
    environment = os.environ | {"PATH": f"{BIN}:{os.environ['PATH']}"}
    done = subprocess.run(
        ["bash", "--norc", "-c", _ASK + script],
        cwd=folder,
        env=environment,
        capture_output=True,
        text=True,
        check=True,
    )
    assert not done.stderr
    return done.stdout.splitlines()


def test_bash_completes_by_it(tmp_path):
    (tmp_path / "runs" / "a run" / "run.zarr").mkdir(parents=True)
    asked = [
        "ask simbias dis",
        "ask simbias doc",
        "ask simbias run three_",
        "ask simbias run three_points --preset = q",
        "ask simbias resume runs/",
        r"ask simbias resume 'runs/a\ r'",
        "complete -p simbias",
    ]
    assert bash("\n".join(asked), tmp_path) == [
        ",",
        "doctor,",
        "three_points,",
        "quick,",
        r"runs/a\ run,",
        r"runs/a\ run,",
        "complete -o bashdefault -o default -F _simbias simbias",
    ]


def test_tab_costs_little_and_imports_no_jax():
    code = (
        "import sys; from simbias.cli import main\n"
        "try: main(['_complete', 'run', 'threshold', '--cell.n'])\n"
        "except SystemExit: pass\n"
        "assert not {'jax', 'tyro', 'xarray', 'numpy'} & {*sys.modules}"
    )
    began = os.times()
    done = subprocess.run(
        [sys.executable, "-c", code], capture_output=True, text=True, check=True
    )
    ended = os.times()
    assert done.stdout.split() == ["--cell.n", "--cell.n-test"]
    # Of the processor, which others share: a Tab waits for about as long.
    used = sum(ended[i] - began[i] for i in (2, 3))
    assert used < 0.3


def test_the_scripts_of_other_shells_are_read_by_them_where_they_are(tmp_path):
    for shell in ("zsh", "fish"):
        script = subprocess.run(
            [BIN / "simbias", "completion", shell],
            capture_output=True,
            text=True,
            check=True,
        ).stdout
        assert "_complete" in script
        file = tmp_path / shell
        file.write_text(script)
        if any((pathlib.Path(p) / shell).exists() for p in ("/usr/bin", "/bin")):
            subprocess.run([shell, "-n", file], check=True)
