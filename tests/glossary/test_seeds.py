"""Seed files: what is read from them, and what is wrong with them."""

import json
from pathlib import Path

from vocabgap.glossary.conflicts import check
from vocabgap.glossary.extracting import Field, extract
from vocabgap.glossary.loading import GlossaryFiles
from vocabgap.glossary.seeds import parse_seed, read_seed, validated
from vocabgap.glossary.senses import ConflictType, SenseStatus

TERM = {"surface": "mask", "definition": "where an edit shows"}
PLAIN = """# The words of the team
terms:
  - surface: mask
    definition: Where an edit shows, 100 % of it
    confidence: 0.9
    status: active
  - surface: lift
    definition: 'Raises the shadows: it''s an edit'
"""


def test_all_that_is_wrong_is_found_and_the_other_terms_are_kept() -> None:
    terms, problems = validated(
        {"terms": [{"surface": "WP"}, TERM, "x", {"definition": " ", "confidence": 2}]}
    )
    assert [term.surface for term in terms] == ["mask"]
    assert [(each.term, each.field) for each in problems] == [
        (0, "definition"), (0, "surface"), (2, "term"), (3, "surface"), (3, "definition"), (3, "confidence"),
    ]  # fmt: skip


def test_two_terms_without_a_status_are_active_and_so_ambiguous(tmp_path: Path) -> None:
    seeds = [TERM, {**TERM, "definition": "a face cover"}]
    (tmp_path / "team_domain.yaml").write_text(json.dumps({"terms": seeds}), encoding="utf-8")
    glossary = GlossaryFiles(tmp_path, tmp_path / "events").load().glossary
    (conflict,) = check(
        extract([Field("prompt", "Paint the mask.")], {}, glossary.known).terms, glossary
    )
    assert {each.status for each in glossary} == {SenseStatus.ACTIVE}
    assert conflict.conflict_type is ConflictType.AMBIGUOUS


def test_a_problem_is_told_with_file_line_and_field(tmp_path: Path) -> None:
    path = tmp_path / "team_domain.yaml"
    path.write_text(
        f"{PLAIN}  - surface: WP\n    definition: work package\n    weight: 1\n", encoding="utf-8"
    )
    seed = read_seed(path)
    assert [term.surface for term in seed.terms] == ["mask", "lift"]
    assert [(each.term, each.field, each.line) for each in seed.problems] == [
        (2, "surface", 9),
        (2, "weight", 11),
    ]
    assert str(seed.problems[0]).startswith("line 9: term[2] 'WP' -> surface: surface must")


def test_bare_off_and_no_are_texts() -> None:
    seed = parse_seed(
        Path("x"), b"terms:\n  - {surface: off, definition: no, synonyms_to_avoid: [yes, on]}\n"
    )
    assert [(term.surface, term.definition, term.synonyms_to_avoid) for term in seed.terms] == [
        ("off", "no", ("yes", "on"))
    ]
