"""Where compiled programs are kept, for users of every kind."""

import os
import pathlib

from simbias.numerics import cache_folder as module
from simbias.numerics.cache_folder import cache_folder


def test_the_folder_is_the_first_that_is_set(monkeypatch):
    monkeypatch.setenv("HOME", "/home/somebody")
    monkeypatch.delenv("JAX_COMPILATION_CACHE_DIR", raising=False)
    monkeypatch.delenv("XDG_CACHE_HOME", raising=False)
    assert cache_folder() == os.path.join("/home/somebody", ".cache", "simbias")
    monkeypatch.setenv("XDG_CACHE_HOME", "/cache")
    assert cache_folder() == os.path.join("/cache", "simbias")
    monkeypatch.setenv("JAX_COMPILATION_CACHE_DIR", "gs://programs")
    assert cache_folder() == "gs://programs"


def test_a_user_without_a_home_has_a_folder_that_nobody_else_writes(monkeypatch):
    """A container may give a number to a user whom its list of users does not have."""

    def nobody():
        raise RuntimeError("Could not determine home directory.")

    monkeypatch.delenv("JAX_COMPILATION_CACHE_DIR", raising=False)
    monkeypatch.delenv("XDG_CACHE_HOME", raising=False)
    monkeypatch.setattr(module.pathlib.Path, "home", staticmethod(nobody))
    folder = pathlib.Path(cache_folder())
    assert folder.is_dir()
    assert cache_folder() == str(folder)
    assert os.name == "nt" or folder.stat().st_mode & 0o777 == 0o700
