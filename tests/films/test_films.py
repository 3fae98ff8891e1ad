"""Members as films: what is drawn is what the run holds."""

import io

import jax.numpy as jnp
import numpy as np
import pytest
import xarray as xr
from matplotlib.animation import FFMpegWriter
from PIL import Image
from small import small

import simbias
from simbias.cli import main
from simbias.cli.animate import _selected
from simbias.films.moments import moments
from simbias.films.training import _why_again
from simbias.measures import Amplitudes, NeuronWeights
from simbias.networks import balanced
from simbias.theory.extremal_vectors import extremal_vectors

pytestmark = pytest.mark.process

TIMES = tuple(0.1 * i for i in range(16))


def line(key, *, m: int = 6):
    """One input and a constant one."""
    x = jnp.stack([jnp.arange(8) / 8, jnp.ones(8)], axis=1)
    y = jnp.sin(2 * jnp.pi * x[:, :1])
    data = simbias.Dataset(x, y, jnp.ones(8), y, jnp.eye(2))
    return data, balanced(key, m=m, d=2, scale=0.1)


def classes(key, *, m: int = 6, d: int = 2):
    """Two classes, told apart by the first input."""
    data, _ = small().make(key, n=12, d=d)
    y = jnp.sign(data.x[:, :1])
    data = simbias.Dataset(data.x, y, data.weight, y, jnp.eye(d)[:2])
    return data, balanced(key, m=m, d=d, scale=0.1)


def run(make, measures=None, **changes):
    measures = {} if measures is None else measures
    flow = simbias.Descent(rate=0.1)
    fields = {"cell": {"m": 6}, "seeds": 2, "times": TIMES, "flow": flow, **changes}
    experiment = small(make=make, measures=measures, final={}, **fields)
    return simbias.simulate(experiment), experiment


def lines(figure):
    """Every line of a figure by its label."""
    return {one.get_label(): one for axes in figure.get_axes() for one in axes.lines}


@pytest.fixture(scope="module")
def recorded():
    return run(line, {"neuron_weights": NeuronWeights()})


def test_neurons_are_drawn_where_they_are(recorded):
    ds, experiment = recorded
    film = simbias.animate(ds, experiment, seed=1)
    assert film.kinds == ("neurons", "function")
    assert len(film) == len(TIMES)
    neurons = simbias.neuron_history(ds, experiment, seed=1)
    polar = next(axes for axes in film.figure.get_axes() if axes.name == "polar")
    for number in (0, 7, -1):
        film.frame(number)
        then = neurons.isel(time=number)
        w, a = then["w"].values, then["a"].values
        *_, positive, negative = polar.lines
        for dots, of in ((positive, a > 0), (negative, a < 0)):
            angle, radius = dots.get_data()
            np.testing.assert_allclose(angle, np.arctan2(w[of, 1], w[of, 0]))
            length = np.log10(np.linalg.norm(w[of], axis=1))
            np.testing.assert_allclose(radius, length)


def test_extremal_vectors_and_the_function_are_those_of_theory_and_network(recorded):
    ds, experiment = recorded
    film = simbias.animate(ds, experiment)
    data, _ = simbias.initial(ds, experiment)
    found = extremal_vectors(data)
    polar = next(axes for axes in film.figure.get_axes() if axes.name == "polar")
    drawn = [artist.get_xdata()[0] for artist in polar.lines[:-2]]
    wanted = np.arctan2(found.direction[:, 1], found.direction[:, 0])
    np.testing.assert_allclose(np.sort(drawn), np.sort(wanted))
    end = simbias.neuron_history(ds, experiment).isel(time=-1)
    w, a = end["w"].values, end["a"].values
    x, f = lines(film.frame(-1))["network"].get_data()
    inputs = np.stack([x, np.ones_like(x)], axis=1)
    np.testing.assert_allclose(f, np.maximum(inputs @ w.T, 0) @ a, atol=1e-12)


def test_a_run_that_keeps_too_few_networks_says_how_many_and_what_it_takes():
    few = xr.Dataset({"w": ("kept", [1.0, 2.0])})
    assert "keeps networks of 2 times, and a film takes those of 12" in _why_again(few)
    assert "The run keeps no networks" in _why_again(xr.Dataset())


def test_a_member_without_networks_is_integrated_again_to_the_same_end(recorded):
    ds, experiment = recorded
    plain, bare = run(line, times=(0.0, TIMES[-1]))
    told = []
    film = simbias.animate(plain, bare, seed=1, frames=20, say=told.append)
    assert "integrated again from its seed" in told[0]
    assert len(film) <= 20
    assert film.times[[0, -1]].tolist() == [0.0, TIMES[-1]]
    same = simbias.animate(ds, experiment, seed=1, say=told.append)
    assert len(told) == 1
    for name in ("angle", "length", "f", "loss"):
        ends = (one.values[name][[0, -1]] for one in (film, same))
        np.testing.assert_allclose(next(ends), next(ends), rtol=1e-9)


def test_kept_networks_are_shown_as_they_are():
    ds, experiment = run(classes, keep=TIMES)
    told = []
    film = simbias.animate(ds, experiment, say=told.append)
    assert (film.kinds, told) == (("neurons", "boundary"), [])
    f = film.values["f"]
    network = simbias.member(ds, experiment).network
    panel = next(axes for axes in film.frame(-1).get_axes() if axes.images)
    left, right, low, high = panel.images[0].get_extent()
    corners = jnp.array([[left, low], [right, high]])
    values = np.array([network(corner)[0] for corner in corners])
    seen = f[-1][[0, -1], [0, -1]]
    np.testing.assert_allclose(seen / seen[0], values / values[0], rtol=1e-9)


def test_of_many_inputs_cosines_with_the_features_are_drawn():
    ds, experiment = run(classes, {"w": NeuronWeights()}, cell={"m": 6, "d": 4})
    film = simbias.animate(ds, experiment, kind=("neurons", "boundary"))
    w = simbias.neuron_history(ds, experiment)["w"].values
    unit = w / np.linalg.norm(w, axis=-1, keepdims=True)
    np.testing.assert_allclose(film.values["place"], unit[..., :2], atol=1e-12)


def test_a_spectrum_fills_as_it_was_recorded():
    ds, experiment = run(line, {"amplitudes": Amplitudes((1, 2), 8)})
    film = simbias.animate(ds, experiment)
    assert film.kinds == ("spectrum",)
    # The target has the first frequency and not the second.
    one = ds["amplitudes"].isel(seed=0, frequency=[0])
    np.testing.assert_array_equal(film.values["amplitude"], one)
    map_, *_ = film.frame(3).get_axes()
    shown = np.ma.filled(map_.collections[0].get_array().astype(float), np.nan)
    np.testing.assert_array_equal(np.isfinite(shown).all(axis=1), np.arange(16) <= 3)


def test_a_film_is_a_file_of_as_many_frames(recorded, tmp_path):
    ds, experiment = recorded
    film = simbias.animate(ds, experiment, kind="function", frames=5)
    film.save(tmp_path / "film.gif")
    with Image.open(tmp_path / "film.gif") as picture:
        assert picture.format == "GIF"
        assert picture.n_frames == len(film) == 5
        assert picture.size == film.pixels(0).shape[1::-1]
    assert film._repr_html_().startswith('<img src="data:image/gif;base64,R0lGOD')
    if FFMpegWriter.isAvailable():
        film.save(tmp_path / "film.mp4")
        assert (tmp_path / "film.mp4").read_bytes()[4:8] == b"ftyp"
    with pytest.raises(simbias.BadInput, match=r"a \.gif or an \.mp4, got '.avi'"):
        film.save(tmp_path / "film.avi")


def test_an_mp4_without_ffmpeg_is_refused(recorded, tmp_path, monkeypatch):
    ds, experiment = recorded
    film = simbias.animate(ds, experiment, kind="function", frames=2)
    monkeypatch.setattr(FFMpegWriter, "isAvailable", lambda: False)
    with pytest.raises(simbias.BadInput, match="ffmpeg"):
        film.save(tmp_path / "film.mp4")


def test_what_cannot_be_shown_is_refused_by_name(recorded):
    ds, experiment = recorded
    plain, many = run(classes, cell={"m": 6, "d": 3})
    for call, message in (
        (lambda: simbias.animate(ds, experiment, kind="waves"), "`kind` must be one"),
        (lambda: simbias.animate(ds, experiment, kind="boundary"), "got 1 inputs"),
        (lambda: simbias.animate(plain, many, kind="function"), "got 3 inputs"),
        (lambda: simbias.animate(ds, experiment, kind="spectrum"), "Amplitudes"),
        (
            lambda: simbias.animate(ds, experiment, kind=("spectrum", "neurons")),
            "by itself",
        ),
        (lambda: simbias.animate(ds, experiment, frames=1), "`frames` must be"),
        (lambda: simbias.animate(ds, experiment, seed=7), "`seed` must be one of"),
        (lambda: simbias.animate(ds, experiment, m=7), "`m` must be one of"),
        (lambda: simbias.animate(ds), "Give the experiment"),
    ):
        with pytest.raises(simbias.BadInput, match=message):
            call()


def kinds(key, *, kind: int = 6):
    """An argument that is called like one of the verb."""
    return line(key, m=kind)


def test_an_axis_may_be_called_like_an_argument_of_the_verb():
    ds, made = run(kinds, {"neuron_weights": NeuronWeights()}, cell={"kind": (4, 6)})
    part, member = _selected(ds, {"kind": 6, "seed": 1})
    assert simbias.animate(part, made, **member).label == "kind = 6, seed 1"
    with pytest.raises(ValueError, match="an axis `experiment`"):
        _selected(ds, {"experiment": 1, "seed": 1})


def test_frames_are_dense_where_something_moves():
    rows = np.concatenate([np.zeros(500), np.linspace(0, 1, 50), np.ones(450)])
    chosen = moments([rows], 40)
    assert len(chosen) <= 40
    assert chosen[[0, -1]].tolist() == [0, 999]
    assert (np.diff(chosen) > 0).all()
    assert 15 < np.sum((chosen >= 500) & (chosen < 550)) < 30
    assert moments([rows[:30]], 40).tolist() == list(range(30))


def test_the_command_writes_a_film_into_the_folder(tmp_path, capsys, monkeypatch):
    monkeypatch.chdir(tmp_path)
    from simbias.experiments import stewart_snapshots

    made = stewart_snapshots.experiment(
        "smoke",
        m=4,
        seeds=2,
        times=TIMES,
        measures={"w": NeuronWeights()},
        flow=simbias.Descent(rate=0.1),
    )
    simbias.simulate(made, store="run/run.zarr")
    for words, code, said in (
        (["--member", "seed=1", "--frames", "4"], 0, "4 frames of seed 1"),
        (["--member", "n=3"], 2, "`n` is not an axis of this run"),
        (["--member", "seed=9"], 2, r"must be one of [0, 1], got 9"),
        (["--member", "seed"], 2, "must be NAME=VALUE"),
        (["--out", "film.png"], 2, "must end in .gif or .mp4"),
        (["--kind", "boundary"], 2, "`kind` boundary is for"),
    ):
        with pytest.raises(SystemExit) as leaving:
            main(["animate", "run", *words])
        assert leaving.value.code == code
        assert said in capsys.readouterr().err
    assert (tmp_path / "run" / "film.gif").read_bytes()[:6] == b"GIF89a"
    picture = io.BytesIO((tmp_path / "run" / "film.gif").read_bytes())
    with Image.open(picture) as film:
        assert film.n_frames == 4
