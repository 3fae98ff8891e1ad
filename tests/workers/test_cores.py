"""Workers that one engine has placed on one machine do not share their cores."""

import os

import pytest

from simbias.workers import cores
from simbias.workers.cores import free_cores, share_of_cores


@pytest.fixture
def four(monkeypatch, tmp_path):
    monkeypatch.setattr(os, "sched_getaffinity", lambda _: {4, 5, 6, 9}, raising=False)
    monkeypatch.setattr(cores, "_folder", lambda: tmp_path)


@pytest.mark.usefixtures("four")
def test_cores_that_are_taken_are_left_alone_and_come_back():
    with free_cores(2) as first, free_cores(1) as second:
        assert (first, second) == ([4, 5], [6])
        # Too few are free: the last ones are shared.
        with free_cores(2) as third:
            assert third == [6, 9]
    with free_cores(9) as every:
        assert every == [4, 5, 6, 9]


@pytest.mark.usefixtures("four")
def test_where_files_cannot_be_locked_all_cores_are_shared(monkeypatch, tmp_path):
    monkeypatch.setattr(cores, "_folder", lambda: tmp_path / "nothing")
    with free_cores(1) as first, free_cores(1) as second:
        assert first == second == [4, 5, 6, 9]


@pytest.mark.usefixtures("four")
def test_shares_cover_every_core_once_and_none_is_empty():
    assert [share_of_cores(f"{i}/3") for i in (1, 2, 3)] == [[4, 9], [5], [6]]
    assert [share_of_cores(f"{i}/6") for i in (5, 6)] == [[4], [5]]
