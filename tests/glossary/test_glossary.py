"""The glossary: what happens to it, and that the same events make the same of it."""

import random
from datetime import UTC, datetime, timedelta
from pathlib import Path
from tempfile import TemporaryDirectory

import msgspec
import pytest
from hypothesis import given
from hypothesis import strategies as st

from glossary.builders import sense, update
from vocabgap.errors import InvalidInputError
from vocabgap.glossary.conflicts import check
from vocabgap.glossary.events import (
    Actor,
    GlossaryClarificationResolved,
    GlossaryEvent,
    GlossarySenseUpdated,
    NewSense,
    UpdateType,
)
from vocabgap.glossary.extracting import Field, extract
from vocabgap.glossary.glossary import CLARIFIED, Glossary, added, selected, with_status
from vocabgap.glossary.loading import GlossaryFiles, append_events
from vocabgap.glossary.normal_form import keys_of
from vocabgap.glossary.senses import (
    EXTRACTED,
    NO_TERM,
    ExtractedTerm,
    InvalidTermError,
    SemanticConflict,
    SenseRef,
    SenseStatus,
    TermSurface,
)

NOW = datetime(2026, 4, 1, 10, tzinfo=UTC)
ANN = Actor("user:ann")


@pytest.fixture
def rivals() -> Glossary:
    """A term with two senses in one scope and a third one in another."""
    return Glossary(
        [
            sense("mask", "where an edit shows", confidence=0.9),
            sense("mask", "what hides a pixel", confidence=0.7),
            sense("mask", "a face cover", "audience_domain"),
        ]
    )


def conflicts(glossary: Glossary) -> list[SemanticConflict]:
    return check([ExtractedTerm(TermSurface("mask"), "quoted_phrase", 0.8)], glossary)


def meanings(glossary: Glossary) -> list[str]:
    return [each.definition for each in glossary.resolve("mask")]


def select(glossary: Glossary, place: int) -> GlossaryClarificationResolved:
    ref = glossary.resolve("mask")[place].ref
    return selected(glossary, ref, conflict_id="c-1", actor=ANN, now=NOW)


def test_a_sense_that_is_added_later_asks_again(rivals: Glossary) -> None:
    after = rivals.applied([select(rivals, 0), update("mask", "a stencil", minute=5)])
    assert meanings(after) == ["a stencil", "where an edit shows"]


def test_what_was_ruled_out_comes_back_when_the_choice_goes(rivals: Glossary) -> None:
    chosen = rivals.applied([select(rivals, 0)])
    gone = chosen.applied(
        [with_status(chosen.resolve("mask")[0], SenseStatus.DEPRECATED, actor=ANN, now=NOW)]
    )
    assert meanings(gone) == ["a face cover"]


def test_a_custom_sense_takes_the_place_of_all_others(rivals: Glossary) -> None:
    event = added(
        rivals,
        "mask",
        "  the area of an edit ",
        actor=ANN,
        now=NOW,
        source=CLARIFIED,
        replacing=True,
    )
    after = rivals.applied([event])
    assert meanings(after) == ["the area of an edit"]
    assert not conflicts(after)
    assert event.scope == "team_domain"
    assert event.sense.confidence == 1.0
    assert event.sense.status == SenseStatus.ACTIVE
    plain = msgspec.structs.replace(event, overruled=msgspec.UNSET)
    assert meanings(rivals.applied([plain])) == ["the area of an edit"]


def test_authored_sense_joins_or_replaces_the_others(rivals: Glossary) -> None:
    beside = added(rivals, "Masks", "a stencil", actor=ANN, now=NOW)
    instead = added(rivals, "Masks", "a stencil", actor=ANN, now=NOW, replacing=True)
    assert len(rivals.rivals("mask", "a stencil")) == 3
    assert len(meanings(rivals.applied([beside]))) == 4
    assert meanings(rivals.applied([instead])) == ["a stencil"]


def test_what_cannot_be_authored_is_refused(rivals: Glossary) -> None:
    with pytest.raises(InvalidInputError, match="not a term"):
        added(rivals, " ", "a stencil", actor=ANN, now=NOW)
    with pytest.raises(InvalidInputError, match="not active"):
        added(rivals, "mask", "a stencil", actor=ANN, now=NOW, scope="elsewhere")
    with pytest.raises(InvalidInputError, match="Definition"):
        added(rivals, "mask", " ", actor=ANN, now=NOW)


def test_a_draft_answers_when_it_is_promoted_and_not_when_it_is_dropped() -> None:
    empty = Glossary()
    draft = empty.applied(
        [
            added(
                empty, "frob", "not defined yet", actor=ANN, now=NOW, source=EXTRACTED, confidence=0.3,
                status=SenseStatus.DRAFT,
            )
        ]
    )  # fmt: skip
    (frob,) = draft.history("frob")
    assert (frob.status, frob.confidence, draft.resolve("frob")) == (SenseStatus.DRAFT, 0.3, ())
    assert [each.term for each in draft.known.occurrences([keys_of("a frob")])] == []
    kept = draft.applied([with_status(frob, SenseStatus.ACTIVE, actor=ANN, now=NOW)])
    assert [each.status for each in kept.resolve("frob")] == [SenseStatus.ACTIVE]
    assert [each.term for each in kept.known.occurrences([keys_of("a frob")])] == ["frob"]
    dropped = draft.applied([with_status(frob, SenseStatus.DEPRECATED, actor=ANN, now=NOW)])
    assert [each.status for each in dropped.history("frob")] == [SenseStatus.DEPRECATED]


def test_a_definition_that_is_edited_takes_the_place_of_the_old_one() -> None:
    before = Glossary([sense("mask", "where an edit shows")])
    after = before.applied([update("mask", "where an edit is seen", update_type="update")])
    assert meanings(after) == ["where an edit is seen"]
    assert len(after.history("mask")) == 2


def test_what_is_no_sense_in_a_log_is_refused() -> None:
    before = Glossary([sense("mask", "where an edit shows")])
    for nothing in (update("", "nothing"), update("mask", " ")):
        with pytest.raises(InvalidTermError):
            before.applied([nothing])
    after = before.applied([update("WP ", "work package")])
    assert [each.surface.surface_text for each in after.resolve("wp")] == ["wp"]


def test_a_scope_has_another_version_when_its_senses_change(rivals: Glossary) -> None:
    before = {each.scope: each.version_id for each in rivals.scope_refs}
    again = {each.scope: each.version_id for each in Glossary(reversed(list(rivals))).scope_refs}
    after = {each.scope: each.version_id for each in rivals.applied([select(rivals, 0)]).scope_refs}
    assert before == again
    assert [scope for scope in before if before[scope] != after[scope]] == [
        "team_domain",
        "audience_domain",
    ]


TERMS = st.sampled_from(["mask", "masks", "lift", "sky mask"])
SCOPES = st.sampled_from(["mission_local", "team_domain", "audience_domain"])
DEFINITIONS = st.sampled_from(["one", "two", "Two.", "three"])
MOMENTS = st.integers(0, 3).map(lambda minute: NOW + timedelta(minutes=minute))
REFS = st.builds(SenseRef, TERMS, SCOPES, DEFINITIONS)
NAMED = st.one_of(st.just(msgspec.UNSET), st.lists(REFS, max_size=2).map(tuple))
USES = st.sampled_from(["", "step output: unlike a mask"])
UPDATES = st.builds(
    lambda term, scope, definition, status, **more: GlossarySenseUpdated(
        term_surface=term,
        scope=scope,
        sense=NewSense(term, scope, definition, 0.5, status),
        actor=ANN,
        **more,
    ),
    TERMS,
    SCOPES,
    DEFINITIONS,
    st.sampled_from(SenseStatus),
    update_type=st.sampled_from(UpdateType),
    timestamp=MOMENTS,
    overruled=NAMED,
    usage=USES,
)
SELECTIONS = st.builds(
    lambda ref, **more: GlossaryClarificationResolved(
        conflict_id="c", term_surface=ref.surface, sense=ref, actor=ANN, **more
    ),
    REFS,
    timestamp=MOMENTS,
    overruled=NAMED,
    usage=USES,
)
EVENTS = st.lists(UPDATES | SELECTIONS, max_size=12)


def term_of(event: GlossaryEvent) -> str:
    assert isinstance(event, GlossarySenseUpdated | GlossaryClarificationResolved)
    return event.term_surface.removesuffix("s")


def state_of(glossary: Glossary) -> object:
    return glossary.scopes, glossary._senses, glossary._overruled, glossary._accepted


@given(EVENTS)
def test_the_same_events_make_the_same_glossary(events: list[GlossaryEvent]) -> None:
    at_once = Glossary().applied(events)
    one_by_one = Glossary()
    for event in events:
        one_by_one = one_by_one.applied([event])
    again = Glossary().applied(events)
    assert state_of(one_by_one) == state_of(at_once) == state_of(again)
    assert one_by_one.scope_refs == at_once.scope_refs


@given(EVENTS)
def test_the_log_gives_the_same_glossary_whole_or_followed(events: list[GlossaryEvent]) -> None:
    step_by_step = Glossary()
    versions = {}
    with TemporaryDirectory() as folder:
        seeds, logs = Path(folder, "seeds"), Path(folder, "logs")
        for event in events:
            append_events(logs, "mission", [event])
            step_by_step = GlossaryFiles(seeds, logs).load().glossary
            for ref in step_by_step.scope_refs:
                versions[ref.version_id] = [it.ref for it in step_by_step if it.scope == ref.scope]
        files = GlossaryFiles(seeds, logs)
        assert {it: [each.ref for each in files.load_version(it)] for it in versions} == versions
        copied = Path(folder, "copy")
        logs.mkdir(exist_ok=True)
        logs.rename(copied)
        whole = GlossaryFiles(seeds, copied).load().glossary
    assert state_of(step_by_step) == state_of(whole) == state_of(Glossary().applied(events))


@given(EVENTS, st.randoms(use_true_random=False))
def test_unrelated_events_commute(events: list[GlossaryEvent], drawn: random.Random) -> None:
    waiting: dict[str, list[GlossaryEvent]] = {}
    for event in events:
        waiting.setdefault(term_of(event), []).append(event)
    mixed = []
    while waiting:
        term = drawn.choice(sorted(waiting))
        mixed.append(waiting[term].pop(0))
        if not waiting[term]:
            del waiting[term]
    assert state_of(Glossary().applied(mixed)) == state_of(Glossary().applied(events))


def test_variants_of_a_term_are_one_in_seeds_resolution_and_questions() -> None:
    glossary = Glossary(
        [sense("work package", "A part of a plan"), sense("work-package", "What is shipped")]
    )

    for spelling in ("work package", "workPackage", "work_package", "workpackages"):
        assert len(glossary.resolve(spelling)) == len(glossary.history(spelling)) == 2
    (conflict,) = check(
        extract([Field("text", "two workPackages and a work-package")], {}, glossary.known).terms,
        glossary,
    )
    assert (conflict.term.surface_text, conflict.conflict_type) == ("work package", "ambiguous")


def refusal(glossary: Glossary, term: str) -> GlossarySenseUpdated:
    """The event that this is not a term."""
    status = SenseStatus.DEPRECATED
    return added(glossary, term, NO_TERM, actor=ANN, now=NOW, status=status, replacing=True)


@pytest.mark.parametrize("scope", ["team_domain", "spec_kitty_core"])
def test_what_is_no_term_is_not_known_until_somebody_defines_it(scope: str) -> None:
    before = Glossary([sense("mask", "raises shadows", scope), sense("lift", "a region")])

    after = before.applied([refusal(before, "mask"), refusal(before, "case")])
    back = after.applied([update("mask", "carries people"), update("case", "a box")])
    seeded = Glossary([*before, sense("mask", "carries people")])

    assert after.no_terms == {"mask", "case"}
    assert after.is_no_term("Masks")
    assert after.resolve("mask") == ()
    assert [after.known.name(key) for key in ("lift", "mask")] == ["lift", None]
    assert back.no_terms == frozenset()
    assert meanings(back) == ["carries people"]
    assert meanings(seeded.applied([refusal(before, "mask")])) == ["carries people"]


def test_aliases_are_known_while_their_term_is() -> None:
    aliases = {"wp": "work package", "up": "lift"}
    glossary = Glossary([sense("work package", "a part")], aliases=aliases)
    after = glossary.applied([update("mask", "a region")])
    assert [after.known.name(key) for key in ("wp", "up", "mask")] == ["work package", None, "mask"]
