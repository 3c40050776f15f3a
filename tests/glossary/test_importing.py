import json
from pathlib import Path

import pytest

from glossary.steps import LIFT, STAIN, runtime_in, step, write_scope
from vocabgap.glossary.authoring import import_terms
from vocabgap.glossary.conflicts import BlockedByConflictError
from vocabgap.glossary.seeds import read_seed


def test_table_of_terms_is_imported_once(tmp_path: Path) -> None:
    table = tmp_path / "terms.csv"
    table.write_text(f"term,definition\nLift,{LIFT}\nempty,\n", encoding="utf-8")

    first = import_terms(runtime_in(tmp_path / "glossary"), table)
    again = import_terms(runtime_in(tmp_path / "glossary"), table)

    assert [(scope, term.surface, term.definition) for scope, term in first.added] == [
        ("team_domain", "lift", LIFT)
    ]
    assert first.passed_over == ["'empty' has no definition"]
    assert (again.added, again.present) == ([], 1)


def test_other_meaning_of_a_term_becomes_a_draft(tmp_path: Path) -> None:
    write_scope(tmp_path / "glossary", [("lift", LIFT)])
    table = tmp_path / "terms.csv"
    table.write_text(f'term,definition\nlift,"{STAIN}"\n', encoding="utf-8")

    made = import_terms(runtime_in(tmp_path / "glossary"), table)

    kept = read_seed(tmp_path / "glossary" / "team_domain.yaml").terms
    assert made.drafts == ["lift"]
    assert {(term.definition, term.status.value) for term in kept} == {(LIFT, "active"), (STAIN, "draft")}


def test_two_meanings_of_a_term_in_an_imported_vocabulary_stop_a_critical_step(tmp_path: Path) -> None:
    entries = [{"name": "lift", "description": LIFT}, {"name": "lift", "description": STAIN}]
    table = tmp_path / "vocabulary.json"
    table.write_text(json.dumps({"entries": entries}), encoding="utf-8")
    runtime = runtime_in(tmp_path / "glossary")

    made = import_terms(runtime, table)

    assert (len(made.added), made.drafts) == (2, [])
    with pytest.raises(BlockedByConflictError, match="1 high-severity"):
        runtime.run(step())
