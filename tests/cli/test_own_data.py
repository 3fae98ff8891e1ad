"""A sample from a file of the user's own, in place of a law."""

import dataclasses
import json
import pathlib

import equinox as eqx
import jax
import jax.numpy as jnp
import numpy as np
import pytest
from small import Risk, small
from tree import ROOT

from simbias.cli import exit_code
from simbias.cli._options import experiment_of, resolved
from simbias.cli._overrides import kept_file, moved
from simbias.core import Real
from simbias.datasets.npz import Npz
from simbias.datasets.teachers.gaussian_teacher import gaussian_teacher
from simbias.drawn_from import DrawnFrom, OnSample
from simbias.ensemble.configuration import configuration
from simbias.ensemble.grid import make_grid
from simbias.errors import BadInput
from simbias.flows.descent import Descent
from simbias.measures.risk._classes import exchanged
from simbias.measures.risk.test_risk import TestRisk
from simbias.measures.risk.two_group_gap import TwoGroupGap
from simbias.networks.two_layer_init import balanced
from simbias.registry import experiment_module
from simbias.results import open_result
from simbias.verbs.initial import initial
from simbias.verbs.simulate import planned, simulate
from simbias.workers.local_workers import LocalWorkers

KEY = jax.random.key(0)
RNG = np.random.default_rng(0)
ARRAYS = {"x": RNG.normal(size=(12, 3)), "y": np.arange(12)}
TEST = {"x_test": RNG.normal(size=(5, 3)), "y_test": np.arange(5.0)}


def saved(folder, **changes):
    arrays = {**ARRAYS, **TEST, **changes}
    path = folder / "mine.npz"
    np.savez(path, **{k: v for k, v in arrays.items() if v is not None})
    return str(path)


def equinox_network(key, *, d: int, k: int, m: int = 4, scale: Real = 1.0):
    network = eqx.nn.MLP(d, k, m, 1, activation=jnp.tanh, key=key)
    scaled = lambda v: v * jnp.asarray(scale, v.dtype) if eqx.is_array(v) else v
    return jax.tree.map(scaled, network)


def test_all_rows_are_taken_in_order_and_some_of_them_by_the_key(tmp_path):
    law = Npz(saved(tmp_path))
    data = law(KEY)
    np.testing.assert_array_equal(data.x, ARRAYS["x"])
    np.testing.assert_array_equal(data.y[:, 0], ARRAYS["y"])
    assert data.x.dtype == data.y.dtype == jnp.float64
    np.testing.assert_array_equal(data.test.x, TEST["x_test"])
    some, others = law(KEY, n=5), law(jax.random.key(1), n=5)
    rows = np.asarray(some.y[:, 0]).astype(int)
    assert len(set(rows.tolist())) == 5
    np.testing.assert_array_equal(some.x, ARRAYS["x"][rows])
    assert rows.tolist() != others.y[:, 0].tolist()
    assert Npz(saved(tmp_path, x_test=None, y_test=None))(KEY).test is None


def test_what_else_is_known_of_the_law_is_taken_from_the_file(tmp_path):
    more = {"weight": np.linspace(0, 1, 12), "mean": np.ones(12)}
    data = Npz(saved(tmp_path, **more, features=np.eye(3)))(KEY)
    np.testing.assert_array_equal(data.weight, more["weight"])
    np.testing.assert_array_equal(data.mean, np.ones((12, 1)))
    np.testing.assert_array_equal(data.features, np.eye(3))


@pytest.mark.process
def test_a_file_and_a_network_make_an_experiment(tmp_path):
    make = DrawnFrom(Npz(saved(tmp_path)), equinox_network)
    measures = {"risk": Risk(), "test_risk": TestRisk()}
    cell = {"n": [4, 12], "scale": [0.5, 1.0]}
    experiment = small(
        make=make, cell=cell, final={}, measures=measures, flow=Descent(0.01)
    )
    ds = simulate(experiment, store=tmp_path / "run.zarr")
    assert ds["risk"].dims == ("n", "scale", "seed", "time")
    assert ds["m"] == 4
    data, network = initial(ds, experiment, n=12, scale=1.0, seed=2)
    np.testing.assert_array_equal(data.x, ARRAYS["x"])
    residual = jax.vmap(network)(data.x) - data.y
    expected = ds["risk"].sel(n=12, scale=1.0, seed=2).isel(time=0)
    np.testing.assert_allclose(jnp.mean(residual**2), expected, rtol=1e-12)
    # Another file of that name is another run.
    other = Npz(saved(tmp_path, y=np.arange(12) + 1.0))
    changed = dataclasses.replace(experiment, make=DrawnFrom(other, equinox_network))
    with pytest.raises(
        ValueError, match=r"another configuration(.|\n)*make.law.sha256"
    ):
        simulate(changed, store=tmp_path / "run.zarr")


def test_a_law_and_a_network_are_told_and_take_what_they_take():
    make = DrawnFrom(gaussian_teacher, balanced)
    grid = make_grid(small(make=make, cell={"n": 6, "d": (2, 3), "m": 4}))
    assert [cell.sizes["d"] for cell in grid.cells] == [2, 3]
    data, network = make(KEY, n=6, d=3, m=4)
    key_data, key_network = jax.random.split(KEY)
    np.testing.assert_array_equal(data.x, gaussian_teacher(key_data, n=6, d=3).x)
    np.testing.assert_array_equal(network.w, balanced(key_network, m=4, d=3).w)
    told = configuration(small(make=make, cell={"n": 6, "m": 4}))["make"]
    assert told["network"] == "simbias.networks.two_layer_init.balanced"


@pytest.mark.parametrize(
    ("network", "message"),
    [
        (lambda key, *, n: None, "`law` and `network` both take `n`"),
        (lambda *, d: None, "a law must take a key first"),
    ],
)
def test_parts_that_do_not_go_together_are_refused_by_name(network, message):
    with pytest.raises(ValueError, match=message):
        DrawnFrom(gaussian_teacher, network)


@pytest.mark.parametrize(
    ("changes", "message"),
    [
        ({"x": None}, "does not hold `x`"),
        ({"labels": np.ones(3)}, "holds `labels`, which is not known here"),
        ({"x_test": None}, "`x_test` and `y_test`, or neither"),
        ({"x": np.ones((12, 3, 2))}, r"`x` in .* shape \(12, 3, 2\).*reshape"),
        ({"x": np.ones((0, 3)), "y": np.ones(0)}, r"`x` in .* shape \(0, 3\)"),
        ({"y": np.ones(11)}, r"`y` in .* shape \(11, 1\), expected \(12, 1\)"),
        ({"weight": np.ones(3)}, r"`weight` in .* shape \(3,\)"),
        ({"x_test": np.ones((5, 2))}, r"`x_test` in .* expected \(5, 3\)"),
        ({"x": np.full((12, 3), np.nan)}, "`x` in .* finite .* NaN"),
        ({"y": np.full(12, np.longdouble("1e400"))}, "`y` in .* beyond float64"),
        ({"weight": -np.ones(12)}, "`weight` in .* got a negative number"),
        ({"weight": np.zeros(12)}, "`weight` in .* got 0 everywhere"),
        ({"y": np.array(["a"] * 12)}, "`y` in .* must hold finite real numbers"),
        ({"y": np.array([{}] * 12)}, "is no npz file of numbers: .*pickle"),
    ],
)
def test_a_file_that_is_no_sample_is_refused_by_name(tmp_path, changes, message):
    with pytest.raises(ValueError, match=message):
        Npz(saved(tmp_path, **changes))


def test_what_is_no_npz_file_is_refused_by_name(tmp_path):
    for name, raw in (("text.npz", b"x, y"), ("empty.npz", b"")):
        (tmp_path / name).write_bytes(raw)
        with pytest.raises(ValueError, match=f"`path`: .*{name} is no npz file"):
            Npz(str(tmp_path / name))
    np.save(tmp_path / "one.npy", np.ones(3))
    with pytest.raises(ValueError, match="one.npy is no npz file"):
        Npz(str(tmp_path / "one.npy"))
    whole = pathlib.Path(saved(tmp_path)).read_bytes()
    (tmp_path / "half.npz").write_bytes(whole[: len(whole) // 2])
    with pytest.raises(ValueError, match="half.npz is no npz file"):
        Npz(str(tmp_path / "half.npz"))
    with pytest.raises(ValueError, match="`path`: cannot read .*none.npz"):
        Npz(str(tmp_path / "none.npz"))
    with pytest.raises(ValueError, match="its SHA-256 is not the expected 00"):
        Npz(saved(tmp_path), sha256="00")


def test_more_rows_than_there_are_are_refused_by_name(tmp_path):
    make = DrawnFrom(Npz(saved(tmp_path)), equinox_network)
    with pytest.raises(ValueError, match="`n` must be from 1 to 12, the rows of .*13"):
        planned(small(make=make, cell={"n": (12, 13)}, final={}))


@pytest.mark.process
def test_the_example_of_the_docs_runs(tmp_path, monkeypatch):
    page = ROOT / "docs" / "own.md"
    blocks = page.read_text().split("```python\n")
    (example,) = (b.split("```")[0] for b in blocks if 'Npz("mine.npz")' in b)
    x = RNG.normal(size=(70, 2))
    saved(tmp_path, x=x, y=x[:, 0], x_test=None, y_test=None)
    monkeypatch.chdir(tmp_path)
    for text, shorter in (("[20, 60]", "[60]"), ("seeds=10", "seeds=2")):
        assert text in example
        example = example.replace(text, shorter)
    held = {"__name__": "example"}
    exec(example, held)
    ds = held["ds"]
    assert dict(ds.sizes) == {"n": 1, "flow.rate": 2, "seed": 2, "time": 11}
    error = ds["train_error"]
    assert (error.isel(time=-1) < error.isel(time=0)).all()


SHARED = ["run", "spurious_minimum", "--preset", "smoke", "--seeds", "1"]
CELL = ["--cell.n", "4", "8", "--cell.scale", "1", "--cell.start", "0"]
OWN = [*SHARED, *CELL]


@pytest.mark.process
def test_an_experiment_runs_on_a_sample_of_the_users_own(tmp_path, monkeypatch, capsys):
    monkeypatch.chdir(tmp_path)
    saved(tmp_path)
    assert exit_code([*OWN, "--data", "mine.npz", "--out", "run"]) == 0
    ds = open_result("run")
    assert ds["d"] == 3
    assert ds.sizes["n"] == 2
    data, network = initial(ds, n=4)
    assert network.w.shape == (20, 3)
    rows = np.asarray(data.y[:, 0]).astype(int)
    np.testing.assert_array_equal(data.x, ARRAYS["x"][rows])
    np.testing.assert_array_equal(data.test.x, TEST["x_test"])
    said = json.loads(pathlib.Path("run/claims.json").read_text())["claims"]
    assert {claim["verdict"] for claim in said} == {"not applicable"}
    # From wherever it is taken up again, and only with the same file.
    before = (tmp_path / "run" / "figure.png").read_bytes()
    (tmp_path / "run" / "figure.png").unlink()
    (tmp_path / "elsewhere").mkdir()
    monkeypatch.chdir(tmp_path / "elsewhere")
    assert exit_code(["resume", "../run"]) == 0
    assert (tmp_path / "run" / "figure.png").read_bytes() == before
    assert exit_code([*OWN, "--data", "../mine.npz", "--out", "../run"]) == 0
    # Told by its bytes, not by where it lies.
    (tmp_path / "mine.npz").rename("other.npz")
    assert exit_code(["resume", "../run"]) == 2
    assert exit_code(["resume", "../run", "--data", "other.npz"]) == 0
    assert exit_code(["worker", "../run", "--data", "other.npz", "--quiet"]) == 0
    assert exit_code([*OWN, "--data", "other.npz", "--out", "../run"]) == 0
    saved(tmp_path, y=np.arange(12) + 1.0)
    capsys.readouterr()
    assert exit_code(["resume", "../run"]) == 2
    assert "mine.npz is another file: its SHA-256" in capsys.readouterr().err
    assert exit_code(["resume", "../run", "--data", "../mine.npz"]) == 2
    assert "is not the file that this run was started with" in capsys.readouterr().err
    assert exit_code([*OWN, "--data", "../mine.npz", "--out", "../run"]) == 2
    assert "make.law.sha256" in capsys.readouterr().err


def test_workers_are_told_where_the_data_lies_now(tmp_path, monkeypatch, capsys):
    monkeypatch.chdir(tmp_path)
    saved(tmp_path)
    assert (
        exit_code([*OWN, "--data", "mine.npz", "--workers", "0", "--out", "run"]) == 0
    )
    (tmp_path / "mine.npz").rename("other.npz")
    # A worker that cannot begin leaves its reason for who looks.
    assert exit_code(["worker", "run", "--quiet"]) == 2
    capsys.readouterr()
    assert exit_code(["status", "run"]) == 0
    assert "mine.npz" in capsys.readouterr().out.partition("error of")[2]
    asked = []

    def submit(self, command):
        asked.append(command.words)
        raise BadInput("no workers here")

    monkeypatch.setattr(LocalWorkers, "submit", submit)
    data = ["--data", "other.npz"]
    assert exit_code(["resume", "run", "--workers", "1", *data]) == 2
    assert exit_code(["submit", "run", "--cluster", "local", "--wait", *data]) == 2
    assert "no workers here" in capsys.readouterr().err
    told = [words[words.index("--data") + 1] for words in asked]
    assert [pathlib.Path(name).name for name in told] == ["other.npz"] * 2


def test_a_sample_may_be_named_in_a_file_of_overrides(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    path = saved(tmp_path)
    (tmp_path / "mine.toml").write_text('data = "mine.npz"\n')
    _, steps, rest = resolved(["--config", "mine.toml", "--seeds", "2"])
    assert rest == ["--seeds", "2"]
    assert steps[0]["data"]["path"] == path
    law = experiment_of(experiment_module("spurious_minimum"), "smoke", steps).make.law
    assert law == Npz(path)


@pytest.mark.parametrize(
    ("changes", "arguments", "message"),
    [
        ({}, ["--cell.n", "13"], "`--cell.n` must be from 1 to 12"),
        ({}, ["--cell.d", "5"], "`--cell.d` is that of the sample, 3: leave it out"),
        ({"x_test": None, "y_test": None}, [], "needs a second sample"),
        ({"y": np.ones((12, 2)), "y_test": np.ones((5, 2))}, [], "targets of the samp"),
        ({"x": None}, [], "does not hold `x`"),
        (
            {"x_test": np.ones((0, 3)), "y_test": np.ones(0)},
            [],
            "expected rows and col",
        ),
    ],
)
def test_a_sample_that_an_experiment_cannot_take_is_refused(
    tmp_path, capsys, changes, arguments, message
):
    path = saved(tmp_path, **changes)
    out = ["--out", str(tmp_path / "run")]
    assert exit_code([*OWN, *arguments, "--data", path, *out]) == 2
    assert message in capsys.readouterr().err
    assert not (tmp_path / "run").exists()


def test_inputs_of_another_size_are_refused_where_the_size_is_fixed(tmp_path, capsys):
    out = ["--out", str(tmp_path / "run")]
    path = saved(tmp_path)
    run = ["run", "three_points", "--preset", "smoke", "--data", path]
    assert exit_code([*run, *out]) == 2
    assert "inputs of the sample have 3 entries" in capsys.readouterr().err


def test_labels_that_the_loss_does_not_take_are_refused_before_anything(
    tmp_path, capsys
):
    y = np.where(np.arange(12) % 2, 1.0, 2.0)
    x, out = RNG.normal(size=(12, 2)), tmp_path / "run"
    path = saved(tmp_path, x=x, y=y, x_test=None, y_test=None)
    run = ["run", "max_margin", "--preset", "smoke", "--data", path, "--out", str(out)]
    assert exit_code(run) == 2
    assert "must hold −1 and +1 for the loss" in capsys.readouterr().err
    assert not out.exists()


def test_sizes_without_rows_enough_are_left_out(tmp_path):
    signs = {"y": np.resize([-1.0, 1.0], 12), "y_test": np.ones(5)}
    steps = [{"data": kept_file(saved(tmp_path, **signs))}]
    made = lambda name, preset: experiment_of(experiment_module(name), preset, steps)
    assert made("spurious_minimum", "quick").cell["n"] == (5, 10)
    assert made("threshold", "quick").cell["n"] == (5, 10)
    assert made("early_alignment", "quick").cell["n"] == 12
    assert made("slabs", "smoke").cell["n"] == 12
    with pytest.raises(ValueError, match="the experiment's own dataset"):
        moved([{"seeds": 3}], steps[0]["data"]["path"])


def test_a_loss_that_is_a_mean_over_a_law_takes_no_sample(tmp_path, capsys):
    path = saved(tmp_path, x=RNG.normal(size=(12, 2)), x_test=RNG.normal(size=(5, 2)))
    run = ["run", "symmetry_breaking", "--preset", "smoke", "--cell.n", "8"]
    out = ["--data", path, "--out", str(tmp_path / "run")]
    assert exit_code([*run, *out]) == 2
    assert "no sample enters it" in capsys.readouterr().err


@pytest.mark.process
def test_what_is_measured_along_features_is_not_a_number_without_them(tmp_path):
    data = Npz(saved(tmp_path))(KEY)
    unknown = dataclasses.replace(data, features=jnp.full((1, 3), jnp.nan))
    network = balanced(KEY, m=2, d=3, scale=0.1)
    assert np.isnan(TwoGroupGap()(network, unknown))
    x, _ = exchanged(unknown, "simple")
    assert np.isnan(x).all()


def test_features_that_a_sample_does_not_have_are_not_numbers(tmp_path):
    def make(key, *, n: int = 4, d: int = 2):
        return gaussian_teacher(key, n=n, d=d, sigma=0.1), balanced(
            key, m=2, d=d, scale=0.1
        )

    on_sample = OnSample(Npz(saved(tmp_path)), make)
    data, network = on_sample(KEY, n=5)
    assert network.w.shape == (2, 3)
    assert data.x.shape == (5, 3)
    assert np.isnan(data.features).all()
    own = OnSample(Npz(saved(tmp_path, features=np.eye(3))), make)
    np.testing.assert_array_equal(own(KEY)[0].features, np.eye(3))


def test_samples_by_other_names_are_asked_for(tmp_path):
    def make(key, *, n: int = 4):
        data = Npz(saved(tmp_path))(key, n=n)
        data = dataclasses.replace(data, others={"shifted": data})
        return data, balanced(key, m=2, d=3, scale=0.1)

    with pytest.raises(ValueError, match=r"needs further samples \(shifted\)"):
        OnSample(Npz(saved(tmp_path)), make)(KEY)
