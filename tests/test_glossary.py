"""Pages that use the words of the glossary do not use those that it retired."""

import re

import pytest
from tree import ROOT

# Pages written with the glossary; others follow.
PAGES = [
    "README.md",
    "docs/boolean/README.md",
    "docs/boolean/boolean.md",
    "docs/cli.md",
    "docs/extend.md",
    "docs/faq.md",
    "docs/gallery.md",
    "docs/how_it_works.md",
    "docs/layers/README.md",
    "docs/layers/first_filters.md",
    "docs/layers/layers.md",
    "docs/layers/symmetry_breaking.md",
    "docs/lecture.md",
    "docs/linear/README.md",
    "docs/linear/lazy_and_rich.md",
    "docs/linear/linear.md",
    "docs/linear/linear_deep.md",
    "docs/linear/matrix_completion.md",
    "docs/linear/principal_components.md",
    "docs/margins/README.md",
    "docs/margins/max_margin.md",
    "docs/matrix/README.md",
    "docs/matrix/bias_matrix.md",
    "docs/neuron_groups/README.md",
    "docs/neuron_groups/condensation.md",
    "docs/neuron_groups/xor_clusters.md",
    "docs/order/README.md",
    "docs/order/distributional.md",
    "docs/order/distributional_clones.md",
    "docs/order/random_fit.md",
    "docs/order/simple_first.md",
    "docs/orthogonality/README.md",
    "docs/orthogonality/orthogonal.md",
    "docs/own.md",
    "docs/rank/README.md",
    "docs/rank/low_rank_embeddings.md",
    "docs/rank/low_rank_factors.md",
    "docs/rank/low_rank_weights.md",
    "docs/recipes.md",
    "docs/results.md",
    "docs/tutorial.md",
    "docs/why.md",
]
# Not checked yet: these words have another meaning in the pages too.
ALLOWED = {"choice", "draw", "kink", "plane", "phenomenon", "member", "configuration"}


def retired() -> set[str]:
    rows = re.findall(
        r"(?m)^\|(?:[^|\n]|(?<=\\)\|)*\|(?:[^|\n]|(?<=\\)\|)*\| ([^|\n]+) \|$",
        (ROOT / "docs" / "glossary.md").read_text(),
    )
    words = {word.strip() for row in rows for word in row.split(",")}
    return words - {"retired", ""} - ALLOWED


def test_the_glossary_retires_words():
    assert {"pinned", "leaders", "meeting"} <= retired()


@pytest.mark.parametrize("page", PAGES)
def test_a_page_uses_no_retired_word(page):
    text = re.sub(r"(?s)```.*?```|`[^`\n]*`", "", (ROOT / page).read_text())
    found = [word for word in sorted(retired()) if re.search(rf"\b{word}\b", text)]
    assert found == []
