"""A stored run keeps the source that it reaches, and does not mix two sources."""

import importlib
import json
import sys
import threading

import jax.numpy as jnp
import optax
import pytest
import xarray as xr

import simbias
from simbias.core import Experiment
from simbias.ensemble.plan import make_plan
from simbias.flows.descent import Descent
from simbias.introspection.reachable_source import reachable_source
from simbias.losses import half_mse
from simbias.numerics.exact_numerics import exact_numerics
from simbias.results import attributes
from simbias.store._root import attributes_of, sealed
from simbias.store.work import prepare

pytestmark = pytest.mark.process

HELPER = '''\
"""What the law is made of."""

import functools

import jax.numpy as jnp

from constants_of_mine import SIGMA

MEAN = 1.5
CACHE = {}


def mean(x):
    """Of the target."""
    CACHE[len(CACHE)] = 0  # a run may write to it
    return MEAN * jnp.sum(x, axis=1, keepdims=True)


def unused(x):
    return x


class Law:
    def noise(self, draw):
        return SIGMA * draw
'''
CONSTANTS = "SIGMA = 0.5\n"
MINE = """\
import jax
import jax.numpy as jnp

import helper_of_mine
import simbias
from helper_of_mine import Law
from simbias.networks.two_layer_init import balanced


def make(key, *, n: int = 6):
    key_x, key_noise, key_net = jax.random.split(key, 3)
    x = jax.random.normal(key_x, (n, 2), jnp.float64)
    mean = helper_of_mine.mean(x)
    y = mean + Law().noise(jax.random.normal(key_noise, (n, 1), jnp.float64))
    data = simbias.Dataset(x, y, jnp.ones(n), mean, jnp.ones((1, 2)))
    return data, balanced(key_net, m=4, d=2, scale=0.1)


def power(network, data):
    return jnp.mean(weigh(jax.vmap(network)(data.x)))


def weigh(outputs):
    return outputs**2
"""
TEXTS = {"helper_of_mine": HELPER, "constants_of_mine": CONSTANTS, "mine": MINE}


@pytest.fixture
def experiment(tmp_path, monkeypatch):
    """A function of edits (module, old, new) and seeds: the experiment as edited."""
    folder = tmp_path / "modules"
    folder.mkdir()
    monkeypatch.syspath_prepend(folder)
    monkeypatch.setattr(sys, "dont_write_bytecode", True)

    def edited(*edits, seeds=2):
        for name, text in TEXTS.items():
            for where, old, new in edits:
                assert where != name or old in text
                text = text.replace(old, new) if where == name else text
            (folder / f"{name}.py").write_text(text)
            sys.modules.pop(name, None)
        importlib.invalidate_caches()
        mine = importlib.import_module("mine")
        return Experiment(
            name="mine",
            make=mine.make,
            cell={"n": (6,)},
            seeds=seeds,
            flow=Descent(rate=0.1),
            loss=half_mse,
            times=(0.0, 1.0),
            measures={"power": mine.power},
        )

    yield edited
    for name in TEXTS:
        sys.modules.pop(name, None)


def begun(store, experiment):
    """A store of an experiment, in which nothing is computed."""
    with exact_numerics():
        plan = make_plan(experiment)
    return prepare(store, plan, attributes(plan))


@pytest.mark.parametrize(
    ("edit", "said"),
    [
        (("helper_of_mine", "MEAN * jnp", "MEAN - jnp"), r"-.*MEAN \* jnp"),
        (("helper_of_mine", "MEAN = 1.5", "MEAN = 2.5"), r"MEAN: 1.5 -> 2.5"),
        (("helper_of_mine", "SIGMA * draw", "SIGMA + draw"), r"\+ .*SIGMA \+ draw"),
        (("constants_of_mine", "0.5", "0.25"), r"SIGMA: 0.5 -> 0.25"),
        (("mine", "outputs**2", "outputs**4"), r"\+ .*outputs \*\* 4"),
    ],
)
def test_a_run_does_not_grow_with_other_source(tmp_path, experiment, edit, said):
    store = tmp_path / "run.zarr"
    begun(store, experiment())
    before = (store / "zarr.json").read_bytes()
    for seeds in (2, 4):
        with pytest.raises(ValueError, match=said):
            begun(store, experiment(edit, seeds=seeds))
    assert (store / "zarr.json").read_bytes() == before


def test_a_run_that_is_finished_is_not_that_of_other_source(tmp_path, experiment):
    store, edit = tmp_path / "run.zarr", ("helper_of_mine", "MEAN = 1.5", "MEAN = 3.0")
    ds = simbias.simulate(experiment(), store=store)
    with pytest.raises(ValueError, match=r"MEAN: 1.5 -> 3.0"):
        simbias.simulate(experiment(edit), store=store)
    # Nor is a member of it drawn again by other source.
    with pytest.raises(ValueError, match=r"MEAN: 1.5 -> 3.0"):
        simbias.initial(ds, experiment(edit), seed=1)
    data, _ = simbias.initial(ds, experiment(), seed=1)
    assert data.x.shape == (6, 2)
    xr.testing.assert_identical(simbias.open_result(store), ds)


def test_comments_layout_and_functions_that_are_not_used_change_nothing(
    tmp_path, experiment
):
    store = tmp_path / "run.zarr"
    begun(store, experiment())
    edits = (
        ("helper_of_mine", "Of the target", "Of the targets"),
        ("helper_of_mine", "a run may", "runs may"),
        ("helper_of_mine", "return x\n", "return 2 * x\n"),
        ("mine", "import jax\n", "# Mine.\n\n\nimport jax\n"),
        ("mine", "outputs**2", "(outputs) ** 2"),
        ("mine", "def make(", "def make(  # of mine\n    "),
        ("mine", ":\n    key_x", ':\n    """Mine."""\n    key_x'),
    )
    grown = begun(store, experiment(*edits, seeds=4))
    assert grown.attributes["configuration"]["seeds"] == 4


def test_what_cannot_be_seen_is_named(experiment):
    found = reachable_source({"make": experiment().make})
    assert found is not None
    assert found["not_covered"] == ["helper_of_mine.CACHE: what a dict holds"]
    assert found["assigned"] == {"helper_of_mine.CACHE": "CACHE = {}"}
    assert "helper_of_mine.unused" not in found["functions"]
    json.dumps(found)


def test_a_file_that_changed_after_its_import_is_not_taken_for_the_code(experiment):
    held = experiment()
    path = sys.modules["helper_of_mine"].__file__
    with open(path, "a") as file:
        file.write("\n\nOTHER = 1\n")
    before = reachable_source({"make": held.make})
    with open(path, "w") as file:
        file.write(HELPER.replace("MEAN * jnp", "MEAN - jnp"))
    after = reachable_source({"make": held.make})
    assert before is not None
    assert after is not None
    assert before["functions"]["helper_of_mine.mean"]["text"]
    assert after["functions"]["helper_of_mine.mean"]["text"] is None
    code = [v["functions"]["helper_of_mine.mean"]["code"] for v in (before, after)]
    assert code[0] == code[1]


def test_a_run_of_an_earlier_simbias_grows_and_says_that_it_cannot_know(
    tmp_path, experiment
):
    store = tmp_path / "run.zarr"
    begun(store, experiment())
    found = attributes_of(json.loads((store / "zarr.json").read_text()))
    del found["source"]
    (store / "zarr.json").write_bytes(sealed(found))
    for seeds in (3, 4):
        with pytest.warns(UserWarning, match="If this code has changed since"):
            grown = begun(store, experiment(seeds=seeds))
        assert grown.attributes["configuration"]["seeds"] == seeds
        assert "source" not in grown.attributes


def test_experiments_of_the_package_are_told_by_their_version():
    from simbias.experiments.interpolation import threshold

    whole = threshold.experiment()
    things = {"make": whole.make, "flow": whole.flow, **whole.measures}
    assert reachable_source(things) is None


class Mute:
    def __repr__(self):
        raise ArithmeticError


MUTE, LOCK = Mute(), threading.Lock()


def test_objects_that_say_nothing_of_themselves_are_named():
    deleted = jnp.ones(3)
    deleted.delete()
    found = reachable_source(
        {"m": lambda network, data: (MUTE, LOCK, deleted, defaulted())}
    )
    assert found is not None
    assert len(found["not_covered"]) == 3
    assert found["values"][f"{__name__}.defaulted: b"] == "2"
    assert found["values"][f"{__name__}.defaulted: c"] == "3"


def defaulted(a=None, b=2, *, c=3):
    return a, b, c


def test_lambdas_closures_and_optimisers_are_covered():
    def of(power):
        return lambda network, data: network.w[0, 0] ** power

    two, three = (reachable_source({"m": of(power)}) for power in (2, 3))
    assert two is not None
    assert three is not None
    assert two["functions"] == three["functions"]
    assert {*two["values"].values()} == {"2"}
    assert {*three["values"].values()} == {"3"}
    rate = lambda step: 0.1 / (1 + step)
    found = reachable_source({"flow": Descent(optimiser=optax.sgd(rate))})
    assert found is not None
    (text,) = (one["text"] for one in found["functions"].values())
    assert text == "lambda step: 0.1 / (1 + step)"
