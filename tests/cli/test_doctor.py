"""What `simbias doctor` sees, and what it says of a machine that lacks something."""

import json

import jax
import pytest

from simbias import cli
from simbias.cli import doctor


def run(*arguments):
    with pytest.raises(SystemExit) as leaving:
        cli.main(["doctor", *arguments])
    return leaving.value.code or 0


def test_a_machine_that_works_is_described(capsys):
    assert run() == 0
    said = capsys.readouterr().out
    assert "gradient flow of least squares" in said
    words = ("versions", "device", "dtype", "cores", "compiled programs", "disk")
    for word in (*words, "extras"):
        assert f" {word}: " in said


def test_json_has_all_of_it(capsys):
    assert run("--json") == 0
    found = json.loads(capsys.readouterr().out)
    assert {"what", "verdict", "seen", "advice"} == {*found[0]}
    assert {one["verdict"] for one in found} <= {"ok", "hint"}


def test_arithmetic_that_is_not_exact_is_wrong(capsys, monkeypatch):
    # The loss is twice what it should be: so is the speed.
    loss = doctor.half_mse
    monkeypatch.setattr(doctor, "half_mse", lambda *given: 2 * loss(*given))
    assert run() == 1
    assert "wrong  self-test" in capsys.readouterr().out


def test_a_device_that_rounds_to_less_than_float64_is_wrong(monkeypatch):
    real = doctor.jnp.asarray
    monkeypatch.setattr(
        doctor.jnp, "asarray", lambda v, *rest: real(v, doctor.jnp.float32)
    )
    found = doctor.dtype()
    assert (found.verdict, "JAX_PLATFORMS=cpu" in found.advice) == ("wrong", True)


def test_what_raises_is_named_and_the_rest_is_looked_at(capsys, monkeypatch):
    def broken():
        raise RuntimeError("no driver\nand more")

    monkeypatch.setattr(doctor.jax, "devices", broken)
    assert doctor.doctor(["--json"]) == 1
    found = {one["what"]: one for one in json.loads(capsys.readouterr().out)}
    assert found["device"]["seen"] == "RuntimeError: no driver"
    assert found["disk"]["verdict"] == "ok"


def test_a_platform_that_is_not_here_is_said_once_with_what_to_do(capsys, monkeypatch):
    def missing():
        raise AssertionError

    monkeypatch.setattr(doctor.jax, "devices", missing)
    monkeypatch.setattr(doctor, "may_hang", missing)
    monkeypatch.setenv("JAX_PLATFORMS", "cuda")
    assert doctor.doctor(["--json"]) == 1
    found = {one["what"]: one for one in json.loads(capsys.readouterr().out)}
    (wrong,) = [one for one in found.values() if one["verdict"] == "wrong"]
    assert wrong["seen"] == "JAX_PLATFORMS=cuda, but there is no such device"
    assert "simbias[cuda13]" in wrong["advice"]
    assert "jaxlib" in found["versions"]["seen"]


def test_what_is_missing_comes_with_what_to_do(monkeypatch, tmp_path):
    monkeypatch.setitem(doctor.EXTRAS, "cloud", ("no_such_module", "buckets"))
    assert "pip install 'simbias[cloud]' for buckets" in doctor.extras().advice
    monkeypatch.setattr(doctor.shutil, "which", lambda _: "/usr/bin/nvidia-smi")
    if jax.default_backend() == "cpu":
        assert "simbias[cuda13]" in doctor.device().advice
    monkeypatch.setattr(doctor.os, "sched_getaffinity", lambda _: {0}, raising=False)
    assert doctor.cores().verdict == "hint"
    monkeypatch.setattr(doctor, "LEAST_DISK", 1e30)
    assert doctor.disk().verdict == "hint"


def test_a_cache_that_cannot_be_written_is_wrong(monkeypatch, tmp_path):
    file = tmp_path / "file"
    file.write_text("")
    before = jax.config.jax_compilation_cache_dir
    try:
        jax.config.update("jax_compilation_cache_dir", str(file / "cache"))
        found = doctor.programs()
        assert (found.verdict, "JAX_COMPILATION_CACHE_DIR" in found.advice) == (
            "wrong",
            True,
        )
        jax.config.update("jax_compilation_cache_dir", str(tmp_path / "new"))
        assert doctor.programs().seen.startswith("0 in ")
    finally:
        jax.config.update("jax_compilation_cache_dir", before)
