"""The direction in which a neuron of next to no size would grow fastest."""

import jax
import jax.numpy as jnp
from jaxtyping import Array, Float

from simbias.numerics.precision import matmul

# Steps of the ascent, as angles; directions it begins at, beside the inputs.
_STEPS, _LARGE, _SMALL, _STARTS = 200, 0.3, 1e-4, 64
# Of |x|: below it an input is across a direction.
_ACROSS = 1e-12


def fastest_growth(
    x: Float[Array, "n e"], pull: Float[Array, " n"], slope: float
) -> tuple[Float[Array, ""], Float[Array, " e"]]:
    """Maximum of G(w) = Σᵢ gᵢ σ(w·xᵢ) over the unit sphere, and where it is.

    G is D·w between the hyperplanes w·xᵢ = 0.  The maximum is at D/|D| of a cell, or at
    the same of D on a face of it, so that in e ≤ 3 dimensions the largest of G over all
    these directions, and the corners, is it: n cells and corners, or n².  In more
    dimensions it is a lower bound: the largest G on the way of steepest ascents from
    the inputs, their opposites and 64 fixed random directions.

    Args:
        x: inputs, 0 on padding.
        pull: g.
        slope: of σ below 0.
    """
    if x.shape[1] > 3:
        return _climbed(x, pull, slope)
    unit = _unit(x)
    if x.shape[1] == 1:
        return _best(jnp.array([[1.0], [-1.0]], x.dtype), x, pull, slope)
    if x.shape[1] == 2:
        across = unit @ jnp.array([[0.0, 1.0], [-1.0, 0.0]], x.dtype)
        corners = jnp.concatenate([across, -across, jnp.eye(2, dtype=x.dtype)])
        signs = jnp.sign(_cut(matmul(corners, unit.T)))
        turn = corners @ jnp.array([[0.0, 1.0], [-1.0, 0.0]], x.dtype)
        side = jnp.sign(_cut(matmul(turn, unit.T)))
        cells = [_drive(_first(signs, s * side), x, pull, slope) for s in (1, -1)]
        return _best(jnp.concatenate([corners, *map(_unit, cells)]), x, pull, slope)

    def on_plane(normal):
        """The best of all corners, edges and cells that touch one plane."""
        one = jnp.eye(3, dtype=x.dtype)[jnp.argmin(jnp.abs(normal))]
        u = _unit(jnp.cross(normal, one)[None, :])[0]
        corners = _unit(jnp.cross(normal[None, :], unit))
        corners = jnp.concatenate([corners, -corners, u[None, :], -u[None, :]])
        along = jnp.cross(normal[None, :], corners)
        signs = jnp.sign(_cut(matmul(corners, unit.T)))
        edge = jnp.sign(_cut(matmul(along, unit.T)))
        above = jnp.sign(_cut(matmul(unit, normal[:, None])))[:, 0][None, :]
        candidates = [corners]
        for s in (1, -1):
            for t in (1, -1):
                pattern = _first(_first(signs, s * edge), t * above)
                drive = _drive(pattern, x, pull, slope)
                flat = drive - matmul(drive, normal[:, None]) * normal[None, :]
                candidates += [_unit(drive), _unit(flat)]
        return _best(jnp.concatenate(candidates), x, pull, slope)

    # Without a plane of its own an input has some other one.
    normals = jnp.where(jnp.any(unit != 0, axis=1)[:, None], unit, jnp.eye(3)[:1])
    values, directions = jax.lax.map(on_plane, normals)
    at = jnp.argmax(values)
    return values[at], directions[at]


def _climbed(
    x: Float[Array, "n e"], pull: Float[Array, " n"], slope: float
) -> tuple[Float[Array, ""], Float[Array, " e"]]:
    unit = _unit(x)
    more = jax.random.normal(jax.random.key(0), (_STARTS, x.shape[1]), x.dtype)
    start = jnp.concatenate([unit, -unit, _unit(more)])
    steps = jnp.geomspace(_LARGE, _SMALL, _STEPS, dtype=x.dtype)

    def step(at, angle):
        w, best, where = at
        h = matmul(w, x.T)
        drive = _drive(jnp.sign(h), x, pull, slope)
        value = jnp.sum(drive * w, axis=1)
        where = jnp.where((value > best)[:, None], w, where)
        # Beyond its own top a cell is left by no more than the step.
        new = _unit(w + angle * _unit(drive))
        return (new, jnp.maximum(value, best), where), None

    first = (start, jnp.full(len(start), -jnp.inf, x.dtype), start)
    _, best, where = jax.lax.scan(step, first, steps)[0]
    # A start at 0, as of padding, is no direction.
    best = jnp.where(jnp.any(where != 0, axis=1), best, -jnp.inf)
    at = jnp.argmax(best)
    return best[at], where[at]


def _best(
    w: Float[Array, "c e"], x: Float[Array, "n e"], pull: Array, slope: float
) -> tuple[Float[Array, ""], Float[Array, " e"]]:
    """The largest G of these directions; 0 is none."""
    h = matmul(w, x.T)
    value = matmul(jnp.where(h > 0, h, slope * h), pull[:, None])[:, 0]
    value = jnp.where(jnp.any(w != 0, axis=1), value, -jnp.inf)
    at = jnp.argmax(value)
    return value[at], w[at]


def _drive(
    sign: Float[Array, "c n"], x: Float[Array, "n e"], pull: Array, slope: float
) -> Float[Array, "c e"]:
    """D of the cells with these signs."""
    return matmul(jnp.where(sign > 0, 1, slope) * pull[None, :], x)


def _first(sign: Array, other: Array) -> Array:
    """Signs, and the others where they are 0."""
    return jnp.where(sign == 0, other, sign)


def _cut(h: Array) -> Array:
    return jnp.where(jnp.abs(h) <= _ACROSS, 0, h)


def _unit(v: Float[Array, "c e"]) -> Float[Array, "c e"]:
    length = jnp.linalg.norm(v, axis=1, keepdims=True)
    return v / jnp.where(length > 0, length, 1)
