"""What was read of a log is not read again."""

from datetime import timedelta
from pathlib import Path

from glossary.steps import LIFT, NOW, STAIN, TWO_LIFTS, answering, runtime_in, step, write_scope
from vocabgap.glossary.events import GlossarySenseUpdated
from vocabgap.glossary.glossary import added
from vocabgap.glossary.loading import LOG_ENDING, append_events, log_files, read_events
from vocabgap.glossary.questions import Define, Select
from vocabgap.glossary.senses import Strictness


def test_glossary_of_many_logs_is_made_once(tmp_path: Path) -> None:
    write_scope(tmp_path, TWO_LIFTS)
    runtime = runtime_in(tmp_path)
    runtime.run(step(), ask=answering(Select(0))[0])
    (log,) = log_files(runtime.logs)
    for number in range(200):
        log.with_name(f"mission-{number}{LOG_ENDING}").write_bytes(log.read_bytes())

    first = runtime.load().glossary

    assert runtime.load().glossary is first


def test_missions_without_senses_of_their_own_share_a_glossary(tmp_path: Path) -> None:
    write_scope(tmp_path, TWO_LIFTS)
    runtime = runtime_in(tmp_path)
    runtime.run(step(), ask=answering(Select(0))[0])

    glossaries = [runtime.load(mission).glossary for mission in ["retouch", "print", None]]

    assert all(each is glossaries[0] for each in glossaries)


def test_clock_that_is_behind_is_read_after_what_was_logged(tmp_path: Path) -> None:
    write_scope(tmp_path, [("mask", "A region")])
    runtime = runtime_in(tmp_path)
    ask, _ = answering(Define(LIFT))
    runtime.run(step('Please "lift" it.'), strictness=Strictness.MAX, ask=ask)
    glossary = runtime.load().glossary
    behind = added(glossary, "burn", STAIN, actor=runtime.actor, now=NOW - timedelta(hours=1))

    append_events(runtime.logs, "retouch", [behind])

    *_, before, last = read_events(runtime.logs).events
    assert isinstance(last.event, GlossarySenseUpdated)
    assert last.event.timestamp < before.moment == last.moment
