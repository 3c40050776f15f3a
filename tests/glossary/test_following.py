"""A log is followed: what was added to it is read, and what was read is not read again."""

from pathlib import Path
from typing import BinaryIO

import pytest

from glossary.steps import LIFT, TWO_LIFTS, answering, runtime_in, step, write_scope
from vocabgap.glossary import following
from vocabgap.glossary.event_log import log_files, parse_log
from vocabgap.glossary.questions import Define, Select


def test_what_was_read_is_not_read_again(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    write_scope(tmp_path, TWO_LIFTS)
    runtime = runtime_in(tmp_path)
    runtime.run(step(critical=False))
    runtime.load()
    seen: list[int] = []

    def counting(content: bytes, log: str, first: int = 1) -> object:
        seen.append(content.count(b"\n"))
        return parse_log(content, log, first)

    monkeypatch.setattr(following, "parse_log", counting)
    runtime.run(step(), ask=answering(Select(0))[0])
    after = runtime.load()

    assert seen == [5]  # a candidate, a check, a checkpoint, a question and its answer
    assert after.glossary.meaning("lift") == after.glossary.resolve("lift")[0]


def test_line_that_was_cut_off_is_read_once_it_is_whole(tmp_path: Path) -> None:
    write_scope(tmp_path, TWO_LIFTS)
    runtime = runtime_in(tmp_path)
    runtime.run(step(), ask=answering(Select(0))[0])
    (log,) = log_files(runtime.logs)
    whole = log.read_bytes()
    log.write_bytes(whole[:-20])
    torn = runtime.load()

    log.write_bytes(whole)
    mended = runtime.load()

    assert (torn.skipped, torn.glossary.meaning("lift")) == (1, None)
    assert mended.skipped == 0
    assert mended.glossary.meaning("lift") is not None


def test_log_that_was_replaced_is_read_anew(tmp_path: Path) -> None:
    write_scope(tmp_path, TWO_LIFTS)
    runtime = runtime_in(tmp_path)
    runtime.run(step(), ask=answering(Define("Brighten the eyes"))[0])
    before = runtime.load().glossary.meaning("lift")
    (log,) = log_files(runtime.logs)
    log.write_bytes(b"")

    after = runtime.load().glossary

    assert before is not None
    assert [each.definition for each in after.resolve("lift")] == [LIFT, TWO_LIFTS[1][1]]


def test_longer_log_of_other_events_in_its_place_is_read_anew(tmp_path: Path) -> None:
    write_scope(tmp_path, TWO_LIFTS)
    runtime = runtime_in(tmp_path)
    runtime.run(step(), ask=answering(Select(0))[0])
    (log,) = log_files(runtime.logs)
    first = log.read_bytes()
    log.unlink()
    runtime.run(step("Lift it, lift it, lift it up."), ask=answering(Define("Brighten the eyes"))[0])
    second = log.read_bytes()
    log.write_bytes(first)
    before = runtime.load().glossary.meaning("lift")

    log.write_bytes(second + second)
    after = runtime.load().glossary.meaning("lift")

    assert before is not None
    assert after is not None
    assert (before.definition, after.definition) == (LIFT, "Brighten the eyes")


def test_only_the_end_of_a_log_is_read_where_it_has_grown(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    write_scope(tmp_path, TWO_LIFTS)
    runtime = runtime_in(tmp_path)
    for _ in range(10):
        runtime.run(step(critical=False))
    runtime.load()
    (log,) = log_files(runtime.logs)
    sizes: list[int] = []
    read = following._from

    def counting(file: BinaryIO, place: int) -> bytes:
        content = read(file, place)
        sizes.append(len(content))
        return content

    monkeypatch.setattr(following, "_from", counting)
    whole = log.stat().st_size
    runtime.run(step(), ask=answering(Select(0))[0])
    runtime.load()

    assert 0 < sum(sizes) < whole / 2
