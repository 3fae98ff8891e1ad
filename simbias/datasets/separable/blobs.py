"""Classes in balls that a hyperplane tells apart."""

import jax
import jax.numpy as jnp
from jaxtyping import PRNGKeyArray

from simbias.core import Dataset, Real
from simbias.errors import BadInput
from simbias.validation.values import (
    at_most_one,
    not_negative,
    positive,
    positive_integers,
)


def blobs(
    key: PRNGKeyArray,
    *,
    n: int = 40,
    d: int = 5,
    classes: int = 2,
    distance: Real = 1.0,
    radius: Real = 0.8,
    noise: Real = 0.0,
) -> Dataset:
    """Samples uniform in balls: around ±distance·e₁, or distance·e_c for each class.

    Two classes have y = ±1, more have one-hot targets; they take turns, so that every
    class has n/classes samples, rounded.  Without noise they are linearly separable
    through the origin if radius < distance, of more than two classes if √2·radius <
    distance.  With probability `noise` a label is another one, uniformly.

    Args:
        key: random key.
        n: samples, as many as classes or more.
        d: input dimension, as many as classes or more if these are more than two.
        classes: number of balls, 2 or more.
        distance: of the centres from the origin.
        radius: of the balls.
        noise: share p of wrong labels, in [0, 1].

    Returns:
        The sample; `mean` is E[y | ball], `features` are e₁, or e_c for each class.

    Raises:
        ValueError: for a size or a number out of range.
    """
    positive_integers(n=n, d=d, classes=classes)
    if classes < 2 or n < classes:
        raise BadInput(
            f"`classes` must be from 2 to the {n} samples, got {classes}. "
            "Example: classes=2."
        )
    directions = 1 if classes == 2 else classes
    if d < directions:
        raise BadInput(
            f"`d` must be {directions} or more, a direction for each class, got {d}. "
            f"Example: d={directions}."
        )
    positive("distance", distance)
    not_negative("radius", radius)
    at_most_one("noise", noise)
    key_way, key_length, key_noise, key_other = jax.random.split(key, 4)
    way = jax.random.normal(key_way, (n, d), jnp.float64)
    length = jax.random.uniform(key_length, (n, 1), jnp.float64) ** (1 / d)
    ball = radius * length * way / jnp.linalg.norm(way, axis=1, keepdims=True)
    label = jnp.arange(n) % classes
    shift = jax.random.randint(key_other, (n,), 1, classes)
    is_wrong = jax.random.uniform(key_noise, (n,), jnp.float64) < noise
    seen = jnp.where(is_wrong, (label + shift) % classes, label)
    features = jnp.eye(directions, d)
    if classes == 2:
        sign = lambda c: (1.0 - 2.0 * c.astype(jnp.float64))[:, None]
        centre, y = sign(label) * features[0][None], sign(seen)
        mean = (1 - 2 * jnp.asarray(noise, jnp.float64)) * sign(label)
    else:
        one_hot = lambda c: jax.nn.one_hot(c, classes, dtype=jnp.float64)
        centre, y = one_hot(label) @ features, one_hot(seen)
        other = jnp.asarray(noise, jnp.float64) / (classes - 1)
        mean = other + (1 - noise - other) * one_hot(label)
    x = distance * centre + ball
    return Dataset(x, y, jnp.ones(n), mean, features)
