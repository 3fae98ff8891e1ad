"""Commands are looked at, and no bits of what they compute."""

import pytest


@pytest.fixture(autouse=True, scope="module")
def no_optimisations(hastily_compiled):
    return hastily_compiled
