"""What a program reads of a run: one JSON object a line, and nothing else."""

import json
import sys

import pytest
from small import PlainDescent, small

import simbias
from simbias import cli
from simbias.cli import _output, _progress
from simbias.cli._progress import ProgressReporter, estimate
from simbias.ensemble import bar
from simbias.ensemble.bar import Bar, Pulse
from simbias.ensemble.plan import make_plan
from simbias.flows.relu_flow import ReluFlow
from simbias.numerics.exact_numerics import exact_numerics
from simbias.store.address import place_at

SMALL = ["three_points", "--preset", "smoke", "--flow.name", "descent"]
SMALL += ["--times", "0", "5", "--cell.m", "20", "--seeds", "2"]


@pytest.fixture(autouse=True)
def aside(tmp_path, monkeypatch):
    monkeypatch.setattr(_progress, "cache_folder", lambda: str(tmp_path / "cache"))


@pytest.fixture(scope="module")
def plan():
    with exact_numerics():
        return make_plan(small())


def lines(text):
    return [json.loads(line) for line in text.splitlines()]


@pytest.mark.process
def test_a_run_is_lines_of_json_and_resume_says_it_again(tmp_path, capsys):
    out = str(tmp_path / "run")
    assert cli.exit_code(["run", *SMALL, "--out", out, "--json-lines"]) == 0
    told = capsys.readouterr()
    found = lines(told.out)
    events = [one["event"] for one in found]
    assert events[0] == "plan"
    assert events[-2:] == ["claims", "done"]
    assert {"compiling", "progress"} <= {*events}
    assert (found[0]["members"], found[0]["done"]) == (2, 0)
    assert found[0]["shapes"] == 1
    assert found[0]["run"] == out
    last = [one for one in found if one["event"] == "progress"][-1]
    assert (last["members"], last["done"], last["failed"]) == (2, 2, 0)
    assert all(one["seconds"] >= 0 for one in found)
    assert found[-2] == {
        **found[-2],
        **json.loads((tmp_path / "run" / "claims.json").read_text()),
    }
    assert f"{out}/figure.png" in found[-1]["files"]
    assert "networks; one program to compile" in told.err
    assert cli.exit_code(["resume", out, "--json-lines"]) == 0
    again = [one["event"] for one in lines(capsys.readouterr().out)]
    assert again == ["claims", "done"]


def test_bad_input_is_an_event_and_a_sentence(capsys):
    assert cli.exit_code(["run", "nothing", "--json-lines"]) == 2
    told = capsys.readouterr()
    (one,) = lines(told.out)
    assert (one["event"], one["exit_code"]) == ("error", 2)
    assert "is not an experiment" in one["message"]
    assert "simbias: error:" in told.err


def test_options_that_cannot_be_parsed_are_an_event(capsys):
    with pytest.raises(SystemExit):
        cli.exit_code(["run", "three_points", "--nothing", "--json-lines"])
    (one,) = lines(capsys.readouterr().out)
    assert (one["event"], one["exit_code"]) == ("error", 2)


def test_an_error_of_simbias_is_an_event_and_raised(monkeypatch, capsys):
    def broken(*_):
        raise ZeroDivisionError("nought")

    monkeypatch.setattr(cli, "_called", broken)
    with pytest.raises(ZeroDivisionError):
        cli.exit_code(["run", "three_points", "--json-lines"])
    (one,) = lines(capsys.readouterr().out)
    said = (one["event"], one["message"], one["exit_code"])
    assert said == ("error", "ZeroDivisionError: nought", 1)


def test_a_process_that_gets_no_memory_says_so_without_a_traceback(monkeypatch, capsys):
    def full(*_):
        raise MemoryError

    monkeypatch.setattr(cli, "_called", full)
    assert cli.exit_code(["run", "three_points", "--json-lines"]) == 2
    assert "simbias: error: this process has no more memory" in capsys.readouterr().err


def test_a_command_that_writes_no_lines_refuses_to_be_asked_for_them(capsys):
    with pytest.raises(SystemExit) as leaving:
        cli.exit_code(["list", "--json-lines"])
    assert leaving.value.code == 2
    assert capsys.readouterr().out == ""


@pytest.mark.parametrize("is_terminal", [True, False])
@pytest.mark.parametrize(
    ("arguments", "is_lines"),
    [
        (["run", "x"], False),
        (["run", "x", "--json-lines"], True),
        (["resume", "x"], False),
        (["resume", "--json-lines", "x"], True),
        (["run", "x", "--help", "--json-lines"], False),
        (["check", "x"], False),
        ([], False),
    ],
)
def test_lines_are_for_those_who_ask(arguments, is_terminal, is_lines, monkeypatch):
    monkeypatch.setattr(sys.stdout, "isatty", lambda: is_terminal, raising=False)
    rest = _output.choose(arguments)
    assert "--json-lines" not in rest
    assert _output.is_lines() == is_lines
    _output.choose([])


def test_what_loads_for_seconds_says_so_before_it_does(monkeypatch, capsys):
    quick = "list_experiments.list_experiments"
    monkeypatch.setitem(cli._COMMANDS, "run", (quick, True))
    assert cli.exit_code(["run"]) == 0
    assert capsys.readouterr().err == f"simbias {simbias.__version__}, loading\n"


def test_the_bar_says_which_of_the_shapes_is_compiled(monkeypatch, capsys):
    clock, told = [0.0], []
    monkeypatch.setattr(bar.time, "monotonic", lambda: clock[0])
    with Bar("run", 10, is_drawn=True, report=told.append) as drawn:
        drawn.progress.shapes = 18
        drawn.show(0)
        drawn.progress.begun |= {0, 1, 2}
        drawn.progress.compiling = {object()}
        clock[0] = 20.0
        drawn.show(0)
        drawn.progress.compiling = set()
        clock[0] = 40.0
        drawn.show(5)
    assert "compiling 3 of 18" in capsys.readouterr().err
    first, compiling, last = told
    assert (first.done, first.rate, first.seconds_left) == (0, None, None)
    assert (compiling.begun, compiling.shapes, compiling.is_compiling) == (3, 18, True)
    assert (last.done, last.rate, last.seconds_left) == (5, 5 / 40, 40.0)
    assert last.seconds_compiling == 20.0


def pulse(**changes):
    known = {"members": 12, "done": 12, "failed": 0, "begun": 2, "shapes": 2}
    known |= {"is_compiling": False, "seconds": 100.0, "seconds_compiling": 20.0}
    known |= {"rate": 1.0, "seconds_left": 0.0, "seconds_stepping": 100.0}
    return Pulse(**(known | changes))


def learned(plan, folder, **changes):
    """What a run leaves that took 100 s: 20 of compiling, 50 of steps on two cores."""
    reporter = ProgressReporter(plan, place_at(folder / "run"))
    reporter(pulse(done=0, seconds=0.0, seconds_compiling=0.0))
    reporter(pulse(shapes=len(plan.groups), **changes))
    reporter.learn(in_one=True)


def planned(**changes):
    with exact_numerics():
        return make_plan(small(**changes))


@pytest.fixture
def two_cores(monkeypatch):
    monkeypatch.setattr(_progress, "_stations", lambda plan: 2)


def test_what_a_run_took_is_what_the_next_one_is_told(
    plan, tmp_path, capsys, two_cores
):
    assert estimate(plan) is None
    learned(plan, tmp_path)
    assert estimate(plan) == pytest.approx(100.0)
    twice = planned(seeds=6)
    assert estimate(twice) == pytest.approx(20.0 + 2 * 80.0)
    ProgressReporter(twice, place_at(tmp_path / "run")).announce("12 networks", 0)
    assert "12 networks; about 3 minutes, as earlier runs" in capsys.readouterr().err


def test_ten_times_the_steps_take_ten_times_as_long_and_the_rest_as_long_as_before(
    plan, tmp_path, two_cores
):
    learned(plan, tmp_path)
    final = plan.experiment.times[-1]
    longer = planned(times=(0.0, 10.0 * final))
    assert estimate(longer) == pytest.approx(20.0 + 30.0 + 10 * 50.0)
    faster = planned(times=(0.0, 10.0 * final), flow=PlainDescent(rate=1.0))
    assert estimate(faster) == pytest.approx(100.0)


def test_ten_steps_teach_nothing_of_a_million(plan, tmp_path, two_cores):
    """They take the time of their calls: 102 hours would be said of a minute."""
    learned(plan, tmp_path, seconds_stepping=0.5)
    assert estimate(plan) is None


def test_of_a_flow_that_chooses_its_steps_nothing_is_said_at_another_time(
    tmp_path, two_cores
):
    flow = ReluFlow()
    make = lambda **changes: planned(flow=flow, stop=None, **changes)
    learned(make(times=(0.0, 3.0)), tmp_path)
    assert estimate(make(times=(0.0, 4.0))) == pytest.approx(50.0 + 50.0 * 4 / 3)
    assert estimate(make(times=(0.0, 100.0))) is None


@pytest.mark.parametrize("text", ["", "[]", '{"shape": "x", "unit": 1}', '{"unit": 1}'])
def test_what_is_kept_of_a_run_is_not_believed(plan, tmp_path, text):
    file = tmp_path / "cache" / "pace" / "small-PlainDescent.json"
    file.parent.mkdir(parents=True)
    file.write_text(text)
    assert estimate(plan) is None


def test_half_a_run_teaches_nothing(plan, tmp_path):
    for changes in ({"done": 5}, {"seconds_stepping": 0.1}):
        reporter = ProgressReporter(plan, place_at(tmp_path / "run"))
        reporter(pulse(done=0, seconds=0.0))
        reporter(pulse(**changes))
        reporter.learn(in_one=True)
    reporter = ProgressReporter(plan, place_at(tmp_path / "run"))
    reporter(pulse(done=3))
    reporter(pulse())
    reporter.learn(in_one=True)
    assert estimate(plan) is None
