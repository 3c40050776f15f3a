"""Seed files: what is read from them, and what is wrong with them."""

import json
from pathlib import Path
from typing import Any

import pytest

from vocabgap.glossary.conflicts import check
from vocabgap.glossary.extracting import Field, extract
from vocabgap.glossary.loading import GlossaryFiles
from vocabgap.glossary.seeds import SeedFileValidationError, parse_seed, read_seed, seed_scope, validated
from vocabgap.glossary.senses import ConflictType, ScopeStack, SenseStatus

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


def found(data: object) -> list[tuple[int | None, str, str]]:
    _, problems = validated(data)
    return [(each.term, each.field, each.message) for each in problems]


@pytest.mark.parametrize("data", [{"terms": []}, {"terms": None}, {"terms": [TERM]}])
def test_what_is_in_order(data: object) -> None:
    assert found(data) == []


@pytest.mark.parametrize(
    ("data", "field", "told"),
    [
        ({}, "terms", "must have 'terms' key"),
        (None, "terms", "expected an object"),
        ([TERM], "terms", "expected an object"),
        ({"terms": "mask"}, "terms", "expected a list"),
        ({"terms": [], "title": "ours"}, "title", "is no field"),
    ],
)
def test_what_is_wrong_with_a_whole_file(data: object, field: str, told: str) -> None:
    ((number, name, message),) = found(data)
    assert (number, name) == (None, field)
    assert told in message


@pytest.mark.parametrize(
    ("fields", "field", "told"),
    [
        ({"surface": "WP"}, "surface", "surface must be normalized"),
        ({"surface": ""}, "surface", "must not be empty"),
        ({"surface": 5}, "surface", "expected text, found 5"),
        ({"definition": "  "}, "definition", "cannot be empty"),
        ({"definition": ["a"]}, "definition", "expected text"),
        ({"confidence": -0.1}, "confidence", "from 0.0 to 1.0"),
        ({"confidence": 1.01}, "confidence", "from 0.0 to 1.0"),
        ({"confidence": "0.5"}, "confidence", "from 0.0 to 1.0"),
        ({"confidence": True}, "confidence", "from 0.0 to 1.0"),
        ({"confidence": float("nan")}, "confidence", "from 0.0 to 1.0"),
        ({"confidence": None}, "confidence", "from 0.0 to 1.0"),
        ({"status": "archived"}, "status", "one of draft, active, deprecated"),
        ({"status": None}, "status", "one of draft"),
        ({"see_also": ["x"]}, "see_also", "list of objects"),
        ({"synonyms_to_avoid": "x"}, "synonyms_to_avoid", "list of texts"),
        ({"introduced_in_mission": 1}, "introduced_in_mission", "expected text"),
        ({"definiton": "x"}, "definiton", "did you mean 'definition'?"),
        ({5: "x"}, "5", "is no field"),
    ],
)  # fmt: skip
def test_what_is_wrong_with_a_term(fields: dict[Any, Any], field: str, told: str) -> None:
    ((number, name, message),) = found({"terms": [{**TERM, **fields}]})
    assert (number, name) == (0, field)
    assert told in message


def test_all_that_is_wrong_is_found_and_the_other_terms_are_kept() -> None:
    terms, problems = validated(
        {"terms": [{"surface": "WP"}, TERM, "x", {"definition": " ", "confidence": 2}]}
    )
    assert [term.surface for term in terms] == ["mask"]
    assert [(each.term, each.field) for each in problems] == [
        (0, "definition"),
        (0, "surface"),
        (2, "term"),
        (3, "surface"),
        (3, "definition"),
        (3, "confidence"),
    ]


def test_two_terms_without_a_status_are_active_and_so_ambiguous(tmp_path: Path) -> None:
    seeds = [TERM, {**TERM, "definition": "a face cover"}]
    (tmp_path / "team_domain.yaml").write_text(json.dumps({"terms": seeds}), encoding="utf-8")
    glossary = GlossaryFiles(tmp_path, tmp_path / "events").load().glossary
    (conflict,) = check(extract([Field("prompt", "Paint the mask.")], {}, glossary.known), glossary)
    assert {each.status for each in glossary} == {SenseStatus.ACTIVE}
    assert conflict.conflict_type is ConflictType.AMBIGUOUS


def test_the_fields_of_a_term_and_what_they_are_without_being_said() -> None:
    full = {
        **TERM,
        "confidence": 1,
        "status": "draft",
        "see_also": [{"term": "lift"}],
        "synonyms_to_avoid": ["matte"],
        "introduced_in_mission": "m-1",
    }
    (one, other), _ = validated({"terms": [TERM, full]})
    assert (one.confidence, one.status, one.see_also) == (1.0, SenseStatus.ACTIVE, None)
    assert (other.status, other.see_also, other.synonyms_to_avoid) == (
        SenseStatus.DRAFT,
        ({"term": "lift"},),
        ("matte",),
    )


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
    with pytest.raises(SeedFileValidationError) as caught:
        seed.require_valid()
    assert f"2 validation error(s) in {path}:\n  line 9: term[2] 'WP' -> surface: surface must" in str(
        caught.value
    )


@pytest.mark.parametrize(
    "content",
    [b"{{{{invalid yaml", b"\xff\xfe", b"terms: [" + b"[" * 5_000, b"terms:\n  - !!python/x y\n", b""],
)
def test_what_is_no_seed_file_is_said_and_no_error(content: bytes) -> None:
    seed = parse_seed(Path("team.yaml"), content)
    assert (seed.terms, len(seed.problems)) == ((), 1)


def test_bare_off_and_no_are_texts() -> None:
    seed = parse_seed(
        Path("x"), b"terms:\n  - {surface: off, definition: no, synonyms_to_avoid: [yes, on]}\n"
    )
    assert [(term.surface, term.definition, term.synonyms_to_avoid) for term in seed.terms] == [
        ("off", "no", ("yes", "on"))
    ]


def test_a_seed_file_is_called_like_its_scope() -> None:
    names = ["team_domain.yaml", "team_domain.yml", "team.yaml", "Team_domain.yaml", "team_domain"]
    assert [seed_scope(Path(name), ScopeStack()) for name in names] == ["team_domain", None, None, None, None]
