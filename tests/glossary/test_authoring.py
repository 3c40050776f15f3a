from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import pytest

from glossary.steps import LIFT, NOW, STAIN, runtime_in, write_scope
from vocabgap.glossary.authoring import add_entry
from vocabgap.glossary.extension import GlossarySettings
from vocabgap.glossary.glossary import added
from vocabgap.glossary.loading import append_events, changing, read_events
from vocabgap.glossary.senses import SenseStatus


def settings_of(folder: Path) -> GlossarySettings:
    return GlossarySettings(folder=str(folder))


def test_draft_of_an_active_sense_changes_nothing(tmp_path: Path) -> None:
    write_scope(tmp_path, [("lift", LIFT)])

    made = add_entry(settings_of(tmp_path), "lift", f"{LIFT}.", actor="ana", is_draft=True)

    assert (made.status, made.definition) == (SenseStatus.ACTIVE, LIFT)
    assert read_events(runtime_in(tmp_path).logs).events == ()


def test_draft_is_active_once_it_is_authored(tmp_path: Path) -> None:
    write_scope(tmp_path, [("mask", "A region")])
    add_entry(settings_of(tmp_path), "lift", LIFT, actor="ana", is_draft=True)

    made = add_entry(settings_of(tmp_path), "lift", LIFT, actor="ana")

    meaning = runtime_in(tmp_path).load().glossary.meaning("lift")
    assert made.status == SenseStatus.ACTIVE
    assert meaning is not None
    assert meaning.definition == LIFT


def test_entry_that_means_something_else_becomes_a_draft(tmp_path: Path) -> None:
    write_scope(tmp_path, [("lift", LIFT)])
    made = add_entry(settings_of(tmp_path), "lift", STAIN, actor="ana")
    assert made.status == SenseStatus.DRAFT


def test_who_authors_waits_for_who_changes_the_glossary(tmp_path: Path) -> None:
    write_scope(tmp_path, [("mask", "A region")])
    runtime = runtime_in(tmp_path)
    with ThreadPoolExecutor() as threads:
        with changing(runtime.logs):
            made = threads.submit(add_entry, settings_of(tmp_path), "lift", STAIN, actor="ben")
            with pytest.raises(TimeoutError):
                made.result(timeout=0.5)
            event = added(runtime.load().glossary, "lift", LIFT, actor=runtime.actor, now=NOW)
            append_events(runtime.logs, "authoring", [event])
        status = made.result().status

    assert status == SenseStatus.DRAFT
