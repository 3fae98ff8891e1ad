"""The ledger names experiments and claims that are there, and types no verdict."""

import json
import re

import pytest

from simbias.cli import main
from simbias.ledger.paper import papers
from simbias.ledger.stored import stored
from simbias.registry import experiments

PAPERS = papers()
# Every id of a reference, but for those of methods and data.
_ID = re.compile(r"arXiv:(\d{4}\.\d{4,5})")


def test_every_claim_of_the_ledger_is_in_a_stored_check():
    seen = stored()
    for paper in PAPERS.values():
        for tried in [one for s in paper.statements for one in s.tried]:
            claims = [c["statement"] for c in seen[tried.experiment]["claims"]]
            for start in tried.claims:
                assert [c for c in claims if c.startswith(start)], (paper.key, start)


def test_every_experiment_is_in_the_ledger_under_every_paper_it_names():
    listed = {
        (paper.source, tried.experiment)
        for paper in PAPERS.values()
        for statement in paper.statements
        for tried in statement.tried
    }
    named = {experiment for _, experiment in listed}
    for name, module in experiments().items():
        assert name in named
        reference = (module.__doc__ or "").partition("Reference:")[2]
        for number in _ID.findall(reference):
            assert (f"arXiv:{number}", name) in listed


def test_no_paper_and_no_statement_is_there_twice():
    sources = [p.source for p in PAPERS.values() if p.source.startswith("arXiv")]
    assert len(sources) == len({*sources})
    for paper in PAPERS.values():
        said = [s.says for s in paper.statements]
        assert len(said) == len({*said})


def test_what_was_seen_is_what_the_check_says(tmp_path, capsys):
    claim = {
        "statement": "KKT residual of a direction, largest",
        **{"value": 0.25, "low": 0.125, "high": 0.5, "band": [0, 1]},
        **{"verdict": "undecided", "source": "", "needs": ""},
    }
    check = {"experiment": "extremal_vectors", "preset": "quick", "claims": [claim]}
    file = tmp_path / "claims.json"
    file.write_text(json.dumps([check]))
    arguments = ["ledger", "Maennel", "--checked", str(file)]
    with pytest.raises(SystemExit) as leaving:
        main(arguments)
    assert leaving.value.code == 0
    said = capsys.readouterr().out
    assert (
        "undecided      KKT residual of a direction, largest: 0.25 [0.125, 0.5]" in said
    )
    assert "simbias check condensation  (ours): no stored check" in said
    with pytest.raises(SystemExit):
        main([*arguments, "--json"])
    rows = json.loads(capsys.readouterr().out)
    assert rows[0]["tried"][0]["claims"] == [claim]


def test_what_is_missing_can_be_listed_alone(capsys):
    with pytest.raises(SystemExit):
        main(["ledger", "--missing", "--json"])
    rows = json.loads(capsys.readouterr().out)
    assert rows
    assert all(row["missing"] and not row["tried"] for row in rows)


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ('paper = "A"', "expected paper, read, source, statement"),
        ("paper = ", "Invalid value"),
        (
            'paper = "A"\nsource = ""\nread = ""\n[[statement]]\n'
            'number = "1"\nsays = "b"\nmissing = ""',
            "must have `tried`",
        ),
    ],
)
def test_a_paper_that_is_not_as_it_should_be_is_named(tmp_path, text, said):
    (tmp_path / "one.toml").write_text(text)
    with pytest.raises(ValueError, match=f"one.toml.*{said}"):
        papers(tmp_path)


@pytest.mark.parametrize("text", ["{}", "no", "[]", '[{"claims": []}]'])
def test_a_file_that_is_no_check_is_refused_by_name(tmp_path, text):
    (file := tmp_path / "some.json").write_text(text)
    with pytest.raises(ValueError, match=r"some\.json"):
        stored(file)


def test_a_word_that_is_no_paper_is_refused(capsys):
    with pytest.raises(SystemExit) as leaving:
        main(["ledger", "shah_2021"])
    assert leaving.value.code == 2
    assert "Did you mean `shah_2020`" in capsys.readouterr().err
