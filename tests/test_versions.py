"""Which versions run: those held for `uv run`, and what is asked of diffrax."""

import dataclasses
import importlib.metadata
import re
import tomllib

import diffrax
import equinox as eqx
import jax
import jax.numpy as jnp
import numpy as np
import pytest
from packaging.requirements import Requirement
from packaging.utils import canonicalize_name
from tree import ROOT

from simbias.datasets.teachers.gaussian_teacher import gaussian_teacher
from simbias.flows import gradient_flow
from simbias.flows._relu import step_control as _step_control
from simbias.flows.gradient_flow import GradientFlow
from simbias.losses import half_mse
from simbias.networks.two_layer_init import balanced

TEXT = (ROOT / "pyproject.toml").read_text()
PROJECT = tomllib.loads(TEXT)
HELD = [Requirement(v) for v in PROJECT["tool"]["uv"]["constraint-dependencies"]]
# Every one that the held versions are meant for.
PYTHONS = ("3.11", "3.12", "3.13", "3.14")
# What these ask for goes with the version of jax.
ACCELERATORS = {"cuda12", "cuda13", "tpu"}


def asked() -> set[str]:
    extras = PROJECT["project"]["optional-dependencies"]
    lists = [lines for name, lines in extras.items() if name not in ACCELERATORS]
    lists += [
        PROJECT["project"]["dependencies"],
        *PROJECT["dependency-groups"].values(),
    ]
    return {canonicalize_name(Requirement(v).name) for lines in lists for v in lines}


def held_for(python: str) -> dict[str, list[str]]:
    environment = {"python_version": python, "python_full_version": f"{python}.1"}
    out = {}
    for one in HELD:
        if one.marker is None or one.marker.evaluate(environment):
            out.setdefault(canonicalize_name(one.name), []).append(str(one.specifier))
    return out


@pytest.mark.parametrize("python", PYTHONS)
def test_one_version_is_held_of_everything_that_is_asked_for(python):
    held = held_for(python)
    assert asked() <= set(held)
    assert [v for v in held.values() if len(v) > 1 or not v[0].startswith("==")] == []


def test_a_python_of_which_nothing_is_known_takes_what_is_newest():
    assert held_for("3.15") == {}


def test_what_is_held_is_names_and_versions_and_no_address():
    lines = PROJECT["tool"]["uv"]["constraint-dependencies"]
    lines = lines + PROJECT["tool"]["uv"]["build-constraint-dependencies"]
    python = r"python_version (<|>=) '3\.\d+'"
    pattern = rf"[\w.-]+==[\w.]+ ; {python}( and {python})?"
    assert [line for line in lines if not re.fullmatch(pattern, line)] == []
    assert not {"index", "index-url", "find-links"} & set(PROJECT["tool"]["uv"])


def test_pip_and_uv_are_given_the_same_versions(monkeypatch):
    monkeypatch.syspath_prepend(str(ROOT / "tools"))
    from known_good import constraints

    assert (ROOT / "constraints.txt").read_text() == constraints(TEXT)


def test_who_installs_the_package_is_held_to_nothing():
    lines = PROJECT["project"]["dependencies"]
    assert [line for line in lines if "==" in line] == []


PID = diffrax.PIDController


class Opaque(PID):
    """The controller of diffrax, whose memory looks otherwise."""

    def init(self, *arguments):
        first, state = PID.init(self, *arguments)
        return first, {"state": state, "steps": 0}

    def adapt_step_size(self, *arguments):
        *before, memory = arguments
        *out, state, result = PID.adapt_step_size(self, *before, memory["state"])
        return *out, {"state": state, "steps": memory["steps"] + 1}, result


def test_the_exact_flow_asks_nothing_of_what_its_controller_remembers(monkeypatch):
    def proposals():
        controller, out = _step_control.first_controller(jnp.dtype("float64")), []
        for error in (0.5, 3.0, 1e-3, jnp.inf, 0.9, 0.2):
            is_kept, proposal, controller = _step_control.controlled(
                jnp.float64(error), jnp.float64(0.1), jnp.float64(5.0), controller
            )
            out += [bool(is_kept), float(proposal)]
        assert all(isinstance(v, jax.Array) for v in jax.tree.leaves(controller))
        return out

    expected = proposals()
    pid = _step_control._PID
    fields = {field.name: getattr(pid, field.name) for field in dataclasses.fields(pid)}
    monkeypatch.setattr(_step_control, "_PID", Opaque(**fields))
    assert proposals() == expected


@pytest.mark.slow
def test_gradient_flow_asks_nothing_of_what_its_controller_remembers(monkeypatch):
    data = gaussian_teacher(jax.random.key(0), n=5, d=2, sigma=0.1, n_test=1)
    network = balanced(jax.random.key(1), m=3, d=2, scale=0.1, activation="tanh")

    def end():
        flow, until = GradientFlow(), jnp.float64(1e3)

        @eqx.filter_jit
        def run():
            state = flow.init(network, data, half_mse, jax.random.key(2))
            step = lambda _, state: flow.step(state, data, half_mse, until)
            state = jax.lax.fori_loop(0, 30, step, state)
            return state.network, state.time, state.stats

        return jax.tree.leaves(run())

    expected = end()
    monkeypatch.setattr(gradient_flow.diffrax, "PIDController", Opaque)
    jax.clear_caches()  # of the first state, which was traced before
    for one, other in zip(end(), expected, strict=True):
        np.testing.assert_array_equal(one, other)


def test_the_version_is_the_same_wherever_it_stands(monkeypatch):
    monkeypatch.syspath_prepend(str(ROOT / "tools"))
    from release import version, versions  # pyright: ignore

    assert [*versions(is_draft=True)] == []
    assert importlib.metadata.version("simbias") == version()
