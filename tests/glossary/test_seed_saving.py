"""How seed files are written."""

from pathlib import Path

import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from vocabgap.errors import InvalidInputError
from vocabgap.glossary.seeds import SeedFileValidationError, SeedTerm, add_terms, read_seed, validated
from vocabgap.glossary.senses import SenseStatus


def test_saving_keeps_comments_order_and_quotes(tmp_path: Path) -> None:
    path = tmp_path / "team_domain.yaml"
    path.write_text(
        "# Ours.\n# Ask before you edit.\n\nterms:\n"
        "  # the first one\n  - surface: 'mask'\n    definition: \"Where an edit shows\"  # of course\n"
        "    synonyms_to_avoid: [matte]\n"
        "  - surface: zone\n    definition: a range of lights\n    confidence: 1.0\n    status: active\n",
        encoding="utf-8",
    )
    mask, zone = read_seed(path).terms
    lift, area = SeedTerm("lift", "Raises the shadows: it's an edit"), SeedTerm("area", "a part")
    add_terms(path, [lift, area, mask, zone])
    text = path.read_text(encoding="utf-8")
    assert text.startswith("# Ours.\n# Ask before you edit.\n\nterms:\n")
    assert (
        "# the first one\n  - surface: 'mask'\n    definition: \"Where an edit shows\"  # of course\n" in text
    )
    assert 'definition: "Raises the shadows: it\'s an edit"' in text
    assert "a range of lights\n    confidence: 1.0\n    status: active\n  - surface: area\n" in text
    assert text.count("confidence: 1.0") == 3
    assert [term.surface for term in read_seed(path).terms] == ["mask", "zone", "area", "lift"]


def test_a_file_that_is_new_is_sorted_and_nothing_else_is_left(tmp_path: Path) -> None:
    path = tmp_path / "new" / "team_domain.yaml"
    add_terms(path, [SeedTerm("b", "two"), SeedTerm("a", "one", 0.5, SenseStatus.DRAFT)])
    add_terms(path, [SeedTerm("a", "one", 0.7)])
    assert read_seed(path).terms == (SeedTerm("a", "one", 0.5, SenseStatus.DRAFT), SeedTerm("b", "two"))
    assert [each.name for each in path.parent.iterdir()] == ["team_domain.yaml"]


@pytest.mark.parametrize(
    "text",
    ["terms:\n- {surface: mask, definition: an area}\n", "terms: [{surface: mask, definition: an area}]\n"],
)
def test_terms_that_are_listed_in_another_way_stay(tmp_path: Path, text: str) -> None:
    path = tmp_path / "team_domain.yaml"
    path.write_text(text, encoding="utf-8")
    add_terms(path, [SeedTerm("zone", "a range of lights")])
    assert [term.surface for term in read_seed(path).terms] == ["mask", "zone"]


def test_link_to_a_shared_file_stays_one(tmp_path: Path) -> None:
    shared = tmp_path / "shared" / "ours.yaml"
    add_terms(shared, [SeedTerm("a", "one")])
    shared.chmod(0o640)
    link = tmp_path / "team_domain.yaml"
    link.symlink_to(shared.relative_to(tmp_path))

    add_terms(link, [SeedTerm("b", "two")])

    assert link.is_symlink()
    assert [term.surface for term in read_seed(shared).terms] == ["a", "b"]
    assert shared.stat().st_mode & 0o777 == 0o640
    assert [each.name for each in shared.parent.iterdir()] == ["ours.yaml"]


@pytest.mark.parametrize("text", ["", "# Ours.\nterms: []\n", "# Ours.\nterms:\n"])
def test_a_file_without_terms_gets_its_first(tmp_path: Path, text: str) -> None:
    path = tmp_path / "team_domain.yaml"
    path.write_text(text or "terms:\n", encoding="utf-8")
    add_terms(path, [SeedTerm("a", "one")])
    written = path.read_text(encoding="utf-8")
    start = "# Ours.\n" if text else ""
    assert (
        written
        == f"{start}terms:\n  - surface: a\n    definition: one\n    confidence: 1.0\n    status: active\n"
    )


def test_a_file_with_errors_is_not_written_over(tmp_path: Path) -> None:
    path = tmp_path / "team_domain.yaml"
    path.write_text("terms:\n  - surface: WP\n", encoding="utf-8")
    with pytest.raises(SeedFileValidationError):
        add_terms(path, [])
    assert path.read_text(encoding="utf-8") == "terms:\n  - surface: WP\n"


TEXTS = st.text(min_size=1, max_size=20)
SEED_TERMS = st.builds(lambda fields: validated({"terms": [fields]})[0], st.fixed_dictionaries(
    {"surface": TEXTS.map(lambda text: text.lower().strip()), "definition": TEXTS},
    optional={
        "confidence": st.floats(0, 1), "status": st.sampled_from(["draft", "active"]),
        "synonyms_to_avoid": st.lists(TEXTS, max_size=2), "introduced_in_mission": TEXTS,
    },
))  # fmt: skip


@given(st.lists(SEED_TERMS, max_size=4))
@example([[SeedTerm("null", "1.0")], [SeedTerm("- a", "{b: c}\n\n  d\n")], [SeedTerm("off", "yes")]])
def test_what_was_saved_is_read(
    tmp_path_factory: pytest.TempPathFactory, drawn: list[list[SeedTerm]]
) -> None:
    path = tmp_path_factory.mktemp("seeds") / "team_domain.yaml"
    terms = {(term.surface, term.definition): term for each in drawn for term in each}
    try:
        add_terms(path, terms.values())
    except InvalidInputError:  # what YAML cannot write stays unwritten
        assert not path.exists()
        return
    assert {(term.surface, term.definition): term for term in read_seed(path).terms} == terms
