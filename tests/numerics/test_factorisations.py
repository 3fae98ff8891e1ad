"""Factorisations of several matrices in one call, which may hang on a CPU."""

import dataclasses
import functools

import jax
import jax.numpy as jnp
import numpy as np
import pytest
from small import make, small

import simbias
from simbias.experiments.order import _clones
from simbias.numerics.factorisations import at_once, in_turn
from simbias.validation import factorisations

STACK = jnp.reshape(jnp.sin(jnp.arange(60.0)), (3, 5, 4))


def test_matrices_in_turn_are_those_at_once():
    found = in_turn(lambda a, b: jnp.linalg.qr(a)[1] + b, STACK, jnp.arange(3.0))
    both = jax.vmap(lambda a, b: jnp.linalg.qr(a)[1] + b)(STACK, jnp.arange(3.0))
    np.testing.assert_allclose(found, both, atol=1e-14)


@pytest.mark.parametrize(
    ("f", "kinds"),
    [
        (jnp.linalg.qr, {"qr"}),
        (jax.vmap(lambda v: jnp.linalg.eigvalsh(v.T @ v)), {"eigh"}),
        (jax.jit(lambda v: jnp.linalg.svd(v, compute_uv=False)), {"svd"}),
        (lambda v: jnp.linalg.solve(v.mT @ v, v.mT), {"lu", "triangular_solve"}),
        (lambda v: jax.lax.map(jnp.linalg.qr, v[None]), {"qr"}),
        (lambda v: jax.lax.cond(True, jnp.linalg.qr, jnp.linalg.qr, v), {"qr"}),
        (lambda v: jax.lax.map(jnp.linalg.qr, v), set()),
        (lambda v: jnp.linalg.qr(v[0]), set()),
        (lambda v: v @ v.mT, set()),
    ],
)
def test_every_factorisation_of_several_matrices_is_found(f, kinds):
    assert at_once(jax.make_jaxpr(f)(STACK)) == kinds


def test_clones_and_edits_are_made_one_class_at_a_time():
    few = functools.partial(_clones.make, rows=30, rows_test=10, m=4)
    assert not at_once(jax.make_jaxpr(few)(jax.random.key(0)))


@pytest.mark.slow
def test_a_run_that_may_hang_says_so(monkeypatch):
    monkeypatch.setattr(factorisations, "may_hang", lambda: True)

    def rank(network, data):
        stack = jnp.stack([data.x, 2 * data.x])
        return jnp.linalg.svd(stack, compute_uv=False)[0, 0]

    with pytest.warns(UserWarning, match="measure `rank` factorises .*svd"):
        simbias.simulate(small(seeds=1, cell={"n": 6}, measures={"rank": rank}))

    def stacked(key, *, n: int = 10, scale: float = 0.1):
        data, network = make(key, n=n, scale=scale)
        frame = jnp.linalg.qr(jnp.stack([data.x, 2 * data.x]))[0][0]
        return dataclasses.replace(data, x=frame), network

    with pytest.warns(UserWarning, match="`make` factorises .*qr"):
        simbias.simulate(small(seeds=1, make=stacked, cell={"n": 6}))


def test_only_an_older_jaxlib_on_several_cores_of_a_cpu_may_hang(monkeypatch):
    monkeypatch.setattr(factorisations.os, "cpu_count", lambda: 2)
    for version, may in (("0.10.2", True), ("0.11.2", False), ("0.12.0.1", False)):
        monkeypatch.setattr(factorisations, "_jaxlib", lambda v=version: v)
        assert factorisations.may_hang() == may
    monkeypatch.setattr(factorisations, "_jaxlib", lambda: "0.10.2")
    monkeypatch.setattr(factorisations.os, "cpu_count", lambda: 1)
    assert not factorisations.may_hang()
