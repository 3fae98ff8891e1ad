"""The ledger names experiments and claims that are there, and types no verdict."""

import json
import re

import pytest

from simbias.cli import main
from simbias.ledger.paper import papers
from simbias.ledger.stored_checks import stored_checks
from simbias.registry import experiments

PAPERS = papers()
ROWS = {key: [*paper.statements, *paper.beside] for key, paper in PAPERS.items()}
# Every id of a reference, but for those of methods and data.
_ID = re.compile(r"arXiv:(\d{4}\.\d{4,5})")


def test_every_claim_of_the_ledger_is_in_a_stored_check():
    seen = stored_checks()
    for key, rows in ROWS.items():
        for tried in [one for row in rows for one in row.tried]:
            check = seen[tried.experiment, tried.preset]
            claims = [c["statement"] for c in check["claims"]]
            for start in tried.claims:
                assert [c for c in claims if c.startswith(start)], (key, start)


def test_every_claim_after_a_paper_is_listed_there_whatever_came_out():
    seen = stored_checks()
    every = [(*at, claim) for at, check in seen.items() for claim in check["claims"]]
    for key, rows in ROWS.items():
        listed = {
            (tried.experiment, tried.preset, claim["statement"])
            for row in rows
            for tried in row.tried
            for claim in tried.seen(seen) or ()
        }
        for experiment, preset, claim in every:
            if _is_after(claim["source"], PAPERS[key]):
                assert (experiment, preset, claim["statement"]) in listed, key


def _is_after(source, paper):
    """Whether a claim names a paper, by its id or by author and year."""
    if _ID.search(paper.source):
        return paper.source in source
    author, _, year = paper.authors.replace(",", " ").partition(" ")
    year = year[-6:]  # with its parentheses
    return year.startswith("(") and author in source and year in source


def test_every_stored_check_is_in_the_ledger():
    tried = [one for rows in ROWS.values() for row in rows for one in row.tried]
    assert {*stored_checks()} == {(one.experiment, one.preset) for one in tried}


def test_every_experiment_is_in_the_ledger_under_every_paper_it_names():
    listed = {
        (PAPERS[key].source, tried.experiment)
        for key, rows in ROWS.items()
        for row in rows
        for tried in row.tried
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
    for rows in ROWS.values():
        said = [row.says for row in rows]
        assert len(said) == len({*said})


def test_what_no_paper_says_is_no_statement():
    for paper in PAPERS.values():
        for statement in paper.statements:
            assert not re.search("not said|of ours|ours:", statement.says), paper.key


@pytest.mark.parametrize("verdict", ["inconclusive", "undecided"])
def test_what_was_seen_is_what_the_check_says(verdict, tmp_path, capsys):
    claim = {
        "statement": "KKT residual of a direction, largest",
        **{"value": 0.25, "low": 0.125, "high": 0.5, "band": [0, 1]},
        **{"verdict": verdict, "source": "", "needs": ""},
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
        "inconclusive   KKT residual of a direction, largest: 0.25 [0.125, 0.5]" in said
    )
    assert "simbias check condensation  (quick, ours): no stored check" in said
    with pytest.raises(SystemExit):
        main([*arguments, "--json"])
    rows = json.loads(capsys.readouterr().out)
    assert rows[0]["tried"][0]["claims"] == [claim | {"verdict": "inconclusive"}]


def test_a_run_of_another_size_is_told_from_the_quick_one(tmp_path, capsys):
    claim = {"statement": "n*, half interpolate", "verdict": "supported", "value": 7.0}
    claim |= {"low": 6.0, "high": 8.0, "band": [0, 9], "source": "", "needs": ""}
    check = {"experiment": "threshold", "preset": "paper", "claims": [claim]}
    (tmp_path / "claims.json").write_text(json.dumps(check))
    arguments = ["ledger", "2410.02348", "--checked", str(tmp_path)]
    for command in (None, "simbias run threshold --preset paper --seeds 3"):
        if command:
            text = json.dumps({**check, "command": command})
            (tmp_path / "claims.json").write_text(text)
        with pytest.raises(SystemExit):
            main(arguments)
        said = capsys.readouterr().out
        whole = command or "simbias run threshold --preset paper"
        assert f"{whole}  (paper, ours): 1 supported\n" in said
        assert "simbias check threshold  (quick, ours): no stored check" in said
    with pytest.raises(SystemExit):
        main([*arguments, "--json"])
    tried = [one for row in json.loads(capsys.readouterr().out) for one in row["tried"]]
    is_asked = lambda one: (one["experiment"], one["preset"]) == ("threshold", "paper")
    paper = [one for one in tried if is_asked(one)]
    assert {one["command"] for one in paper} == {command}
    assert [claim] in [one["claims"] for one in paper]


def test_what_is_beside_a_paper_is_told_from_what_it_says(capsys):
    with pytest.raises(SystemExit):
        main(["ledger", "2410.02348", "--json"])
    rows = json.loads(capsys.readouterr().out)
    beside = [row["says"] for row in rows if row["number"] == "beside it"]
    assert beside == [one.says for one in PAPERS["boursier_2410"].beside]


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
        (
            'paper = "A"\nsource = ""\nread = ""\n[[statement]]\n'
            'number = "1"\nsays = "b"\ntried = [{ experiment = "threshold", '
            'setting = "ours", preset = 3, claims = ["a"] }]',
            "may have the name of a `preset`",
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
        stored_checks(file)


def test_a_word_that_is_no_paper_is_refused(capsys):
    with pytest.raises(SystemExit) as leaving:
        main(["ledger", "shah_2021"])
    assert leaving.value.code == 2
    assert "Did you mean `shah_2020`" in capsys.readouterr().err
