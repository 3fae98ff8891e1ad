"""A file of yours is an experiment like any other, and never runs unasked."""

import json
import os
import pathlib
import re
import shutil
import signal
import subprocess
import sys
import time
from types import SimpleNamespace

import numpy as np
import pytest
from full import fully_optimised
from own import TEXT
from tree import ROOT

import simbias
from simbias import cli
from simbias.cli import new as _new
from simbias.figures import kinds, median_curves
from simbias.figures.kind import Kind
from simbias.results import is_finished, open_result
from simbias.store._root import attributes_of, sealed
from simbias.store.source import MOST_BYTES, difference, kept, text_fault

PAGE = ROOT / "docs" / "extend.md"


def command(*arguments):
    try:
        cli.main([str(word) for word in arguments])
    except SystemExit as leaving:
        return leaving.code or 0
    return 0


@pytest.fixture
def mine(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    path = tmp_path / "mine.py"
    path.write_text(TEXT)
    return path


@pytest.fixture(scope="module")
def stored(tmp_path_factory):
    """A finished run of a file."""
    folder = tmp_path_factory.mktemp("stored")
    (folder / "mine.py").write_text(TEXT)
    assert command("run", folder / "mine.py", "--out", folder / "run") == 0
    return folder / "run"


@pytest.fixture
def finished(stored, tmp_path):
    return shutil.copytree(stored, tmp_path / "run")


@pytest.fixture
def begun(mine, tmp_path):
    """A run of the file in which nobody has started."""
    assert command("run", "mine.py", "--workers", "0", "--out", "begun") == 0
    return tmp_path / "begun"


def contents(folder):
    return {p: p.read_bytes() for p in folder.rglob("*") if p.is_file()}


def seal(run, change):
    """As who knows the checksum, which is no secret, would do it."""
    root = run / "run.zarr" / "zarr.json"
    attributes = attributes_of(json.loads(root.read_text()))
    change(attributes)
    root.write_bytes(sealed(attributes))


def recipe(run):
    root = json.loads((run / "run.zarr" / "zarr.json").read_text())
    return attributes_of(root)["recipe"]


@pytest.mark.process
def test_what_new_writes_runs_as_it_is_and_shows_bands(tmp_path, monkeypatch, capsys):
    monkeypatch.chdir(tmp_path)
    assert command("new", "waves") == 0
    assert "simbias run waves.py" in capsys.readouterr().out
    text = (tmp_path / "waves.py").read_text()
    assert len(text.splitlines()) < 70
    assert 'name="waves"' in text
    assert not {"blank", "band", "plot"} & {*re.findall(r"\w+", text)}
    small = ["--seeds", "8", "--times", "0", "50", "2000", "--cell.m", "3"]
    assert command("run", "waves.py", *small, "--format", "pdf", "svg") == 0
    said = capsys.readouterr().out
    assert "supported      wave 0.3: bend at t = 50" in said
    assert said.count("control: a line always") == 1
    out = tmp_path / "runs" / "waves-quick"
    assert {p.name for p in out.iterdir()} == {
        "run.zarr",
        "figure.pdf",
        "figure.svg",
        "claims.json",
        "config.json",
        "report.html",
        "time_taken",
    }
    assert (out / "figure.pdf").read_bytes().startswith(b"%PDF")
    assert "<svg" in (out / "figure.svg").read_text()


def test_new_overwrites_nothing_and_its_file_is_the_one_of_the_docs(mine, capsys):
    assert command("new", "mine") == command("new", "./mine.py") == 2
    assert "mine.py exists already" in capsys.readouterr().err
    assert mine.read_text() == TEXT
    assert command("new", "two words") == 2
    mine.unlink()
    assert command("new", "mine.py") == 0
    text = mine.read_text()
    assert text == _new._TEMPLATE.read_text()
    assert f"```python\n{text}```" in PAGE.read_text()


def test_the_page_names_every_panel_and_every_common_claim():
    page = PAGE.read_text()
    assert len(page.splitlines()) < 150
    known = {**vars(median_curves), **vars(kinds)}
    panels = [k for k, v in known.items() if isinstance(v, type)]
    panels = [k for k in panels if issubclass(known[k], Kind) and k != "Kind"]
    assert len(panels) == 7
    words = ("mean", "median", "difference", "share", "slope", "largest", "value")
    for name in [*panels, *(f"{word}_of" for word in words)]:
        assert f"`{name}" in page


@pytest.mark.process
def test_a_file_is_run_shared_resumed_drawn_and_checked(mine, tmp_path, capsys):
    """Network, flow, data and measure are the file's own."""
    out = tmp_path / "out"
    options = ["--cell.n", "5", "7", "--flow.rate", "0.2", "--out", out]
    assert command("run", mine, *options, "--workers", "0") == 0
    assert f"simbias worker {out} {mine}" in capsys.readouterr().err
    assert command("worker", out, mine, "--quiet") == 0
    assert is_finished(open_result(out)).all()
    assert command("resume", out, mine) == 0
    assert "supported      distance" in capsys.readouterr().out
    config = json.loads((out / "config.json").read_text())
    assert config["configuration"]["make"].split()[0] == "mine.make"
    assert config["configuration"]["flow"] == {"type": "Walk", "rate": 0.2}
    assert config["file"] == {k: kept("mine.py", TEXT)[k] for k in ("name", "sha256")}
    ds = open_result(out)
    assert dict(ds["status"].sizes) == {"slope": 2, "n": 2, "seed": 3}
    (out / "figure.png").unlink()
    assert command("figure", out, mine, "--format", "png", "pdf") == 0
    assert {"figure.png", "figure.pdf"} < {p.name for p in out.iterdir()}
    assert command("check", mine, "--json", tmp_path / "claims.json") == 0
    (document,) = json.loads((tmp_path / "claims.json").read_text())
    assert (document["experiment"], document["finished"]) == ("mine", 6)
    assert document["theme"] == ""
    assert document["seconds"] > 0
    # A script that imports the file goes on with the same run.
    experiment = sys.modules["mine"].experiment()
    data, _ = simbias.initial(open_result(out), experiment, slope=2.0, n=7, seed=1)
    np.testing.assert_allclose(data.y, 2 * data.x)


@pytest.mark.slow
def test_check_adds_seeds_until_claims_are_decided(mine, tmp_path, capsys):
    claim = 'mean_of("slope", ds["learnt"].isel(slope=0, time=-1), (0.88, 2), "mine")'
    mine.write_text(
        TEXT.replace("value_of\n", "mean_of, value_of\n").replace(
            '"mine")]', f'"mine"),\n            {claim}]'
        )
    )
    words = ("check", mine, "--decide", "--json", tmp_path / "claims.json", "--out")
    assert command(*words, tmp_path / "runs", "--budget", "1m") == 0
    told = capsys.readouterr().out
    (document,) = json.loads((tmp_path / "claims.json").read_text())
    exact, mean = document["claims"]
    assert (exact["seeds"], exact["seeds_needed"]) == (20, None)
    assert mean["verdict"] == "supported"
    assert mean["method"].startswith("confidence sequence")
    assert f"; {mean['seeds']} seeds (expected" in told
    # The folder is a run of so many seeds, some of which nobody asked for.
    ds = open_result(tmp_path / "runs" / "mine")
    assert ds.sizes["seed"] == mean["seeds"] > 20
    assert is_finished(ds.isel(slope=0)).all()
    assert not is_finished(ds.isel(slope=1)).all()


@pytest.mark.process
def test_a_run_whose_fields_had_other_names_is_gone_on_with(begun, mine):
    def as_earlier(attributes):
        overrides = attributes["recipe"]["overrides"]
        assert "pad_to" in overrides[-1]
        for fields in (attributes["configuration"], overrides[-1]):
            fields["least_rows"] = fields.pop("pad_to")

    assert command("run", mine, "--out", "again") == 0
    seal(begun, as_earlier)
    assert command("resume", begun, mine) == 0
    ds, again = open_result(begun), open_result("again")
    np.testing.assert_array_equal(ds["learnt"], again["learnt"])
    assert simbias.compare(ds, again).attrs["differs"] == "{}"
    experiment = sys.modules["mine"].experiment()
    assert simbias.initial(ds, experiment, slope=2.0)[0].x.shape == (5, 1)


@pytest.mark.process
def test_figure_and_claims_may_be_left_out(mine, capsys):
    mine.write_text(TEXT[: TEXT.index("def figure")])
    assert command("run", "mine.py", "--out", "run") == 0
    assert json.loads(pathlib.Path("run/claims.json").read_text())["claims"] == []
    assert not list(pathlib.Path("run").glob("figure*"))
    assert command("figure", "run", "mine.py") == 2
    assert "mine.py must define `figure(ds)`" in capsys.readouterr().err


def test_a_file_without_presets_has_only_one(mine, capsys):
    assert command("run", "mine.py", "--help") == 0
    assert "{quick}" in capsys.readouterr().out
    assert command("run", "mine.py", "--preset", "smoke") == 2
    assert "must be one of quick, got 'smoke'" in capsys.readouterr().err
    mine.write_text(
        TEXT
        + "\n\nexperiment = simbias.presets(\n"
        + "    experiment(), smoke={'seeds': 1}, paper={'seeds': 9}\n)\n"
    )
    assert command("run", "mine.py", "--preset", "paper", "--help") == 0
    said = " ".join(capsys.readouterr().out.split())
    assert "Number of seeds: each gives a network in every cell. (default: 9)" in said


OTHER = TEXT.replace("network.slope[0]", "2 * network.slope[0]")
DIFFERENCE = ["-        return network.", "+        return 2 * network."]


@pytest.mark.parametrize(
    "words",
    [
        ["run", "mine.py", "--out", "begun"],
        ["resume", "begun", "mine.py"],
        ["worker", "begun", "mine.py", "--quiet"],
        ["run", "mine.py", "--out", "begun", "--seeds", "9"],
    ],
)
def test_a_text_that_differs_is_refused_with_the_difference(begun, mine, capsys, words):
    before = contents(begun)
    mine.write_text(OTHER)
    assert command(*words) == 2
    said = capsys.readouterr().err
    assert all(line in said for line in DIFFERENCE)
    assert "has changed since this run was started" in said
    # But for what a worker leaves for who asks why there is none.
    after = contents(begun)
    assert {p: v for p, v in after.items() if p.parent.name != "time_taken"} == before


def test_a_submitted_text_that_differs_is_refused_before_a_job_is_made(
    begun, mine, monkeypatch, capsys
):
    monkeypatch.setitem(sys.modules, "submitit", SimpleNamespace())
    mine.write_text(OTHER)
    words = ["submit", "begun", "mine.py", "--cluster", "local", "--wait"]
    assert command(*words) == 2
    assert DIFFERENCE[1] in capsys.readouterr().err
    assert not (begun / "jobs").exists()


@pytest.mark.process
@pytest.mark.filterwarnings("ignore:.*is computed again")
def test_a_finished_run_is_drawn_and_judged_by_a_changed_file(finished, mine, capsys):
    """`run` would show old numbers under a new text: it refuses."""
    mine.write_text(TEXT.replace('"distance"', '"how far"'))
    chunks = contents(finished / "run.zarr")
    assert command("run", "mine.py", "--out", finished) == 2
    assert '"how far"' in capsys.readouterr().err
    assert command("resume", finished, "mine.py") == 0
    said = capsys.readouterr()
    assert "how far" in said.out
    assert "mine.py has changed since this run was started" in said.err
    assert command("figure", finished, "mine.py") == 0
    assert "mine.py has changed" in capsys.readouterr().err
    assert contents(finished / "run.zarr") == chunks
    # What is damaged is not computed by another text.
    of_run = finished / "run.zarr" / "trajectories"  # not the copy for others
    torn = next(p for p in chunks if of_run / "learnt" / "c" in p.parents)
    torn.write_bytes(torn.read_bytes()[:-9])
    assert command("resume", finished, "mine.py") == 2
    assert "has changed since this run was started" in capsys.readouterr().err


@pytest.mark.process
def test_runs_kept_by_check_are_of_one_text_too(mine, capsys):
    for file in ("once.json", "again.json"):
        assert command("check", "mine.py", "--out", "checks", "--json", file) == 0
    # Once more takes no time, and tells what it had taken.
    once, again = (
        pathlib.Path(f"{name}.json").read_text() for name in ("once", "again")
    )
    assert once == again
    assert command("resume", "checks/mine", "mine.py") == 0
    mine.write_text(OTHER)
    capsys.readouterr()
    assert command("check", "mine.py", "--out", "checks") == 2
    assert DIFFERENCE[1] in capsys.readouterr().err


@pytest.mark.process
def test_check_has_written_what_is_known_when_a_later_experiment_fails(mine, capsys):
    draw = "    x = jax.random.normal"
    assert draw in TEXT
    broken = TEXT.replace(draw, f"    raise ArithmeticError\n{draw}")
    pathlib.Path("broken.py").write_text(broken)
    assert command("check", "mine.py", "broken.py", "--json", "all.json") != 0
    assert "ArithmeticError" in capsys.readouterr().err
    (document,) = json.loads(pathlib.Path("all.json").read_text())
    assert document["experiment"] == "mine"


VERBS = {
    "resume": [],
    "worker": ["--quiet"],
    "figure": [],
    "submit": ["--cluster", "local", "--wait"],
}


@pytest.mark.parametrize("verb", VERBS)
def test_the_text_in_a_folder_is_not_executed_unless_it_is_trusted(
    finished, tmp_path, monkeypatch, capsys, verb
):
    """Nor is a file of its name that lies about."""
    monkeypatch.setitem(sys.modules, "submitit", SimpleNamespace())
    elsewhere, canary = tmp_path / "elsewhere", tmp_path / "executed"
    text = f"import pathlib\npathlib.Path({str(canary)!r}).touch()\n{TEXT}"
    elsewhere.mkdir()
    monkeypatch.chdir(elsewhere)
    for place in (elsewhere, finished, finished / "run.zarr"):
        (place / "mine.py").write_text(text)
    seal(finished, lambda a: a["recipe"].update(file=kept("mine.py", text)))
    assert command(verb, finished, *VERBS[verb]) == 2
    said = capsys.readouterr().err
    assert f"simbias {verb} {finished} mine.py" in said
    assert f"simbias {verb} {finished} --trust-code" in said
    assert not canary.exists()
    if verb != "submit":
        assert command(verb, finished, "--trust-code", *VERBS[verb]) == 0
        assert canary.exists()


@pytest.mark.parametrize("name", ["evil", "os", "_slabs", "../evil", "evil.py"])
def test_a_folder_cannot_name_code_to_be_run(finished, monkeypatch, capsys, name):
    evil, canary = finished / "evil.py", finished / "executed"
    evil.write_text(f"import pathlib\npathlib.Path({str(canary)!r}).touch()\n{TEXT}")
    monkeypatch.chdir(finished)
    monkeypatch.syspath_prepend(str(finished))

    def change(attributes):
        attributes["recipe"].pop("file")
        attributes["recipe"].update(experiment=name, package="evil 1.0")
        attributes["configuration"]["name"] = name

    seal(finished, change)
    for verb in ("resume", "worker", "figure"):
        for words in ([], ["--trust-code"]):
            assert command(verb, finished, *words) == 2
            assert "is not installed here" in capsys.readouterr().err
    assert not canary.exists()


FILE = kept("mine.py", TEXT)


@pytest.mark.parametrize(
    ("file", "fault"),
    [
        ("mine.py", "is 'mine.py'"),
        ({"name": "mine.py", "text": TEXT}, "is {"),
        ({**FILE, "path": "/tmp/mine.py"}, "is {"),
        ({**FILE, "text": 3}, "is {"),
        ({**FILE, "text": TEXT + " "}, "text with another checksum"),
        ({**FILE, "name": "/tmp/mine.py"}, "has the name"),
        ({**FILE, "name": "..\\mine.py"}, "has the name"),
        ({**FILE, "name": "\x1b[2Jmine.py"}, "has the name"),
        ({**FILE, "name": "mine.pickle"}, "has the name"),
        ({**FILE, "text": "\ud800"}, "not valid Unicode"),
        (kept("mine.py", "x" * (MOST_BYTES + 1)), "more than 1048576"),
    ],
)
def test_a_file_in_a_root_is_not_believed(finished, capsys, file, fault):
    seal(finished, lambda a: a["recipe"].update(file=file))
    with pytest.raises(simbias.BadInput, match=r"zarr.json is damaged: recipe.file"):
        open_result(finished)
    assert command("resume", finished, "--trust-code") == 2
    assert fault in capsys.readouterr().err
    assert text_fault(FILE) is None


def test_a_difference_shows_where_it_is_and_fits_a_screen():
    before = "".join(f"line {i}\n" for i in range(500))
    few = difference(before, before.replace("line 250\n", "\x1b[31mline\n"))
    assert [line[2:] for line in few.splitlines()] == [
        "@@ -250,3 +250,3 @@",
        " line 249",
        "-line 250",
        "+ [31mline",
        " line 251",
    ]
    many = difference(before, before.replace("line", "row"))
    assert len(many.splitlines()) == 41
    assert many.endswith("more")
    assert difference("a\n", "a") == "  (only the ends of lines differ)"


def test_a_file_whose_run_is_of_another_experiment_is_named(mine, capsys):
    small = ["--preset", "smoke", "--flow.name", "descent", "--workers", "0"]
    assert command("run", "three_points", *small, "--out", "other") == 0
    assert command("resume", "other", "mine.py") == 2
    assert "is a run of the experiment `three_points`" in capsys.readouterr().err


WRONG = [
    ("1 / 0\n", ["mine.py", "line 1, in <module>", "ZeroDivisionError"]),
    ("def f(:\n", ["mine.py", "line 1", "SyntaxError"]),
    (TEXT.replace("jnp.zeros(1)", "lost"), ["line 52, in make", "NameError: name"]),
    (TEXT.replace("flow=Walk", "flow=Wolk"), ["line 61, in experiment", "'Wolk'"]),
    (TEXT.replace("network.slope[0]", "network.w"), ["line 46, in __call__", "'w'"]),
    ("x = 1\n", ["mine must define `experiment`", "simbias new"]),
    (
        "def experiment():\n    return 3\n",
        ["a simbias.Experiment, got int"],
    ),
    ("x = '\udc80'\n", ["mine.py is not UTF-8"]),
    (TEXT + "AXES = 'slope'\n", ["`AXES` must be a tuple"]),
    (TEXT + "AXES = ('slop',)\n", ["`AXES` names `slop`"]),
    (TEXT + "AXES = ('seed',)\n", ["`AXES` names `seed`"]),
    (TEXT + "LEAST_TIME = 'late'\n", ["`LEAST_TIME` must be a number"]),
    (
        TEXT
        + "from simbias.figures import Curves, Panels\n"
        + "figure = Panels(Curves('learned', colour='slope'))\n",
        ["`Curves.values` of the figure names `learned`", "mean `learnt`"],
    ),
]


@pytest.mark.parametrize(("text", "parts"), WRONG)
def test_an_error_in_a_file_is_shown_at_its_line(mine, capsys, text, parts):
    mine.write_bytes(text.encode(errors="surrogateescape"))
    assert command("run", mine, "--out", "run") == 2
    said = capsys.readouterr().err
    assert all(part in said for part in parts)
    assert "simbias/cli" not in said
    assert not pathlib.Path("run").exists()


@pytest.mark.process
@pytest.mark.parametrize(
    ("text", "part"),
    [
        ("def claims(ds):\n    return 'fine'\n", "`claims` must return a list"),
        ("def claims(ds):\n    return ['fine']\n", "`claims` must return a list"),
        ("def figure(ds):\n    return None\n", "`figure` must return a matplotlib"),
    ],
)
def test_what_a_file_shows_is_checked_and_its_run_is_kept(
    finished, mine, capsys, text, part
):
    mine.write_text(TEXT + text)
    assert command("resume", finished, "mine.py") == 2
    assert part in capsys.readouterr().err
    mine.write_text(TEXT)
    assert command("resume", finished, "mine.py") == 0


def test_a_figure_that_fails_keeps_the_claims_and_says_how_to_go_on(
    finished, mine, capsys
):
    for file in ("claims.json", "figure.png", "report.html"):
        (finished / file).unlink()
    mine.write_text(TEXT + "def figure(ds):\n    return ds['lost']\n")
    assert command("resume", finished, "mine.py") == 2
    said = capsys.readouterr()
    assert "supported      distance" in said.out
    assert (finished / "claims.json").exists()
    assert "distance" in (finished / "report.html").read_text()
    assert "`figure` of mine.py failed: KeyError" in said.err
    assert "in figure\n    return ds['lost']" in said.err
    ways = [f"simbias {verb} {finished} mine.py" for verb in ("figure", "resume")]
    assert said.err.split()[-8:] == " ".join(ways).split()
    # Without a line of the file in the traceback it is an error of the file, too.
    text = "from simbias.figures import Curves, Panels\n"
    text += "figure = Panels(Curves('learnt'), of=lambda ds: ds.isel(seed=0))\n"
    mine.write_text(TEXT + text)
    assert command("figure", finished, "mine.py") == 2
    assert "would pool the values of `slope`" in capsys.readouterr().err


def test_claims_that_fail_keep_the_figure_and_say_how_to_go_on(finished, mine, capsys):
    for file in ("figure.png", "report.html"):
        (finished / file).unlink()
    mine.write_text(TEXT + "def claims(ds):\n    return [ds['lost']]\n")
    assert command("resume", finished, "mine.py") == 2
    said = capsys.readouterr()
    assert (finished / "figure.png").exists()
    assert "<img" in (finished / "report.html").read_text()
    assert "`claims` of mine.py failed: KeyError" in said.err
    assert said.err.endswith(f"  simbias resume {finished} mine.py\n")
    mine.write_text(mine.read_text() + "def figure(ds):\n    return 1 / 0\n")
    assert command("resume", finished, "mine.py") == 2
    said = capsys.readouterr().err
    assert "`claims` of mine.py failed" in said
    assert "`figure` of mine.py failed: ZeroDivisionError" in said


@pytest.mark.process
def test_lists_arrays_and_arguments_without_annotation_run(mine, tmp_path):
    text = TEXT.replace("slope: float = 1.0", "slope=1.0")
    text = text.replace('"slope": (1.0, 2.0)', '"slope": [1.0, 2.0]')
    mine.write_text(text.replace("times=(0.0, 5.0)", "times=jnp.array([0, 5])"))
    assert command("run", "mine.py", "--out", "run", "--cell.n", "4") == 0
    ds = open_result(tmp_path / "run")
    assert ds["learnt"].sizes == {"slope": 2, "seed": 3, "time": 2}


@pytest.mark.process
def test_parts_have_files_of_their_own(mine, tmp_path):
    mine.write_text(
        TEXT.replace("slope: float = 1.0", "slope: float = 1.0, law: str = 'a'")
        + "AXES = ('slope',)\n"
    )
    assert command("run", "mine.py", "--out", "run") == 0
    run = tmp_path / "run"
    assert (run / "figure.png").exists()
    laws = ["a", "b/c", "b_c", "long" * 60]
    assert command("run", "mine.py", "--out", "run", "--cell.law", *laws) == 0
    names = [path.name for path in run.glob("figure*")]
    assert len(names) == 4
    assert "figure.png" not in names
    assert "figure_law=b_c.png" in names


def test_a_file_must_not_take_the_name_of_a_module(mine, capsys):
    mine.rename("queue.py")
    assert command("run", "queue.py") == 2
    assert "has the same name as the module" in capsys.readouterr().err
    assert command("run", "none.py") == 2
    assert "cannot read none.py" in capsys.readouterr().err


@pytest.fixture
def zoo(tmp_path, monkeypatch):
    """A package beside others, that brings an experiment."""
    site = tmp_path / "site"
    (site / "zoo" / "deep").mkdir(parents=True)
    (site / "zoo" / "__init__.py").write_text("raise RuntimeError('not asked for')\n")
    (site / "zoo_lines.py").write_text(TEXT)
    info = site / "zoo-1.0.dist-info"
    info.mkdir()
    (info / "METADATA").write_text("Metadata-Version: 2.1\nName: zoo\nVersion: 1.0\n")
    (site / "zoo" / "deep" / "apes.py").write_text('"""Apes."""\n')
    (info / "entry_points.txt").write_text(
        "[simbias.experiments]\nlines = zoo_lines\napes = zoo.deep.apes\n"
        "threshold = zoo.deep.apes\n"
    )
    monkeypatch.syspath_prepend(str(site))
    yield info
    sys.modules.pop("zoo_lines", None)


@pytest.mark.process
def test_a_package_brings_experiments_of_its_own(zoo, tmp_path, capsys):
    assert command("list") == 0
    out = capsys.readouterr().out
    lines = [line for line in out.splitlines() if line.startswith("  ")]
    listed = dict(line.split(maxsplit=1) for line in lines)
    assert listed["lines"] == "Mine: a walk downhill. [zoo]"
    assert listed["apes"] == "Apes. [zoo]"
    assert "zoo" not in listed["threshold"]
    assert command("run", "apes") == 2
    assert "`apes` of another package cannot be loaded" in capsys.readouterr().err
    out = tmp_path / "run"
    assert command("run", "lines", "--workers", "0", "--out", out) == 0
    assert recipe(out)["package"] == "zoo 1.0"
    # It goes on from its folder alone, with the version that it was begun with.
    metadata = zoo / "METADATA"
    metadata.write_text(metadata.read_text().replace("1.0", "1.1"))
    assert command("resume", out) == 2
    assert "package: zoo 1.0 -> zoo 1.1" in capsys.readouterr().err
    metadata.write_text(metadata.read_text().replace("1.1", "1.0"))
    assert command("resume", out) == 0
    (zoo / "entry_points.txt").write_text("")
    assert command("resume", out) == 2
    assert "`lines` of the package zoo 1.0, which is not" in capsys.readouterr().err


@pytest.mark.long
@fully_optimised()
def test_a_file_that_is_killed_and_resumed_gives_the_same_bytes(mine, tmp_path):
    words = ["--seeds", "40", "--times", "0", "3000", "--lanes", "2"]
    command_line = [sys.executable, "-m", "simbias", "run", "mine.py", *words]
    environment = {**os.environ, "JAX_PLATFORMS": "cpu"}
    environment["PYTHONPATH"] = str(ROOT)
    process = subprocess.Popen(
        [*command_line, "--workers", "1", "--out", "killed"], env=environment
    )
    chunks = tmp_path / "killed" / "run.zarr" / "members" / "status" / "c"
    until = time.monotonic() + 120
    while not chunks.exists() and process.poll() is None and time.monotonic() < until:
        time.sleep(0.05)
    process.send_signal(signal.SIGKILL)
    process.wait()
    assert not is_finished(open_result("killed")).all()
    assert command("resume", "killed", "mine.py") == 0
    assert command("run", "mine.py", *words, "--out", "straight") == 0
    killed, straight = (tmp_path / name / "run.zarr" for name in ("killed", "straight"))
    files = sorted(p.relative_to(straight) for p in straight.rglob("c/**/*"))
    files = [p for p in files if (straight / p).is_file()]
    assert files
    for file in files:
        assert (killed / file).read_bytes() == (straight / file).read_bytes()


LIGHT = ["--help", "--version", "list", "new waves", "completion bash"]


@pytest.mark.slow
@pytest.mark.parametrize(
    "words", [*LIGHT, "run three_points --help --no-compile-cache"]
)
def test_nothing_is_imported_that_is_not_asked_for(tmp_path, words):
    code = (
        "import sys\nfrom simbias import cli\n"
        f"try: cli.main({words.split()!r})\nexcept SystemExit: pass\n"
        "print('\\n'.join(sys.modules), file=sys.stderr)"
    )
    done = subprocess.run(
        [sys.executable, "-c", code],
        capture_output=True,
        text=True,
        check=True,
        cwd=tmp_path,
        env={**os.environ, "PYTHONPATH": str(ROOT)},
    )
    loaded = {*done.stderr.split()}
    if words in LIGHT:
        heavy = {"jax", "numpy", "xarray", "matplotlib", "equinox", "zarr"}
        assert not heavy & loaded
    else:
        ours = {m for m in loaded if m.startswith("simbias.experiments.")}
        private = {m for m in ours if m.split(".")[-1].startswith("_")}
        theme = "simbias.experiments.alignment"
        assert ours - private == {theme, f"{theme}.three_points"}


@pytest.mark.process
def test_check_goes_on_without_an_experiment_whose_images_are_missing(mine, capsys):
    draw = "    x = jax.random.normal"
    missing = "    raise MissingFiles('`source` needs a package.')\n"
    head = "from simbias.errors import MissingFiles\n"
    assert draw in TEXT
    text = head + TEXT.replace(draw, f"{missing}{draw}")
    pathlib.Path("without.py").write_text(text)
    assert command("check", "without.py", "mine.py", "--json", "all.json") == 0
    said = capsys.readouterr().err
    assert "without is not checked. `source` needs a package." in said
    assert "Not checked, as images are missing: without." in said
    (document,) = json.loads(pathlib.Path("all.json").read_text())
    assert document["experiment"] == "mine"
    assert command("check", "without.py") == 2
    assert "`source` needs a package." in capsys.readouterr().err
