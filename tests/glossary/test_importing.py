import contextlib
import json
from collections.abc import Iterable, Mapping
from pathlib import Path

import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st

from glossary.steps import LIFT, STAIN, import_terms, runtime_in, step, write_scope
from vocabgap.errors import InvalidInputError
from vocabgap.glossary import authoring
from vocabgap.glossary.conflicts import BlockedByConflictError
from vocabgap.glossary.seeds import SeedTerm, add_terms, read_seed
from vocabgap.glossary.senses import SenseStatus


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


def test_folder_of_another_glossary_keeps_its_scopes(tmp_path: Path) -> None:
    theirs = tmp_path / ".kittify" / "glossaries"
    write_scope(theirs, [("lift", LIFT)], "mission_local")
    write_scope(theirs, [("mask", "A region")], "spec_kitty_core")
    write_scope(theirs, [("burn", "Darken")], "elsewhere")

    made = import_terms(runtime_in(tmp_path / "glossary"), theirs)

    assert [(scope, term.surface) for scope, term in made.added] == [
        ("mission_local", "lift"),
        ("core_domain", "mask"),
    ]
    assert len(made.passed_over) == 1
    assert "'elsewhere' is no scope here" in made.passed_over[0]


def test_other_meaning_of_a_term_becomes_a_draft(tmp_path: Path) -> None:
    write_scope(tmp_path / "glossary", [("lift", LIFT)])
    table = tmp_path / "terms.csv"
    table.write_text(f'term,definition\nlift,"{STAIN}"\n', encoding="utf-8")

    made = import_terms(runtime_in(tmp_path / "glossary"), table)

    kept = read_seed(tmp_path / "glossary" / "team_domain.yaml").terms
    assert made.drafts == ["lift"]
    assert {(term.definition, term.status.value) for term in kept} == {(LIFT, "active"), (STAIN, "draft")}


def test_scopes_of_another_glossary_that_differ_still_do(tmp_path: Path) -> None:
    write_scope(tmp_path / "theirs", [("lift", LIFT)], "audience_domain")
    write_scope(tmp_path / "theirs", [("lift", STAIN)], "team_domain")
    runtime = runtime_in(tmp_path / "glossary")

    made = import_terms(runtime, tmp_path / "theirs")

    assert (len(made.added), made.drafts) == (2, [])
    assert [each.definition for each in runtime.load().glossary.resolve("lift")] == [STAIN, LIFT]


@pytest.mark.parametrize("present", ["audience_domain", "team_domain"])
def test_ambiguity_of_a_scope_stays_one_though_a_part_of_it_is_there(tmp_path: Path, present: str) -> None:
    write_scope(tmp_path / "glossary", [("lift", LIFT)], present)
    write_scope(tmp_path / "theirs", [("lift", LIFT), ("lift", STAIN)], present)

    made = import_terms(runtime_in(tmp_path / "glossary"), tmp_path / "theirs")

    assert (made.present, made.drafts) == (1, [])


def test_two_meanings_of_a_term_in_an_imported_vocabulary_stop_a_critical_step(tmp_path: Path) -> None:
    entries = [{"name": "lift", "description": LIFT}, {"name": "lift", "description": STAIN}]
    table = tmp_path / "vocabulary.json"
    table.write_text(json.dumps({"entries": entries}), encoding="utf-8")
    runtime = runtime_in(tmp_path / "glossary")

    made = import_terms(runtime, table)

    assert (len(made.added), made.drafts) == (2, [])
    with pytest.raises(BlockedByConflictError, match="1 high-severity"):
        runtime.run(step())


SCOPES = ("audience_domain", "core_domain", "mission_local", "team_domain")
Scopes = Mapping[str, Iterable[SeedTerm]]


def scopes_with(statuses: Iterable[SenseStatus]) -> st.SearchStrategy[Scopes]:
    terms = st.builds(
        SeedTerm,
        surface=st.sampled_from(["lift", "lifts", "stain"]),
        definition=st.sampled_from(["one", "One.", "two", "three"]),
        status=st.sampled_from(list(statuses)),
    )
    return st.dictionaries(st.sampled_from(SCOPES), st.lists(terms, min_size=1, max_size=3))


def write_scopes(folder: Path, scopes: Scopes) -> None:
    for scope, terms in scopes.items():
        add_terms(folder / f"{scope}.yaml", terms)


def contents(folder: Path) -> dict[str, bytes]:
    return {path.name: path.read_bytes() for path in folder.glob("*.yaml")}


@settings(max_examples=5)
@given(scopes_with(SenseStatus), scopes_with(SenseStatus).filter(bool))
@example({}, {scope: [SeedTerm("lift", scope)] for scope in SCOPES})
@example({"core_domain": [SeedTerm("lift", "one")]}, {scope: [SeedTerm("lift", scope)] for scope in SCOPES})
def test_import_after_one_that_was_interrupted_comes_to_the_same(
    tmp_path_factory: pytest.TempPathFactory, there: Scopes, source: Scopes
) -> None:
    root = tmp_path_factory.mktemp("import")
    write_scopes(root / "theirs", source)
    for folder in (root / str(saves) for saves in range(len(source) + 1)):
        folder.mkdir()
        write_scopes(folder, there)

    whole = root / str(len(source))
    import_terms(runtime_in(whole), root / "theirs")
    for saves in range(len(source)):
        interrupt_import(root / str(saves), root / "theirs", saves)
        import_terms(runtime_in(root / str(saves)), root / "theirs")

    assert [contents(root / str(saves)) for saves in range(len(source))] == [contents(whole)] * len(source)


def interrupt_import(folder: Path, source: Path, after: int) -> None:
    """Import, and stop as soon as some number of files have been written."""
    left = iter(range(after))

    def save_or_stop(path: Path, terms: Iterable[SeedTerm]) -> None:
        if next(left, None) is None:
            raise KeyboardInterrupt
        add_terms(path, terms)

    with pytest.MonkeyPatch.context() as patch, contextlib.suppress(KeyboardInterrupt):
        patch.setattr(authoring, "add_terms", save_or_stop)
        import_terms(runtime_in(folder), source)


def test_seed_file_that_is_none_is_told(tmp_path: Path) -> None:
    theirs = tmp_path / "theirs"
    (theirs / "team_domain.yaml").mkdir(parents=True)
    with pytest.raises(InvalidInputError, match="is a folder, expected a file"):
        import_terms(runtime_in(tmp_path / "glossary"), theirs)
    (theirs / "team_domain.yaml").rmdir()
    (theirs / "team_domain.yaml").write_text("{{{", encoding="utf-8")
    with pytest.raises(InvalidInputError, match=r"team_domain\.yaml"):
        import_terms(runtime_in(tmp_path / "glossary"), theirs)
