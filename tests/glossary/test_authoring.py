from pathlib import Path

from glossary.steps import LIFT, STAIN, runtime_in, write_scope
from vocabgap.glossary.authoring import add_entry
from vocabgap.glossary.extension import GlossarySettings
from vocabgap.glossary.loading import read_events
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
