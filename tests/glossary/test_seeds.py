"""Seed files: what is read from them, and what is wrong with them."""

import json
from pathlib import Path

import pytest

from builders.command import vocabgap
from glossary.steps import runtime_in, step
from vocabgap.errors import InvalidInputError
from vocabgap.glossary.conflicts import check
from vocabgap.glossary.extracting import Field, extract
from vocabgap.glossary.linting import Linter
from vocabgap.glossary.loading import GlossaryFiles
from vocabgap.glossary.seeds import SeedFileValidationError, parse_seed, read_seed, validated
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


def test_the_first_twenty_problems_of_a_file_are_listed_and_the_others_are_counted() -> None:
    fields = "".join(f"  k{number}: v\n" for number in range(30))
    others = "- surface: lift\n- surface: x\n  definition: y\n"
    text = f"terms:\n- surface: mask\n  definition: an edit\n{fields}{others}"
    seed = parse_seed(Path("team_domain.yaml"), text.encode())
    assert [term.surface for term in seed.terms] == ["x"]
    assert [problem.line for problem in seed.problems] == [*range(4, 24)]
    assert seed.problems[-1].message.endswith("; and 11 more problems")
    assert seed.invalid == {0, 1}


def test_bare_off_and_no_are_texts() -> None:
    seed = parse_seed(
        Path("x"), b"terms:\n  - {surface: off, definition: no, synonyms_to_avoid: [yes, on]}\n"
    )
    assert [(term.surface, term.definition, term.synonyms_to_avoid) for term in seed.terms] == [
        ("off", "no", ("yes", "on"))
    ]


PACK = """id: acme
provenance: org
description: Words of the workshop
terms:
- surface: work package
  definition: A part of a plan
  confidence: 0.9
  status: active
  see_also: [plan]
  introduced_in_mission: first
  synonyms_to_avoid: [ticket]
  aliases: [wp, parcels of work]
  banned_synonyms: [work unit]
- {surface: agent skills, definition: What an agent can do, confidence: 1, status: active, aliases: [talent]}
"""


def written(folder: Path, name: str, content: str) -> GlossaryFiles:
    (folder / name).write_text(content, encoding="utf-8")
    return GlossaryFiles(folder, folder / "events")


def test_pack_is_read_and_its_aliases_are_its_terms(tmp_path: Path) -> None:
    loaded = written(tmp_path, "acme.glossary-pack.yaml", PACK).load()

    text = "A WP, a work package, parcels of work, and talents."
    found = extract([Field("prompt", text)], {}, loaded.glossary.known).terms
    findings = Linter(loaded).findings("a.md", f"{text} A ticket, a work unit.", ".md")

    assert loaded.problems == []
    assert {each.scope for each in loaded.glossary} == {"spec_kitty_core"}
    assert {each.provenance.actor_id for each in loaded.glossary} == {"pack:acme"}
    assert {str(each.surface) for each in found} == {"work package", "agent skill"}
    assert [each.message for each in findings] == [
        "use 'work package' instead of 'ticket'",
        "use 'work package' instead of 'work unit'",
    ]


def test_word_of_a_team_is_beside_that_of_a_pack_and_comes_first(tmp_path: Path) -> None:
    written(tmp_path, "acme.glossary-pack.yaml", PACK)
    files = written(tmp_path, "team_domain.yaml", f"terms: [{json.dumps(TERM)}]")
    assert [ref.scope for ref in files.load().glossary.scope_refs] == [
        "team_domain",
        "spec_kitty_core",
    ]

    other = {"surface": "work package", "definition": "What is shipped"}
    files = written(tmp_path, "team_domain.yaml", f"terms: [{json.dumps(other)}]")
    (tmp_path / "acme.glossary-pack.yml").touch()
    loaded = files.load()

    assert [each.definition for each in loaded.glossary.resolve("work package")] == [
        "What is shipped",
        "A part of a plan",
    ]
    assert loaded.unread == [
        f"not read: {tmp_path}/acme.glossary-pack.yml: rename it to acme.glossary-pack.yaml"
    ]


@pytest.mark.parametrize(
    ("old", "new", "message"),
    [
        ("id: acme\n", "", "id: expected a text, found None"),
        ("provenance: org", "provenance: 1", "line 2: provenance: expected a text, found 1"),
        (
            "description:",
            "descriptio:",
            "line 3: descriptio: is not a field of a pack; did you mean",
        ),
        (
            "aliases: [wp, parcels of work]",
            "aliases: wp",
            "line 12: term[0] 'work package' -> aliases",
        ),
        ("[plan]", "[1]", "line 9: term[0] 'work package' -> see_also: Expected"),
        (
            "  status: active\n",
            "",
            "line 5: term[0] 'work package' -> status: must have 'status' key",
        ),
        (
            "agent skills",
            "work package",
            "line 14: term[1] 'work package' -> surface: is in this pack",
        ),
    ],
)
def test_what_is_wrong_with_a_pack_is_told_with_its_line(old: str, new: str, message: str) -> None:
    (problem,) = parse_seed(Path("a.glossary-pack.yaml"), PACK.replace(old, new).encode()).problems
    assert str(problem).startswith(message)


@pytest.mark.parametrize("terms", ["", "[]", "1"])
def test_pack_without_terms_stops_a_step(terms: str, tmp_path: Path) -> None:
    header = PACK.partition("terms:")[0]
    files = written(tmp_path, "a.glossary-pack.yaml", f"{header}terms: {terms}\n")
    with pytest.raises(SeedFileValidationError, match="line 4: terms: expected a list of terms"):
        files.load()


OTHER = "- {surface: other, definition: Another thing, confidence: 1, status: active"


@pytest.mark.parametrize(
    ("fields", "message"),
    [
        ("aliases: [wp]", "line 15: term[2] 'other' -> aliases: 'wp' belongs to 'work package'"),
        ("aliases: [WorkPackages]", "aliases: 'WorkPackages' belongs to 'work package'"),
        ("aliases: [talents]", "aliases: 'talents' belongs to 'agent skills'"),
        ("banned_synonyms: [work-unit]", "banned_synonyms: 'work-unit' belongs to 'work package'"),
        ("aliases: [work unit]", "aliases: 'work unit' belongs to 'work package'"),
        ("banned_synonyms: [wp]", "banned_synonyms: 'wp' belongs to 'work package'"),
    ],
)
@pytest.mark.parametrize("name", ["acme.glossary-pack.yaml", "team_domain.yaml"])
def test_other_word_of_two_terms_is_refused(
    fields: str, message: str, name: str, tmp_path: Path
) -> None:
    own = f"{OTHER}, {fields}}}\n"
    written(tmp_path, "acme.glossary-pack.yaml", PACK)
    content = PACK + own if name.startswith("acme") else f"terms:\n{own}"
    files = written(tmp_path, name, content)

    shown = vocabgap("glossary", "validate", tmp_path)

    assert shown.code == 2
    assert message.removeprefix("line 15: term[2] 'other' -> ") in shown.out
    assert name != "acme.glossary-pack.yaml" or message in shown.out
    with pytest.raises(InvalidInputError, match="remove it from one of them"):
        files.load().require_read()
    with pytest.raises(InvalidInputError, match="remove it from one of them"):
        runtime_in(tmp_path).run(step("Nothing of it."))


def test_other_words_of_one_term_and_words_to_avoid_are_no_problem(tmp_path: Path) -> None:
    written(tmp_path, "acme.glossary-pack.yaml", PACK)
    same = PACK.replace("id: acme\nprovenance: org\ndescription: Words of the workshop\n", "")
    more = f"{same}{OTHER}, synonyms_to_avoid: [ticket], banned_synonyms: [agent skill]}}\n"
    assert written(tmp_path, "team_domain.yaml", more).load().problems == []
    assert vocabgap("glossary", "validate", tmp_path).code == 0
