import ast
import inspect
import itertools
import json
import os
import signal
import subprocess
import sys
import time
from importlib.metadata import version
from typing import get_args

import matplotlib
import pytest
import tyro

import simbias
from simbias import cli
from simbias.cli import list_experiments as _list
from simbias.cli._figures_and_claims import tally_of
from simbias.cli._options import RunOptions, experiment_of, options_class, overrides
from simbias.cli._overrides import overridden
from simbias.cli._source import source
from simbias.cli.check import _by_theme, _presets, _tally
from simbias.ensemble.parameters import parameters_of
from simbias.errors import BadInput
from simbias.registry import experiments, themes
from simbias.results import is_finished, open_result

SMALL = ["--cell.n", "8", "30", "--cell.m", "10", "--cell.n-test", "20", "--seeds", "2"]
SMALL += ["--times", "0", "5", "20", "--flow.name", "descent"]


def run(*arguments):
    try:
        cli.main(list(arguments))
    except SystemExit as leaving:
        return leaving.code or 0
    return 0


def test_list_names_every_experiment_below_its_theme(capsys):
    assert run("list") == 0
    out = capsys.readouterr().out
    listed = [line.split()[0] for line in out.splitlines() if line.startswith("  ")]
    # Below an experiment stand its variants.
    listed = [name for name in listed if name != "--preset"]
    assert set(experiments()) <= {*listed}
    assert len(listed) == len({*listed})
    assert "alignment: Early alignment: neurons turn before they grow" in out
    assert run("list", "--json") == 0
    rows = {row["name"]: row for row in json.loads(capsys.readouterr().out)}
    assert {*listed} == {*rows}
    for name, module in experiments().items():
        assert module.__name__.split(".")[-2] == rows[name]["theme"]
        assert module.__doc__.startswith(rows[name]["title"])


@pytest.mark.skipif(os.name == "nt", reason="a pipe breaks otherwise there")
@pytest.mark.parametrize("words", [["list"], ["list", "--help"], ["--help"]])
def test_who_reads_no_further_gets_no_error(words):
    read, write = os.pipe()
    os.close(read)
    command = [sys.executable, "-m", "simbias", *words]
    done = subprocess.run(command, stdout=write, stderr=subprocess.PIPE, text=True)
    os.close(write)
    assert (done.returncode, done.stderr) == (141, "")


@pytest.mark.parametrize("words", [["list"], ["list", "--json"]])
def test_a_terminal_without_unicode_is_written_to(words):
    command = [sys.executable, "-m", "simbias", *words]
    variables = {**os.environ, "PYTHONIOENCODING": "ascii"}
    done = subprocess.run(command, env=variables, capture_output=True, check=True)
    said = done.stdout.decode("ascii")
    if "--json" in words:
        assert {*experiments()} <= {row["name"] for row in json.loads(said)}
    else:
        assert "three_points" in said


def test_the_help_of_run_has_what_every_experiment_has(capsys):
    assert run("run", "--help") == 0
    said = " ".join(capsys.readouterr().out.split())
    for option in ("preset", "config", "data", "seeds", "times", "workers", "out"):
        assert f"--{option} " in said
    assert "simbias run NAME --help" in said


def test_the_usage_names_every_command_and_every_exit_code(capsys):
    assert run("--help") == 0
    said = capsys.readouterr().out
    for command in cli._COMMANDS:
        assert f"\n  {command} " in said
    codes = said.partition("Exit codes:")[2]
    for code in ("0", "1", "2", "129", "130", "141", "143"):
        assert code in codes


@pytest.mark.parametrize("name", sorted(experiments()))
def test_every_option_of_an_experiment_is_described(name):
    made = experiment_of(experiments()[name], "quick", [])
    parts = options_class(made).__annotations__
    for part in (parts["cell"], parts["flow"]):
        for key, kind in part.__annotations__.items():
            assert get_args(kind)[1].help, f"{part.__name__} {key}"


def test_every_option_of_run_is_described():
    (declared,) = ast.parse(inspect.getsource(RunOptions)).body
    assert isinstance(declared.body[-1], ast.Expr)
    for option, after in itertools.pairwise(declared.body):
        if isinstance(option, ast.AnnAssign):
            assert isinstance(after, ast.Expr), ast.unparse(option)


def test_the_help_of_an_experiment_lists_what_decides_the_defaults(capsys):
    assert run("run", "three_points", "--preset", "smoke", "--help") == 0
    said = " ".join(capsys.readouterr().out.split())
    assert "--preset {smoke,quick,paper}" in said
    assert "(default: smoke)" in said
    assert "--config" in said
    assert "Number of seeds: each gives a network in every cell. (default: 3)" in said


def test_the_version_is_that_of_the_package(capsys):
    assert run("--version") == 0
    assert capsys.readouterr().out.strip() == simbias.__version__ == version("simbias")


@pytest.mark.parametrize(
    "command",
    [
        "new",
        "list",
        "run threshold",
        "resume",
        "worker",
        "submit",
        "figure",
        "report",
        "watch",
        "status",
        "check",
        "export",
        "doctor",
        "completion",
    ],
)
def test_every_command_has_its_help(command, capsys):
    assert run(*command.split(), "--help") == 0
    assert f"usage: simbias {command}" in capsys.readouterr().out


@pytest.mark.parametrize("name", sorted(experiments()))
def test_every_argument_of_make_is_an_option(name, capsys):
    assert run("run", name, "--help") == 0
    text = capsys.readouterr().out
    for key in parameters_of(experiments()[name].experiment().make):
        assert f"--cell.{key.replace('_', '-')} " in text


@pytest.mark.process
def test_an_optimiser_without_a_text_is_named_and_stays(tmp_path, capsys):
    small = ("--preset", "smoke", "--seeds", "1", "--times", "0", "0.1")
    assert run("run", "low_rank_weights", *small, "--out", str(tmp_path / "a")) == 0
    capsys.readouterr()
    own = ("--flow.optimiser", "normalized")
    assert run("run", "low_rank_weights", *own, "--out", str(tmp_path / "b")) == 2
    assert "normalised" in capsys.readouterr().err


def test_run_leaves_a_store_a_figure_claims_and_the_configuration(tmp_path, capsys):
    out = tmp_path / "run"
    assert run("run", "threshold", *SMALL, "--out", str(out)) == 0
    assert {p.name for p in out.iterdir()} == {
        "run.zarr",
        "figure.png",
        "claims.json",
        "config.json",
        "report.html",
        "time_taken",
    }
    ds = open_result(out)
    assert dict(ds["status"].sizes) == {"n": 2, "seed": 2}
    assert is_finished(ds).all()
    claims = json.loads((out / "claims.json").read_text())
    assert claims["members"] == claims["finished"] == 4
    kept = {"statement", "value", "low", "high", "method", "band", "source", "verdict"}
    assert kept <= set(claims["claims"][0])
    config = json.loads((out / "config.json").read_text())
    assert config["configuration"]["cell"]["n"] == [8, 30]
    assert config["configuration"]["flow"]["type"]
    # The figure again, from what is stored.
    (out / "figure.png").unlink()
    assert run("figure", str(out)) == 0
    assert (out / "figure.png").stat().st_size > 10_000
    # Another configuration into the same folder: refused, nothing touched.
    before = {p: p.stat().st_mtime_ns for p in out.rglob("*")}
    assert run("run", "threshold", *SMALL, "--root", "1", "--out", str(out)) == 2
    assert "root: 0 -> 1" in capsys.readouterr().err
    assert before == {p: p.stat().st_mtime_ns for p in out.rglob("*")}


@pytest.mark.process
def test_run_adds_seeds_until_it_is_decided_and_goes_on(tmp_path, capsys):
    asked = ["run", "threshold", *SMALL, "--decide", "--budget", "1s"]
    asked += ["--out", str(tmp_path / "run")]
    assert run(*asked) == 0
    claims = json.loads((tmp_path / "run" / "claims.json").read_text())
    assert {one["seeds"] for one in claims["claims"]} == {20}
    assert open_result(tmp_path / "run").sizes["seed"] == 20
    assert (tmp_path / "run" / "report.html").exists()
    capsys.readouterr()
    assert run(*asked) == 0  # nothing is left to compute
    assert "40 of 40 networks finished" in capsys.readouterr().out


def test_settings_of_matplotlib_in_the_working_directory_are_not_read(
    tmp_path, monkeypatch, capsys
):
    # A stranger's folder may name the program that films are made with.
    monkeypatch.chdir(tmp_path)
    setting = "animation.ffmpeg_path"
    (tmp_path / "matplotlibrc").write_text(f"{setting}: ./ff\n")
    with matplotlib.rc_context({setting: "./ff"}):
        assert run("figure", "nothing") == 2
        assert matplotlib.rcParams[setting] == "ffmpeg"
    assert "matplotlibrc in this folder is ignored" in capsys.readouterr().err


@pytest.mark.process
def test_what_cannot_be_written_is_named_as_the_person_knows_it(tmp_path, capsys):
    out = tmp_path / "run"
    (out / "claims.json").mkdir(parents=True)
    assert run("run", "threshold", *SMALL, "--workers", "0", "--out", str(out)) == 2
    assert "a folder with other content than a run" in capsys.readouterr().err
    (out / "claims.json").rmdir()
    assert run("run", "threshold", *SMALL, "--workers", "0", "--out", str(out)) == 0
    (out / "config.json").unlink()
    (out / "config.json").mkdir()
    assert run("run", "threshold", *SMALL, "--workers", "0", "--out", str(out)) == 2
    assert f"Is a directory: {out / 'config.json'}" in capsys.readouterr().err


@pytest.mark.process
def test_a_toml_file_has_the_keys_of_the_command_line(tmp_path):
    file = tmp_path / "small.toml"
    file.write_text(
        'preset = "smoke"\nseeds = 1\ntimes = [1.0]\n'
        '[cell]\nn = 8\nm = 4\nn_test = 10\nactivation = "gelu"\n'
        '[flow]\nname = "descent"\noptimiser = "adam"\nrate = 0.01\n'
    )
    out = tmp_path / "run"
    assert (
        run(
            "run", "threshold", "--config", str(file), "--out", str(out), "--seeds", "2"
        )
        == 0
    )
    config = json.loads((out / "config.json").read_text())["configuration"]
    assert config["cell"]["activation"] == "gelu"
    assert config["cell"]["n"] == 8
    assert config["flow"]["optimiser"] == "adam"
    assert config["flow"]["rate"] == 0.01
    assert config["seeds"] == 2


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("sedes = 3", "`sedes` is not an option. Did you mean `seeds`?"),
        ('seeds = "3"', "`seeds` must be a number"),
        ("seeds = 2.5", "`seeds` must be an integer"),
        ("[cell]\nnn = 3", "`cell.nn` is not an argument of `make`"),
        ("[cell]\nn = nan", "`cell.n` must be finite"),
        ("[cell]\nn = []", "`cell.n` is empty"),
        ("[flow]\nrat = 0.1", "`flow.rat` is not a field of"),
        ('[flow]\nname = "sgdd"', "`flow.name` must be one of"),
        ("[flow]\nname = 3", "`flow.name` must be one of"),
        ("cell = 3", "`cell` must be a table"),
        ("times = 3", "`times` must be a list"),
        ("seeds = ", "is not valid TOML"),
        ('preset = "big"', "`preset` must be one of"),
        ("n = " + "[" * 5000 + "]" * 5000, "is nested too deeply"),
    ],
)
def test_a_wrong_file_is_refused_with_the_key(tmp_path, capsys, text, message):
    file = tmp_path / "wrong.toml"
    file.write_text(text)
    out = tmp_path / "run"
    assert run("run", "threshold", "--config", str(file), "--out", str(out)) == 2
    assert message in capsys.readouterr().err
    assert not out.exists()


def test_a_run_whose_files_are_not_named_makes_no_folder(tmp_path, capsys):
    out = tmp_path / "run"
    words = ["run", "spectral_label_noise", "--preset", "smoke", "--out", str(out)]
    assert run(*words, "--cell.source", "mnist") == 2
    assert "`--cell.data_dir` is required" in capsys.readouterr().err
    assert not out.exists()


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (["rum"], "Did you mean `run`?"),
        (["run"], "needs the name of an experiment"),
        (["run", "treshold"], "Did you mean `threshold`?"),
        (["run", "threshold", "--cell.nn", "5"], "--cell.nn"),
        (["run", "threshold", "--seeds", "x"], "--seeds"),
        (["run", "threshold", "--seeds", "0"], "`--seeds` must be"),
        (["run", "threshold", "--seeds", "1000000000"], "too large"),
        (
            ["run", "threshold", "--cell.n", "0"],
            "`--cell.n` must be a positive integer",
        ),
        (["run", "threshold", "--cell.n", "-5"], "Example: --cell.n 100."),
        (
            ["run", "threshold", "--cell.m", "0"],
            "`--cell.m` must be a positive integer",
        ),
        (["run", "threshold", "--cell.n", "5", "5"], "more than once"),
        (["run", "threshold", "--cell.n"], "is empty"),
        (["run", "threshold", "--cell.sigma", "nan"], "`--cell.sigma` must be finite"),
        (["run", "threshold", "--cell.sigma", "-1"], "`--cell.sigma` must be"),
        (["run", "threshold", "--final-time", "0"], "`--final-time` must be positive"),
        (["run", "threshold", "--times", "1", "1"], "`--times` must increase"),
        (
            ["run", "threshold", "--times", "1", "nan"],
            "`--times` must be finite, got nan",
        ),
        (["run", "threshold", "--data", "none.npz"], "`--data`: cannot read"),
        (["run", "threshold", "--flow.rate", "1"], "--flow.name descent"),
        (["run", "threshold", "--preset", "big"], "`preset` must be one of"),
        (["run", "threshold", "--config", "none.toml"], "cannot read none.toml"),
        (["run", "threshold", "--cell.activation", "relx"], "relx"),
        (["run", "threshold", "--flow.name", "sgdd"], "`flow.name` must be one of"),
        (
            ["run", "threshold", "--flow.name", "descent", "--flow.rate", "-1"],
            "`--flow.rate` must be",
        ),
        (["run", "threshold", "--lanes", "0"], "`--lanes` must be"),
        (["run", "threshold", "--root", "-1"], "`--root` must be"),
        (
            ["run", "threshold", "--cell.m", "100000000000"],
            "`--cell.m` must be at most",
        ),
        (
            ["run", "threshold", "--cell.activation", "gelu"],
            "--flow.name gradient_flow",
        ),
        (["run", "threshold", "--out", ""], "address of a run must not be empty"),
        (["check", "--out", ""], "address of a run must not be empty"),
        (["check", "--json", "."], "`--json` must be a file, but . is a folder"),
        (["check", "--json", "/proc/none.json"], "/proc/.none.json.tried"),
        (["check", "--decide", "--budget", "20"], "`--budget` must be a time"),
        (["run", "threshold", "--decide", "--budget", "x"], "`--budget` must be"),
        (["run", "threshold", "--decide", "--workers", "2"], "`--workers` cannot"),
        (["list", "threshold"], "Unrecognized"),
        (["figure"], "Missing from simbias figure"),
        (["figure", "nowhere"], "is not a simbias run"),
        (["check", "treshold"], "Did you mean `threshold`?"),
    ],
)
def test_bad_input_exits_with_2_names_the_field_and_writes_nothing(
    tmp_path, monkeypatch, capsys, arguments, message
):
    monkeypatch.chdir(tmp_path)
    assert run(*arguments) == 2
    assert message in capsys.readouterr().err
    assert list(tmp_path.iterdir()) == []


def test_debugging_shows_where_an_error_comes_from(monkeypatch, capsys):
    assert run("figure", "nowhere") == 2
    assert "Traceback" not in capsys.readouterr().err
    assert run("figure", "nowhere", "--debug") == 2
    monkeypatch.setenv("SIMBIAS_DEBUG", "1")
    assert run("figure", "nowhere") == 2
    err = capsys.readouterr().err
    assert err.count("Traceback (most recent call last)") >= 2
    assert err.count("simbias: error: `nowhere/run.zarr` is not a simbias run") == 2


def test_only_what_was_asked_wrongly_is_called_bad_input(monkeypatch):
    def fails(_):
        raise ValueError("operands could not be broadcast together")

    monkeypatch.setattr(_list, "list_experiments", fails)
    with pytest.raises(ValueError, match="broadcast"):
        run("list")
    with pytest.raises(BadInput, match="nowhere"):
        open_result("nowhere")


def test_several_values_of_a_field_of_the_flow_are_an_axis():
    def changed(experiment, *arguments):
        parsed = tyro.cli(options_class(experiment), args=arguments)
        return overridden(experiment, overrides(parsed, experiment))

    plain = experiments()["threshold"].experiment("smoke")
    plain = overridden(plain, {"flow": {"name": "descent", "rate": 0.2}})
    swept = changed(plain, "--flow.batch", "8", "16", "--flow.optimiser", "adam")
    assert swept.cell["flow.batch"] == (8, 16)
    assert (swept.flow.batch, swept.flow.rate) == (None, 0.2)
    filed = overridden(plain, {"flow": {"batch": [8, 16]}})
    assert filed.cell == {**plain.cell, "flow.batch": (8, 16)}
    # What is said again changes nothing, one value replaces an axis.
    assert changed(swept) == swept
    assert changed(swept, "--flow.batch", "4").cell["flow.batch"] == (4,)
    assert overridden(swept, {"flow": {"batch": 4}}).cell["flow.batch"] == 4


def test_a_folder_with_something_else_in_it_is_left_alone(tmp_path, capsys):
    (tmp_path / "thesis.tex").write_text("mine")
    assert run("run", "threshold", *SMALL, "--out", str(tmp_path)) == 2
    assert "a folder with other content than a run" in capsys.readouterr().err
    assert [p.name for p in tmp_path.iterdir()] == ["thesis.tex"]


@pytest.mark.process
def test_check_prints_claims_as_json(capsys):
    run("check", "random_design", "--preset", "smoke", "--json", "-")
    out, err = capsys.readouterr()
    (document,) = json.loads(out)
    assert document["experiment"] == "random_design"
    assert "supported" in {c["verdict"] for c in document["claims"]}
    assert f"claims {len(document['claims'])}: supported" in err


def test_check_knows_themes():
    names = lambda words: [(theme, one.name) for theme, one in _by_theme(words)]
    every = names([])
    known = [theme for theme in themes() if theme]
    assert [*dict.fromkeys(theme for theme, _ in every)] == sorted(known)
    assert len(every) == len(experiments())
    of_theme = names(["margins"])
    assert of_theme == [("margins", name) for name in themes()["margins"][1]]
    assert names(["max_margin", "margins"]) == sorted(
        of_theme, key=lambda one: one[1] != "max_margin"
    )


def test_check_of_a_size_has_the_variants_of_that_size():
    presets = lambda asked: _presets(source("threshold"), asked)
    assert presets("quick") == ["quick", "large", "sgd"]
    assert presets("smoke") == ["smoke", "large_smoke", "sgd_smoke"]
    assert presets("sgd") == ["sgd"]
    assert _presets(source("three_points"), "paper") == ["paper"]


def test_a_variant_is_listed_below_its_experiment(capsys):
    assert run("list") == 0
    lines = capsys.readouterr().out.splitlines()
    at = [line.startswith("  threshold ") for line in lines].index(True)
    assert lines[at + 1].strip() == "--preset large"
    assert run("list", "--json") == 0
    rows = json.loads(capsys.readouterr().out)
    variants = {row["name"]: row["variants"] for row in rows}
    assert variants["threshold"] == ["large", "sgd"]
    assert variants["three_points"] == []


def test_check_says_how_long_each_theme_took():
    claim = {"verdict": "supported", "low": 0.1, "high": 0.2, "level": 0.95}
    document = {"theme": "order", "seconds": 90.0, "claims": [claim]}
    one, two, three = ({**document, "experiment": k} for k in "abc")
    assert "order" not in _tally([one])
    lines = _tally([one, two, three | {"theme": ""}]).splitlines()
    assert lines[0] == (
        "order: 2 experiments, 3.0 min; claims 2: supported 2, contradicted 0, "
        "inconclusive 0, "
        "not applicable 0"
    )
    assert lines[1].startswith("others: 1 experiment, 1.5 min; ")
    assert lines[2] == "3 experiments, 4.5 min in all"
    said = _tally([one, one, three])
    assert said.startswith("2 experiments and 1 variant, 4.5 min in all")


def test_chance_is_counted_for_claims_that_have_an_interval():
    claim = {"verdict": "supported", "low": 0.1, "high": 0.2, "level": 0.95}
    exact = claim | {"low": 2.0, "high": 2.0}
    half_open = claim | {"verdict": "inconclusive", "high": None, "level": 0.9}
    unjudged = claim | {"verdict": "not applicable"}
    text = tally_of([{"claims": [claim, exact]}, {"claims": [half_open, unjudged]}])
    assert (
        "claims 4: supported 2, contradicted 0, inconclusive 1, not applicable 1"
        in text
    )
    assert "By chance, at most 0.075 of the" in text


@pytest.mark.long
def test_interrupting_leaves_a_readable_store(tmp_path):
    out = tmp_path / "run"
    command = [sys.executable, "-m", "simbias", "run", "threshold", "--out", str(out)]
    command += ["--cell.n", "8", "--cell.m", "50", "--seeds", "4000"]
    command += ["--times", "0", "50", "--flow.name", "descent"]
    process = subprocess.Popen(
        command, stderr=subprocess.PIPE, env={**os.environ, "JAX_PLATFORMS": "cpu"}
    )
    deadline = time.monotonic() + 120
    while time.monotonic() < deadline and process.poll() is None:
        time.sleep(1)
        if (out / "run.zarr" / "members" / "status" / "c").exists():
            break
    process.send_signal(signal.SIGINT)
    _, err = process.communicate(timeout=60)
    assert process.returncode == 130
    assert f"simbias resume {out}".encode() in err
    done = is_finished(open_result(out))
    assert 0 < done.sum() < 4000
