"""Two neurons from nearly the same place: kernel, saddle, escape, controls."""

import functools
import inspect
import math

import equinox as eqx
import jax
import jax.numpy as jnp
import numpy as np
import pytest
import xarray as xr
from scipy.integrate import quad

import simbias
from simbias.experiments import symmetry_breaking
from simbias.experiments.layers._two_neurons import (
    circle,
    escape_times,
    gaps,
    relu_student,
    start,
    student,
)
from simbias.experiments.layers.symmetry_breaking import make
from simbias.flows.descent import Descent
from simbias.flows.gradient_flow import GradientFlow
from simbias.losses import half_mse, mse
from simbias.measures.neurons.incoming_weights import IncomingWeights
from simbias.measures.risk.gaussian_loss import GaussianLoss
from simbias.measures.risk.train_loss import TrainLoss
from simbias.networks.two_layer import TwoLayer
from simbias.theory.arc_cosine import arc_cosine, arc_cosine_gradient
from simbias.theory.population import population_loss
from simbias.theory.two_neurons import gap, plateau
from simbias.verbs.simulate import simulate, solve

FLOW = GradientFlow(rtol=1e-10, atol=1e-14)
PAIRS = [
    ((1.0, 0.3), (-0.2, 0.7)),
    ((2.0, 0.0), (0.5, 0.5)),
    ((1.0, 1.0), (-1.0, -2.0)),
]


def leaky(h, slope):
    return np.where(h > 0, h, slope * h)


def by_quadrature(u, v, slope):
    """E φ(u·x) φ(v·x) in two dimensions: 2 = E|x|² times the mean over angles."""
    u, v = np.array(u), np.array(v)

    def product(angle):
        x = np.array([math.cos(angle), math.sin(angle)])
        return leaky(u @ x, slope) * leaky(v @ x, slope)

    kinks = [math.atan2(*w[::-1]) + s * math.pi / 2 for w in (u, v) for s in (-1, 1)]
    inside = [(k + math.pi) % (2 * math.pi) - math.pi for k in kinks]
    return quad(product, -math.pi, math.pi, points=inside, epsabs=1e-12)[0] / math.pi


@pytest.mark.parametrize("slope", [0.0, 0.3, 1.0])
@pytest.mark.parametrize(("u", "v"), PAIRS)
def test_the_kernel_is_the_integral_over_gaussian_inputs(u, v, slope):
    found = arc_cosine(jnp.array(u), jnp.array(v), slope)
    np.testing.assert_allclose(found, by_quadrature(u, v, slope), rtol=1e-9)
    # What is orthogonal to both changes nothing.
    longer, wider = (jnp.array([*w, 0.0]) for w in (u, v))
    np.testing.assert_allclose(arc_cosine(longer, wider, slope), found, rtol=1e-14)


def test_the_kernel_of_a_neuron_with_itself_is_half_its_square():
    u = jnp.array([0.3, -2.0, 1.0])
    np.testing.assert_allclose(arc_cosine(u, u), jnp.sum(u**2) / 2, rtol=1e-14)
    np.testing.assert_allclose(arc_cosine(u, -u), 0, atol=1e-15)
    np.testing.assert_allclose(arc_cosine_gradient(u, u), u / 2, rtol=1e-14)


@pytest.mark.parametrize("slope", [0.0, 0.3])
@pytest.mark.parametrize(("u", "v"), PAIRS)
def test_the_gradient_of_the_kernel_is_its_derivative(u, v, slope):
    u, v = jnp.array(u), jnp.array(v)
    expected = jax.grad(arc_cosine)(u, v, slope)
    np.testing.assert_allclose(arc_cosine_gradient(u, v, slope), expected, rtol=1e-12)


def test_the_gradient_of_the_kernel_sees_an_angle_of_1e_8():
    u, v = jnp.array([1.0, 1e-8]), jnp.array([1.0, -1e-8])
    # ∂/∂u = (sin θ u + (π − θ) v)/2π for |u| = |v|; arccos would say θ = 0 or 2.1e-8.
    found = arc_cosine_gradient(u, v)[1] - v[1] / 2
    np.testing.assert_allclose(found, 4e-16 / (2 * math.pi), rtol=0.3)
    found = arc_cosine_gradient(u, v)[0] - 0.5
    np.testing.assert_allclose(found, 0, atol=2e-16)


def test_the_saddle_has_the_stated_numbers():
    law = plateau()
    assert law.size == pytest.approx(0.5342, abs=5e-5)
    assert law.loss == pytest.approx(0.0885, abs=5e-5)
    assert law.rate == pytest.approx(0.596, abs=5e-4)
    assert law.average == pytest.approx(0.0908, abs=5e-5)


def gaussian_loss(w, teacher, slope):
    one = lambda rows: (rows, jnp.ones((len(rows), 1)), slope)
    return population_loss(one(w), one(teacher))


@functools.partial(jax.jit, static_argnums=1)
def value_and_gradient(w, slope=0.0):
    network = eqx.tree_at(lambda net: net.w, student(0.0, 0.5, slope), w)
    data = circle(8)
    value, gradient = network.value_and_gradient(half_mse, data.x, data.y, data.weight)
    return value, gradient.w


def test_at_the_saddle_the_gradient_is_0_and_one_direction_falls_at_the_rate():
    law = plateau()
    value, gradient = value_and_gradient(jnp.full((2, 2), law.size))
    assert float(value) == pytest.approx(law.loss, rel=1e-12)
    np.testing.assert_allclose(gradient, 0, atol=1e-15)
    # Central differences of the gradient: the error is of the order of the step.
    h, columns = 1e-6, []
    for i in range(4):
        step = jnp.zeros(4).at[i].set(h).reshape(2, 2)
        up, down = (
            value_and_gradient(jnp.full((2, 2), law.size) + s * step)[1]
            for s in (1, -1)
        )
        columns.append(np.ravel(up - down) / (2 * h))
    eigenvalues, vectors = np.linalg.eigh(np.array(columns))
    assert eigenvalues[0] == pytest.approx(-law.rate, abs=1e-5)
    assert eigenvalues[1] > -1e-5
    np.testing.assert_allclose(abs(vectors[:, 0]), 0.5, atol=1e-5)


@pytest.mark.parametrize("slope", [0.0, 0.4, 1.0])
def test_the_gradient_of_the_student_is_the_derivative_of_its_loss(slope):
    w = jnp.array([[0.6, -0.2], [0.1, 0.9]])
    value, gradient = value_and_gradient(w, slope)
    assert float(value) == pytest.approx(float(gaussian_loss(w, jnp.eye(2), slope)))

    # By autodiff the angle of a neuron with itself has no derivative.
    def loss(w):
        pairs = 2 * arc_cosine(w[0], w[1], slope)
        own = jnp.sum(w**2) * (1 + slope**2) / 2
        cross = sum(arc_cosine(u, e, slope) for u in w for e in jnp.eye(2))
        return (pairs + own - 2 * cross) / 2

    np.testing.assert_allclose(gradient, jax.grad(loss)(w), rtol=1e-12)


def test_the_loss_of_the_lattice_is_that_over_gaussian_inputs():
    w = jnp.array([[0.6, -0.2], [0.1, 0.9]])
    data = circle(4096)
    network = TwoLayer(w, jnp.ones((2, 1)))
    exact = float(GaussianLoss()(network, data))
    # The rule of rectangles for a function with kinks: of the order of (2π/n)².
    assert float(TrainLoss()(network, data)) == pytest.approx(exact, abs=1e-5)
    assert exact == pytest.approx(float(gaussian_loss(w, jnp.eye(2), 0.0)))


def test_exchanging_neurons_keeps_the_loss_and_averaging_with_it_does_not():
    data, law = circle(8), plateau()
    solution = TwoLayer(jnp.eye(2), jnp.ones((2, 1)))
    mirrored = TwoLayer(jnp.eye(2)[::-1], jnp.ones((2, 1)))
    for network in (solution, mirrored):
        assert float(GaussianLoss()(network, data)) < 1e-15
        average = GaussianLoss(is_averaged=True)(network, data)
        assert float(average) == pytest.approx(law.average, rel=1e-12)


def run(delta, size, slope, times):
    measures = {"weights": IncomingWeights(), "loss": GaussianLoss()}
    network = student(delta, size, slope)
    return solve(network, circle(8), FLOW, half_mse, times, measures).records


def test_the_flow_has_the_gap_of_the_two_equations():
    times = tuple(np.arange(0.0, 21.0, 2.0))
    w = run(1e-7, 0.5, 0.0, times)["weights"]
    found = (w[:, 0, 0] - w[:, 0, 1] - w[:, 1, 0] + w[:, 1, 1]) / 4
    np.testing.assert_allclose(found, gap(1e-7, np.array(times)), rtol=1e-7)
    # On the saddle it grows at its rate.
    assert math.log(found[5] / found[4]) == pytest.approx(2 * plateau().rate, rel=1e-3)


def test_without_a_gap_relu_stays_at_the_saddle_and_the_identity_needs_none():
    times = (0.0, 40.0)
    relu, linear = (run(0.0, 0.1, slope, times) for slope in (0.0, 1.0))
    np.testing.assert_array_equal(relu["weights"][:, 0], relu["weights"][:, 1])
    assert relu["loss"][-1] == pytest.approx(plateau().loss, rel=1e-9)
    assert linear["loss"][0] > 0.3
    assert linear["loss"][-1] < 1e-15
    np.testing.assert_allclose(linear["weights"][-1], 0.5, atol=1e-8)


def test_escape_times_are_those_of_a_gap_of_a_quarter():
    times, fine = np.arange(0, 10.25, 0.25), np.linspace(0, 10, 10_001)
    rows = np.stack([np.zeros(41), gap(0.01, times)])
    q = xr.DataArray(rows, {"time": times}, ("delta", "time"))
    weights = xr.concat([0.5 + q, 0.5 - q], "input")
    weights = xr.concat([weights, weights[::-1]], "neuron")
    seen = gaps(xr.Dataset({"weights": weights}))
    np.testing.assert_allclose(seen, q, atol=1e-15)
    never, passed = escape_times(seen).values
    assert math.isnan(never)
    # A quarter of a unit between records, over which ln q bends by 0.01.
    exact = fine[np.argmax(gap(0.01, fine) >= 0.25)]
    assert passed == pytest.approx(exact, abs=0.01)


@pytest.mark.parametrize(
    ("call", "named"),
    [
        (lambda: start(-0.1, 0.5), "delta"),
        (lambda: start(math.nan, 0.5), "delta"),
        (lambda: start(0.1, -0.5), "size"),
        (lambda: start(0.5, 0.5), "size"),
        (lambda: student(0.1, 0.5, 1.5), "slope"),
        (lambda: student(0.1, 0.5, -0.5), "slope"),
        (lambda: relu_student(0.1, 0.5, 1.0), "slope"),
        (lambda: inspect.unwrap(make)(jax.random.key(0), inputs="grid"), "inputs"),
        (lambda: circle(12), "n"),
        (lambda: circle(0), "n"),
        (lambda: circle(8, -0.5), "offset"),
        (lambda: gap(0.0, np.array([0.0, 1.0])), "delta"),
        (lambda: gap(0.6, np.array([0.0, 1.0])), "delta"),
        (
            lambda: solve(
                student(0.1, 0.5, 0.0), circle(8), Descent(0.1), mse, (0.1,), {}
            ),
            "loss",
        ),
    ],
)
def test_bad_input_is_named(call, named):
    with pytest.raises(simbias.BadInput, match=f"`{named}`"):
        call()


@pytest.mark.long
@pytest.mark.parametrize(
    ("delta", "slope"),
    [((0.01,), (0.0,)), ((0.0,), (0.0,)), ((1e-3, 1e-2), (0.0, 0.5))],
)
def test_few_gaps_and_other_slopes_are_judged_and_drawn(delta, slope):
    module, times = symmetry_breaking, (0.0, 20.0, 40.0)
    ds = simulate(module.experiment("smoke", delta=delta, slope=slope, times=times))
    (time,) = (c for c in simbias.check(module, ds) if "escape time" in c.statement)
    assert (time.verdict == "not applicable") == (len(delta) == 1)
    (figure,) = simbias.draw(module, ds).values()
    titles = [axes.get_title("left") for axes in figure.axes]
    assert [t for t in titles if t] == [f"slope = {s:g}" for s in slope]
