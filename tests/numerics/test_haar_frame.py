import jax
import numpy as np

from simbias.numerics.haar_frame import haar_frame


def test_columns_are_orthonormal_and_no_sign_is_preferred():
    keys = jax.random.split(jax.random.key(0), 40)
    frames = np.stack([haar_frame(key, 3, 2) for key in keys])
    products = np.einsum("kia,kib->kab", frames, frames)
    np.testing.assert_allclose(products, np.tile(np.eye(2), (40, 1, 1)), atol=1e-14)
    # 40 tosses of a coin have fewer than 7 heads or tails once in 100 000 times.
    heads = np.sum(frames[:, 0, :] > 0, axis=0)
    assert np.all((heads >= 7) & (heads <= 33))
