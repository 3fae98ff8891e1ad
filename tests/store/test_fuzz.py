"""Whatever is in the folder of a run, a command ends in order: random cases."""

import sys

import pytest
from _attacked import attacked
from _hostile import Case, cases, templates
from hypothesis import HealthCheck, Phase, given, settings

pytestmark = [
    pytest.mark.process,
    pytest.mark.skipif(sys.platform != "linux", reason="memory is by /proc"),
]


@pytest.fixture(scope="module")
def known(tmp_path_factory):
    return templates(tmp_path_factory.mktemp("runs"))


@settings(
    max_examples=60,
    phases=(Phase.generate,),
    database=None,
    deadline=None,
    derandomize=True,
    suppress_health_check=list(HealthCheck),
)
@given(case=cases())
def test_no_folder_of_a_run_harms_who_looks_at_it(known, case):
    fault, _, _ = attacked(known[case.template], case)
    assert fault is None


def test_the_attack_sees_a_command_that_harms(known, monkeypatch):
    """What is looked for is found where it is."""
    case = Case("finished", (), "status")
    assert attacked(known["finished"], case)[0] is None
    harms = {
        "ZeroDivisionError": lambda *_: 1 / 0,
        "exit 1": lambda *_: 1,
        "a terminal obeys": lambda *_: print("\x1b[2J") or 0,
        "MB": lambda *_: len(bytearray(b"x") * 600_000_000) and 0,
    }
    for fault, does in harms.items():
        monkeypatch.setattr("simbias.cli.exit_code", does)
        assert fault in str(attacked(known["finished"], case)[0])
