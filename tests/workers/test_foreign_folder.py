"""No process that simbias starts imports from the working directory."""

import pathlib
import subprocess
import sys

import pytest

from simbias.results import is_finished, open_result
from simbias.workers.command import program

pytestmark = pytest.mark.process

# Modules of Python, of a package that is needed, and of one that may be there.
NAMES = ("random", "types", "tqdm", "cloudpickle")
MARK = "import pathlib\npathlib.Path(__file__).with_suffix('.executed').touch()\n"
RUN = ["three_points", "--preset", "smoke", "--flow.name", "descent"]
RUN += ["--times", "0", "5", "--cell.m", "20", "--seeds", "2"]


@pytest.fixture
def foreign(tmp_path):
    folder = tmp_path / "foreign"
    folder.mkdir()
    for name in NAMES:
        (folder / f"{name}.py").write_text(MARK)
    return folder


def ended(folder, *words):
    done = subprocess.run(
        words, cwd=folder, capture_output=True, text=True, check=False, timeout=300
    )
    assert done.returncode == 0, done.stderr
    assert not [*folder.glob("*.executed")]


def test_workers_and_the_live_page_execute_nothing_of_the_working_directory(foreign):
    run = pathlib.Path(sys.executable).parent / "simbias"
    run = [str(run)] if run.exists() else program("simbias")
    ended(foreign, *run, "run", *RUN, "--workers", "0", "--out", "run")
    ended(foreign, *run, "resume", "run", "--workers", "1", "--live")
    assert is_finished(open_result(foreign / "run")).all()


SCRIPT = """
from law import make
from simbias.flows import Descent
from simbias.losses import half_mse
import simbias
from simbias.workers import LocalWorkers

if __name__ == "__main__":
    one = simbias.Experiment(
        name="mine", make=make, cell={}, seeds=1, flow=Descent(), loss=half_mse,
        times=(0.0, 1.0), measures={"risk": simbias.measures.TrainRisk()},
    )
    ds = simbias.simulate(one, store="run.zarr", workers=LocalWorkers(1))
    assert (ds["status"] == 1).all()
"""
LAW = """
from simbias.experiments import three_points

def make(key, *, m: int = 20):
    return three_points.make(key, m=m)
"""


def test_workers_of_a_script_import_the_modules_that_lie_beside_it(foreign, tmp_path):
    (tmp_path / "script.py").write_text(SCRIPT)
    (tmp_path / "law.py").write_text(LAW)
    ended(foreign, sys.executable, str(tmp_path / "script.py"))


def test_the_module_is_as_safe_as_the_command(foreign):
    # What Python itself imports before it gets to simbias is not ours to keep.
    for name in ("random", "types"):
        (foreign / f"{name}.py").unlink()
    ended(foreign, sys.executable, "-m", "simbias", "list")
