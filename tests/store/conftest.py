"""Bits are compared here, of programs as they are shipped."""

import pytest


@pytest.fixture(autouse=True, scope="module")
def as_shipped(optimised):
    return optimised
