"""A log is followed: what was added to it is read, and what was read is not read again."""

from dataclasses import replace
from datetime import timedelta
from pathlib import Path

import pytest

from glossary.steps import LIFT, NOW, STAIN, TWO_LIFTS, answering, runtime_in, step, write_scope
from vocabgap.glossary import loading
from vocabgap.glossary.events import GlossaryEvent
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


def test_only_the_end_of_a_log_is_parsed_where_it_has_grown(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    write_scope(tmp_path, TWO_LIFTS)
    runtime = runtime_in(tmp_path)
    for _ in range(10):
        runtime.run(step(critical=False))
    runtime.load()
    (log,) = log_files(runtime.logs)
    lines = log.read_bytes().count(b"\n")
    parsed: list[bytes] = []
    parse = loading._event

    def counting(line: bytes, place: str) -> GlossaryEvent:
        parsed.append(line)
        return parse(line, place)

    monkeypatch.setattr(loading, "_JOURNAL", replace(loading._JOURNAL, decode=counting))
    runtime.run(step(), ask=answering(Select(0))[0])
    runtime.load()

    assert 0 < len(parsed) == log.read_bytes().count(b"\n") - lines


def test_clock_that_is_behind_is_followed_as_it_is_read(tmp_path: Path) -> None:
    write_scope(tmp_path, [("mask", "A region")])
    runtime = runtime_in(tmp_path)
    ask, _ = answering(Define(LIFT))
    runtime.run(step('Please "lift" it.'), strictness=Strictness.MAX, ask=ask)
    glossary = runtime.load().glossary
    behind = added(glossary, "burn", STAIN, actor=runtime.actor, now=NOW - timedelta(hours=1))

    append_events(runtime.logs, "retouch", [behind])

    (log,) = loading.follow_logs(runtime.logs, {}).values()
    followed = log.changes
    read = [each for each in read_events(runtime.logs).events if each in followed]
    assert list(followed) == read
    assert followed[1].event.timestamp < followed[0].moment == followed[1].moment
