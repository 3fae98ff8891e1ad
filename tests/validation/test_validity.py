"""What an experiment refuses before anything runs, by name."""

import dataclasses
import functools
import types
from typing import Any, ClassVar

import equinox as eqx
import jax
import jax.numpy as jnp
import numpy as np
import pytest
from small import RiskBelow, small

from simbias.cli._overrides import overridden
from simbias.core import AbstractMeasure, AbstractNetwork, Index, Real
from simbias.ensemble.configuration import configuration
from simbias.ensemble.grid import make_grid
from simbias.validation.agreement import check_fit
from simbias.validation.experiment import check_experiment, check_resources
from simbias.verbs.simulate import planned, simulate


class Named(AbstractMeasure):
    dims: ClassVar[tuple[str, ...]] = ("row",)
    values: tuple = (1.0, 2.0)

    def __call__(self, network, data):
        return jnp.asarray(self.values)


class Twice(Named):
    dims: ClassVar[tuple[str, ...]] = ("seed",)


class Labelled(Named):
    def coords(self):
        return {"row": jnp.arange(3)}


class Numbered(Named):
    def coords(self):
        return {"row": np.array(self.values)}


class Elsewhere(Named):
    def coords(self):
        return {"n": np.arange(2)}


class OfGrid(Named):
    dims: ClassVar[tuple[str, ...]] = ("n",)


class Static(Named):
    array: Any = eqx.field(static=True, default=None)


class Holding(Named):
    inner: Static = Static()


class StaticStop(RiskBelow):
    array: Any = eqx.field(static=True, default=None)


class Bare(Named):
    dims: ClassVar[tuple[str, ...]] = ()

    def __call__(self, network, data):
        return 1.0


@pytest.mark.parametrize(
    ("changes", "message"),
    [
        ({"measures": {"q": Twice()}}, r"measure `q` has the axes \('seed',\)"),
        ({"measures": {"q": Labelled()}}, r"`q` has 2 values along `row`"),
        ({"measures": {"q": Bare()}}, r"`q` must return an array, got a float"),
        ({"make": lambda key, *, n: None}, r"`make` must return"),
    ],
)
def test_wrong_experiments_are_refused_by_name(changes, message):
    with pytest.raises(ValueError, match=message):
        planned(small(**{"cell": {"n": 6}, **changes}))


# Equinox warns of them.
@pytest.mark.filterwarnings("ignore:A JAX array is being set as static")
@pytest.mark.parametrize(
    ("changes", "owner"),
    [
        (lambda held: {"measures": {"q": Static(array=held)}}, "measure `q`"),
        (lambda held: {"final": {"r": Holding(inner=Static(array=held))}}, "`r`"),
        (lambda held: {"stop": StaticStop(0.1, array=(held,))}, "`stop`"),
    ],
)
def test_an_array_in_a_static_field_is_refused_by_name(changes, owner):
    holds = f"{owner} holds an array in the static field `array`"
    with pytest.raises(ValueError, match=holds):
        planned(small(cell={"n": 6}, **changes(np.ones(2))))


@pytest.mark.parametrize(
    ("measures", "message"),
    [
        ((Named(), Named((1.0,))), r"`q` and `r` have 2 and 1 values along `row`"),
        ((Numbered(), Numbered((0.0, 1.0))), r"`q` and `r` have different coordinates"),
        ((OfGrid(), Named()), r"measure `q` names the axis `n`, which is an argument"),
        ((Named(), Elsewhere()), r"`r` has coordinates of `n`"),
    ],
)
def test_measures_that_share_an_axis_must_agree_on_it(measures, message):
    q, r = measures
    with pytest.raises(ValueError, match=message):
        planned(small(cell={"n": (6, 7)}, measures={"q": q}, final={"r": r}))


def positional(key, n: int = 6, scale: float = 0.1, law=np.ones):
    return small().make(key, n=n, scale=scale)


def test_what_make_takes_after_the_key_is_the_grid_with_or_without_a_star():
    experiment = small(make=positional)
    assert make_grid(experiment) == make_grid(small(make=starred))
    assert planned(experiment).size == 12


def starred(key, *, n: int = 6, scale: float = 0.1):
    return small().make(key, n=n, scale=scale)


@pytest.mark.parametrize(
    ("make", "message"),
    [
        (lambda **cell: None, r"first argument of `make` .*def make\(key, \*, n"),
        (lambda *, key, n: None, r"first argument of `make` must be a random key"),
        (lambda: None, r"first argument of `make` must be a random key"),
        (lambda key, **cell: None, r"`cell.n` is not .* which only takes a key"),
    ],
)
def test_a_make_that_names_no_arguments_is_refused_with_the_right_form(make, message):
    with pytest.raises(ValueError, match=message):
        planned(small(make=make))


def branching(key, *, n: int, sigma: Real = 0.5, scale: float = 0.1):
    return small().make(key, n=n, sigma=0.0 if sigma < 1 else sigma, scale=scale)


def shaping(key, *, n: Index, sigma: Real = 0.5):
    return small().make(key, n=n, sigma=sigma)


def looping(key, *, n: int, sigma: Real = 0.5, draw: Index = 3):
    return small().make(jax.random.split(key, 10)[int(draw)], n=n, sigma=sigma)


@pytest.mark.parametrize(
    ("make", "name"), [(branching, "sigma"), (shaping, "n"), (looping, "draw")]
)
def test_a_number_whose_value_make_asks_for_is_named_before_anything_runs(make, name):
    asks = rf"`make` of small must not use the value of `{name}` in Python"
    with pytest.raises(ValueError, match=asks):
        planned(small(make=make, cell={"n": 6}))


@pytest.mark.parametrize(
    ("lanes", "devices", "message"),
    [
        (True, None, "`lanes` must be a positive integer, got True"),
        (0, None, "`lanes` must be a positive integer, got 0"),
        (2.0, None, "`lanes` must be a positive integer, got 2.0"),
        (None, [], r"`devices` must be .* one device, got \[\]"),
        (None, "cpu", r"`devices` must be a list .* got 'cpu'"),
        (None, ["cpu"], r"`devices` must be a list of at least"),
        (None, [*jax.devices()[:1], "cpu"], r"`devices` must be a list of at least"),
    ],
)
def test_what_a_run_cannot_run_on_is_refused_by_name(lanes, devices, message):
    with pytest.raises(ValueError, match=message):
        check_resources(lanes, devices)


@pytest.mark.parametrize("options", [{"lanes": True}, {"devices": []}])
def test_a_run_refuses_them_too(options):
    with pytest.raises(ValueError, match=next(iter(options))):
        simulate(small(), **options)


def test_what_is_no_experiment_is_refused_with_an_example():
    with pytest.raises(ValueError, match=r"must be an Experiment, got 'threshold'"):
        check_experiment("threshold")


WIDE = types.SimpleNamespace(x=np.ones((4, 3)), y=np.ones((4, 1)), others={})


@pytest.mark.parametrize(
    ("changes", "message"),
    [
        ({"weight": np.ones((6, 1))}, r"`data.weight` has the shape"),
        ({"mean": np.ones(6)}, r"`data.mean` has the shape"),
        ({"y": np.ones((3, 1))}, r"`data.(y|mean)` has the shape"),
        ({"x": np.ones(6)}, r"must have the shape \(n, d\)"),
        ({"x": np.ones((0, 2))}, r"must have the shape \(n, d\)"),
        ({"mean": None}, r"`data.mean` must be an array, got None"),
        ({"test": WIDE}, r"`data.test.x` has the shape \(4, 3\)"),
        ({"features": np.ones((1, 3))}, r"`data.features` has the shape \(1, 3\)"),
    ],
)
def test_samples_whose_shapes_do_not_fit_are_refused_by_name(changes, message):
    fields = {"x": np.ones((6, 2)), "y": np.ones((6, 1)), "mean": np.ones((6, 1))}
    fields["features"] = np.ones((0, 2))
    data = types.SimpleNamespace(
        **{"weight": np.ones(6), "others": {}, **fields, **changes}
    )
    with pytest.raises(ValueError, match=message):
        check_fit(lambda x: x[:1], data)


@pytest.mark.parametrize(
    ("loss", "message"),
    [
        (lambda f, y, w: (f - y) ** 2, r"one real number, got float64\[8, 1\]"),
        (lambda f, y, w: None, r"one real number, got None"),
        (lambda f, y, w: jnp.int32(1), r"one real number, got int32\[\]"),
        (lambda f, y: jnp.mean(f - y), r"`loss` cannot be computed: .*positional"),
    ],
)
def test_a_loss_that_is_no_mean_is_refused_before_anything_is_written(
    tmp_path, loss, message
):
    with pytest.raises(ValueError, match=message):
        simulate(small(loss=loss, cell={"n": 6}), store=tmp_path / "run.zarr")
    assert not list(tmp_path.iterdir())


def test_an_experiment_needs_a_name():
    with pytest.raises(ValueError, match="`name` must be a word, got ''"):
        check_experiment(small(name=""))


class Slanted(AbstractNetwork):
    w: jax.Array
    slope: float = 0.1

    def __call__(self, x):
        return self.w @ x + self.slope


def test_a_network_with_a_leaf_that_is_no_array_is_refused_by_name():
    def make(key, *, n: int):
        data, _ = small().make(key, n=n)
        return data, Slanted(jnp.ones((1, data.x.shape[1])))

    with pytest.raises(ValueError, match=r"holds 0.1 at `.slope`, which is not an"):
        simulate(small(make=make, cell={"n": 6}, final={}))


def test_a_network_without_neurons_is_refused_by_name():
    def make(key, *, n: int):
        data, network = small().make(key, n=n)
        return data, jax.tree.map(lambda v: v[:0], network)

    with pytest.raises(ValueError, match=r"an empty array at `\.\w+`"):
        planned(small(make=make, cell={"n": 6}, final={}))


def unannotated(key, *, n: int, hardness=1, law="plain"):
    return small().make(key, n=n)


def test_an_argument_without_annotation_takes_numpy_numbers_and_no_objects():
    experiment = small(make=unannotated, cell={"n": 6, "hardness": (1, 2)})
    axis = tuple(np.arange(1, 3))
    same = dataclasses.replace(experiment, cell={"n": 6, "hardness": axis})
    assert make_grid(same) == make_grid(experiment)
    with pytest.raises(ValueError, match=r"`cell.law` must be a number, a string"):
        planned(small(make=unannotated, cell={"n": 6, "law": {1, 2}}))


def test_times_may_be_numpy_numbers():
    plain = small(cell={"n": 6}, times=(0.0, 2.0))
    given = dataclasses.replace(plain, times=tuple(np.array([0.0, 2.0])))
    assert configuration(given) == configuration(plain)
    assert planned(given).recorder == planned(plain).recorder


@pytest.mark.parametrize("times", [[], [0.0]])
def test_times_that_end_at_zero_cannot_be_stretched(times):
    with pytest.raises(ValueError, match=r"`times`"):
        overridden(small(), {"times": times, "final_time": 10.0})


@pytest.mark.slow
@pytest.mark.parametrize(
    ("option", "value"),
    [("jax_default_prng_impl", "rbg"), ("jax_threefry_partitionable", False)],
)
def test_the_generator_of_the_process_does_not_decide_members(option, value):
    experiment = small(cell={"n": 6}, seeds=2)
    expected = simulate(experiment)["risk"].values.tolist()
    jax.clear_caches()  # keys that were compiled would hide it
    # Of the process: its threads do not see a context of this one.
    before = getattr(jax.config, option)
    jax.config.update(option, value)
    try:
        assert simulate(experiment)["risk"].values.tolist() == expected
    finally:
        jax.config.update(option, before)


def test_what_a_partial_function_holds_is_part_of_the_configuration():
    def shifted(key, *, n: int, shift: float):
        return small().make(key, n=n)

    one, two = (
        configuration(small(make=functools.partial(shifted, shift=s), cell={"n": 6}))
        for s in (0.0, 5.0)
    )
    assert one != two


@dataclasses.dataclass
class Settings:
    """Of somebody's own, and no module of equinox."""

    shift: float
    names: tuple[str, ...] = ("x", "y")


def test_a_dataclass_is_written_down_by_its_fields():
    experiment = small(measures={"q": Static(array=Settings(0.5))})
    found = configuration(experiment)["measures"]["q"]["array"]
    assert found == {"type": "Settings", "shift": 0.5, "names": ["x", "y"]}
