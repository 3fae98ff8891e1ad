"""Trials of the engines themselves, and of a server that speaks S3: minutes each."""

import subprocess
import sys

import pytest
from tree import ROOT


@pytest.mark.long
@pytest.mark.parametrize("engine", ["slurm", "ray", "dask", "bucket"])
def test_a_run_survives_what_an_engine_does_to_it(engine, tmp_path):
    script = ROOT / "benchmarks" / "engines" / f"on_{engine}.py"
    words = [sys.executable, str(script), "--json", str(tmp_path / "trials.json")]
    done = subprocess.run(words, capture_output=True, text=True, check=False)
    if done.returncode == 77:
        pytest.skip(done.stderr.strip().splitlines()[-1])
    assert done.returncode == 0, done.stderr[-3000:]
