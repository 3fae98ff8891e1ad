"""The pages as a site: what is built from what, and what the build refuses."""

import re
import sys

import pytest
from tree import ROOT

sys.path.append(str(ROOT / "tools"))
pytest.importorskip("yaml")
site = pytest.importorskip("website")
from formulas import is_formula, unindented  # noqa: E402  # pyright: ignore


@pytest.fixture(scope="module")
def staged(tmp_path_factory):
    """Sources of the site, and its list of pages."""
    import yaml

    with pytest.MonkeyPatch.context() as patch:
        folder = tmp_path_factory.mktemp("site")
        patch.setattr(site, "STAGE", folder)
        site.stage()
    return folder / "docs", yaml.safe_load((folder / "mkdocs.yml").read_text())


def test_every_page_is_in_the_navigation_once(staged):
    docs, settings = staged
    shown = sorted(site.lines(settings["nav"]))
    assert shown == sorted(p.relative_to(docs).as_posix() for p in docs.rglob("*.md"))
    assert {"index.md", "overview.md", "spectrum/index.md"} <= {*shown}
    assert {"reference/nouns.md", "reference/measures.md"} <= {*shown}


def test_a_page_that_no_line_names_goes_where_the_last_glob_stands(tmp_path):
    for name in ("index.md", "faq.md", "new.md", "theme/index.md", "theme/one.md"):
        (tmp_path / name).parent.mkdir(exist_ok=True)
        (tmp_path / name).write_text("# A title\n")
    nav = ["README.md", {"FAQ": ["faq.md"]}, {"Gone": ["gone.md"]}, "*/", "*.md"]
    assert site.expanded(nav, tmp_path) == [
        "index.md",
        {"FAQ": ["faq.md"]},
        {"A title": ["theme/index.md", "theme/one.md"]},
        "new.md",
    ]


def test_every_public_name_of_a_room_is_in_the_reference(staged):
    import simbias

    docs, _ = staged
    for room in ("datasets", "flows", "measures", "networks", "stops"):
        text = (docs / "reference" / f"{room}.md").read_text()
        missing = [
            name for name in getattr(simbias, room).__all__ if f".{name}\n" not in text
        ]
        assert missing == []
    text = (docs / "reference" / "verbs.md").read_text()
    assert "::: simbias.verbs.simulate.simulate" in text


def test_links_lead_from_where_a_page_is_in_the_site(monkeypatch, tmp_path):
    monkeypatch.setattr(site, "STAGE", tmp_path)
    page = ROOT / "docs" / "spectrum" / "circle.md"
    text = (
        "[a](../README.md) [b](../linear/linear.md#x) [c](circle.md) [d](https://e.f)\n"
        '<a href="../lecture.md">f</a> [g](../../CONTRIBUTING.md)\n'
        "[h](../../benchmarks/results/tolerance.json) [i](../../benchmarks/results)\n"
        "A list:\n* one\n\n```\n[k](../README.md)\nA list:\n* one\n```\n"
    )
    assert site.moved(text, page) == (
        "[a](../index.md) [b](../linear/linear.md#x) [c](../spectrum/circle.md) "
        "[d](https://e.f)\n"
        '<a href="../lecture.html">f</a> [g](../contributing.md)\n'
        "[h](../files/benchmarks/results/tolerance.json) "
        "i (`../../benchmarks/results`)\n"
        "A list:\n\n* one\n\n```\n[k](../README.md)\nA list:\n* one\n```\n"
    )
    assert (tmp_path / "docs/files/benchmarks/results/tolerance.json").exists()


def test_what_is_loaded_from_elsewhere_or_is_not_there_is_named(tmp_path):
    (tmp_path / "here.png").touch()
    (tmp_path / "page.html").write_text(
        '<img src="here.png"><img src="gone.png"><a href="https://a.b">c</a>'
        '<script src="https://a.b/c.js"></script><a href="gone.html#d">e</a>'
        '<link rel="stylesheet" href="//a.b/c.css">'
    )
    assert site.faults_of(tmp_path) == [
        "page.html: loads https://a.b/c.js",
        "page.html: loads //a.b/c.css",
        "page.html: gone.png",
        "page.html: gone.html",
    ]


@pytest.mark.parametrize(
    ("paragraph", "is_one"),
    [
        ("train σ²(1 − d/n),   test σ²(1 + d/(n − d − 1))", True),
        ("    K(θ) = cos θ (π − θ)/2π", True),
        ("β̂ = argmin Σᵢ ωᵢ |yᵢ − βᵀxᵢ|²,   ω = `data.weight`", True),
        ("d < n:   bias 0\nd > n:   bias ‖w*‖²(1 − n/d)", True),
        ("A balanced neuron at an angle ψ turns by", False),
        ("The flow is θ' = −∇L.", False),
        ("With θ = 2 arctan(q/p), the angle between the neurons,", False),
        ("    ds = simbias.simulate(experiment)", False),
        ("Args:\n    x: = 1", False),
    ],
)
def test_formulas_are_told_from_sentences_and_code(paragraph, is_one):
    assert is_formula(paragraph) == is_one


def test_a_formula_keeps_the_columns_of_its_lines():
    assert unindented("    a = `b`\n      + c") == "a = b\n  + c"


def test_signatures_of_modules_are_those_of_their_fields():
    griffe = pytest.importorskip("griffe")
    extensions = griffe.load_extensions(str(ROOT / "tools" / "docstrings.py"))
    with griffe.temporary_visited_module(
        "class A(Module):\n"
        "    dims: ClassVar[tuple] = ()\n"
        "    x: float\n"
        "    y: int = eqx.field(static=True, default=3)\n"
        "    z: dict = eqx.field(default_factory=dict)\n",
        extensions=extensions,
    ) as module:
        parameters = module["A.__init__"].parameters
        assert [p.name for p in parameters] == ["x", "y", "z"]
        assert [p.default for p in parameters] == [None, "3", "..."]


def test_a_formula_of_a_docstring_is_set_as_one_and_not_read_as_markdown():
    pytest.importorskip("griffe")
    from docstrings import with_formulas  # pyright: ignore

    text = "f = 0 *always*.\n\nE‖w*‖² < a_b*\n\nThis is `x`."
    assert with_formulas(text) == (
        'f = 0 *always*.\n\n<p class="formula">E‖w&#42;‖² &lt; a&#95;b&#42;</p>'
        "\n\nThis is `x`."
    )


def test_a_notebook_is_a_page_with_its_code_its_outputs_and_its_formulas(staged):
    docs, _ = staged
    text = (docs / "notebooks" / "02_exact_flow.md").read_text()
    assert text.startswith("# The exact flow of a ReLU network\n")
    assert "(../files/notebooks/02_exact_flow.ipynb)" in text
    assert (docs / "files" / "notebooks" / "02_exact_flow.ipynb").exists()
    assert "```python\nimport dataclasses" in text
    assert "```text\n" in text
    images = re.findall(r"!\[[^\]]*\]\(([^)]+)\)", text)
    images += [f"../{src}" for src in re.findall(r'src="\.\./([^"]+)"', text)]
    assert len(images) >= 4
    assert all((docs / "notebooks" / image).exists() for image in images)
    assert "$" not in text


def test_a_formula_in_tex_becomes_an_image_that_is_read_aloud(tmp_path):
    from notebook_pages import formula  # pyright: ignore

    made = formula(r"w_j \cdot x_k = 0", tmp_path)
    assert 'alt="w_j cdot x_k = 0"' in made
    (image,) = (tmp_path / "assets" / "formulas").iterdir()
    assert image.name in made
    assert image.read_text().count("<svg") == 1


def test_the_index_of_the_reference_has_every_measure_with_its_first_line(staged):
    import simbias

    docs, _ = staged
    text = (docs / "reference" / "index.md").read_text()
    missing = [
        name for name in simbias.measures.__all__ if f"| [`{name}`][" not in text
    ]
    assert missing == []
    assert "Number of distinct columns" not in text  # of a private helper
    lines = [line for line in text.split("\n") if line.startswith("| [`")]
    assert all(line.count("|") == 3 for line in lines)
    assert all(line.split("|")[2].strip() for line in lines)


def test_the_gallery_is_a_grid_that_leads_to_pages_and_sources(staged):
    docs, _ = staged
    text = (docs / "gallery.md").read_text()
    assert "<b>threshold</b>" in text
    assert 'href="interpolation/threshold.html"' in text
    source = "files/simbias/experiments/interpolation/threshold.py"
    assert f'href="{source}"' in text
    assert (docs / source).exists()
