"""Promises of the glossary, each with a test of its own."""

from pathlib import Path

import pytest

from glossary.builders import update
from glossary.steps import LIFT, STAIN, TWO_LIFTS, answering, logged, runtime_in, step, write_scope
from glossary.test_linting import found
from vocabgap.glossary.conflicts import BlockedByConflictError
from vocabgap.glossary.events import (
    GenerationBlockedBySemanticConflict,
    GlossaryClarificationResolved,
    GlossaryScopeActivated,
    TermCandidateObserved,
)
from vocabgap.glossary.glossary import Glossary
from vocabgap.glossary.loading import load_checkpoint, read_events
from vocabgap.glossary.questions import Select
from vocabgap.glossary.runtime import GlossaryRuntime
from vocabgap.glossary.seeds import validated
from vocabgap.glossary.senses import DEFAULT_SCOPES, ConflictType, SenseStatus

TERM = {"surface": "mask", "definition": "where an edit shows"}


@pytest.fixture
def runtime(tmp_path: Path) -> GlossaryRuntime:
    """Return the runtime of a word with two meanings."""
    write_scope(tmp_path, TWO_LIFTS)
    return runtime_in(tmp_path)


def stopped(runtime: GlossaryRuntime) -> BlockedByConflictError:
    with pytest.raises(BlockedByConflictError) as error:
        runtime.run(step())
    return error.value


def test_status_is_draft_active_or_deprecated() -> None:
    names = ("draft", "active", "deprecated", "retired")
    fields = [{**TERM, "surface": name, "status": name} for name in names]

    terms, problems = validated({"terms": fields})

    assert [term.status for term in terms] == list(SenseStatus)
    assert [(problem.surface, problem.field) for problem in problems] == [("retired", "status")]


def test_seed_term_without_a_status_is_active() -> None:
    ((term,), problems) = validated({"terms": [TERM]})
    assert (term.status, problems) == (SenseStatus.ACTIVE, [])


def test_meaning_of_a_seed_file_has_no_date(runtime: GlossaryRuntime) -> None:
    senses = runtime.load().glossary.resolve("lift")
    assert [sense.provenance.timestamp for sense in senses] == [None, None]


def test_deprecated_meaning_stays_in_the_history() -> None:
    active = update("lift", LIFT)
    dropped = update("lift", LIFT, status="deprecated", update_type="update", minute=1)

    glossary = Glossary().applied([active, dropped])

    assert glossary.resolve("lift") == ()
    assert [sense.definition for sense in glossary.history("lift")] == [LIFT]


def test_four_scopes_are_read_under_their_own_names(tmp_path: Path) -> None:
    for scope in DEFAULT_SCOPES:
        write_scope(tmp_path, [(f"word of {scope}", LIFT)], scope)

    glossary = runtime_in(tmp_path).load().glossary

    assert {str(sense.surface): sense.scope for sense in glossary} == {
        f"word of {scope}": scope for scope in DEFAULT_SCOPES
    }


def test_run_activates_the_scopes_of_its_mission(tmp_path: Path) -> None:
    write_scope(tmp_path, [("lift", LIFT)])
    write_scope(tmp_path, [("mask", STAIN)], "mission_local")
    runtime = runtime_in(tmp_path)

    refs = runtime.run(step()).scope_refs

    events = [each.event for each in read_events(runtime.logs).events]
    activated = [event for event in events if isinstance(event, GlossaryScopeActivated)]
    assert {(each.mission_id, each.scope_id, each.glossary_version_id) for each in activated} == {
        ("retouch", ref.scope, ref.version_id) for ref in refs
    }
    assert len(activated) == len(refs) == 2


def test_scope_without_a_seed_file_is_skipped(runtime: GlossaryRuntime) -> None:
    loaded = runtime.load()
    assert ([ref.scope for ref in loaded.glossary.scope_refs], loaded.problems) == (
        ["team_domain"],
        [],
    )


def test_term_with_several_active_meanings_is_ambiguous(runtime: GlossaryRuntime) -> None:
    (conflict,) = runtime.run(step(critical=False)).conflicts
    assert (str(conflict.term), conflict.conflict_type) == ("lift", ConflictType.AMBIGUOUS)


def test_conflict_lists_the_possible_meanings(runtime: GlossaryRuntime) -> None:
    (conflict,) = runtime.run(step(critical=False)).conflicts
    assert [sense.definition for sense in conflict.candidate_senses] == [LIFT, STAIN]


def test_checkpoint_names_its_scopes_and_versions(runtime: GlossaryRuntime) -> None:
    stopped(runtime)
    checkpoint = load_checkpoint(runtime.logs, "develop")
    assert checkpoint is not None
    assert checkpoint.scope_refs == runtime.load().glossary.scope_refs


def test_each_version_names_senses_that_can_be_loaded(tmp_path: Path) -> None:
    write_scope(tmp_path, TWO_LIFTS)
    write_scope(tmp_path, [("mask", STAIN)], "audience_domain")
    runtime = runtime_in(tmp_path)

    refs = runtime.load().glossary.scope_refs

    definitions = {
        ref.scope: [sense.definition for sense in runtime.load_version(ref.version_id)]
        for ref in refs
    }
    assert definitions == {"team_domain": [LIFT, STAIN], "audience_domain": [STAIN]}


def test_each_find_is_logged(runtime: GlossaryRuntime) -> None:
    terms = runtime.run(step('Please lift the "halo" in RAW.', critical=False)).extracted_terms
    events = (each.event for each in read_events(runtime.logs).events)
    finds = [event.term for event in events if isinstance(event, TermCandidateObserved)]
    assert sorted(finds) == sorted(str(term.surface) for term in terms) == ["halo", "lift", "raw"]


def test_listed_phrase_is_found_across_a_line_break(tmp_path: Path) -> None:
    assert [each.text for each in found(tmp_path, "> a work\n> unit")] == ["work unit"]


@pytest.mark.parametrize("word", ["tickets", "TICKET", "Tickets", "ticket's"])
def test_inflection_of_a_listed_word_is_found(word: str, tmp_path: Path) -> None:
    (finding,) = found(tmp_path, f"Two {word} wait")
    assert finding.text == word.removesuffix("'s")


@pytest.mark.parametrize("word", ["etiquette", "ticketing", "tick et", "units", "works"])
def test_word_that_nobody_listed_is_no_finding(word: str, tmp_path: Path) -> None:
    assert found(tmp_path, f"Two {word} wait") == []


def test_blocked_step_raises_an_error_with_its_token(runtime: GlossaryRuntime) -> None:
    token = stopped(runtime).retry_token
    checkpoint = load_checkpoint(runtime.logs, "develop")
    assert checkpoint is not None
    assert (len(token), token) == (36, checkpoint.retry_token)


def test_blocking_is_an_event(runtime: GlossaryRuntime) -> None:
    runtime.run(step(critical=False))
    kind = GenerationBlockedBySemanticConflict
    assert kind.__name__ not in logged(runtime)

    stopped(runtime)

    (event,) = [e.event for e in read_events(runtime.logs).events if isinstance(e.event, kind)]
    assert (event.step_id, event.conflicts[0].term.surface_text) == ("develop", "lift")


def test_chosen_candidate_is_logged_and_settles_the_term(runtime: GlossaryRuntime) -> None:
    ask, questions = answering(Select(1))

    first, second = runtime.run(step(), ask=ask), runtime.run(step(), ask=ask)

    events = [each.event for each in read_events(runtime.logs).events]
    (answer,) = [each for each in events if isinstance(each, GlossaryClarificationResolved)]
    assert answer.sense.definition == STAIN
    assert first.meanings == second.meanings == {"lift": STAIN}
    assert len(questions) == 1


def test_resumed_step_repeats_no_finished_stage(runtime: GlossaryRuntime) -> None:
    token = stopped(runtime).retry_token
    with pytest.raises(BlockedByConflictError):
        runtime.resume(token)
    runtime.resume(token, ask=answering(Select(0))[0])

    once = ("GlossaryScopeActivated", "TermCandidateObserved")
    assert [logged(runtime).count(name) for name in once] == [1, 1]
