import fcntl
import os
import random
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path

import msgspec
import pytest

from builders.decisions import decided
from vocabgap.decisions.record import Decision, append_decisions, read_decisions
from vocabgap.errors import InvalidInputError, StateError
from vocabgap.files import locking


def append(path: Path, decision: Decision) -> None:
    append_decisions(path, [decision], lambda _: None)


# Waits for the other one, then appends what it reads.
APPEND = """
import sys
from pathlib import Path
import msgspec
from vocabgap.decisions.record import append_decisions
from vocabgap.decisions.record import Decision
decisions = msgspec.json.decode(sys.stdin.buffer.readline(), type=list[Decision])
print("ready", flush=True)
sys.stdin.buffer.readline()
for decision in decisions:
    append_decisions(Path(sys.argv[1]), [decision], lambda _: None)
"""


@pytest.fixture
def log(tmp_path: Path) -> Path:
    return tmp_path / "decisions.jsonl"


def test_the_order_of_lines_means_nothing(log: Path) -> None:
    for minute in range(8):
        append(log, decided("pin", ["sky mask"], minute=minute))
    before = read_decisions(log)
    lines = log.read_text().splitlines(keepends=True)
    random.Random(7).shuffle(lines)  # noqa: S311

    log.write_text("".join(lines))

    assert read_decisions(log) == before


def test_a_line_that_is_there_twice_counts_once(log: Path) -> None:
    made = decided("pin", ["sky mask"])
    append(log, made)
    log.write_bytes(log.read_bytes() * 2)

    assert read_decisions(log) == (made,)


@pytest.mark.parametrize(
    ("change", "message"),
    [
        (lambda line: line[:-20], r"decisions.jsonl:2: Input data was truncated"),
        (lambda line: line.replace('"actor":"ana"', '"actor":7'), r"decisions.jsonl:2: field 'actor': "),
        (lambda line: line.replace('"dec-', '"des-'), r"2: field 'decision_id': expected dec- and 12 hexade"),
        (lambda line: line.replace('"actor"', '"agent"'), r"decisions.jsonl:2: .*unknown field 'agent'"),
        (lambda line: line.replace('"pin"', '"pinn"'), r"decisions.jsonl:2: field 'action': .*'pinn'"),
        (lambda line: line.replace("T09:01:00Z", "T09:01:00"), r"decisions.jsonl:2: field 'time': "),
        (lambda line: line.replace('"pin"', '"merge"'), r"decisions.jsonl:2: merge needs field 'other'"),
        (lambda line: line.replace("sky", "\udcff"), r"decisions.jsonl:2: "),
    ],
)  # fmt: skip
def test_a_bad_line_is_named(log: Path, change: Callable[[str], str], message: str) -> None:
    append(log, decided("pin", ["sky mask"]))
    append(log, decided("pin", ["sky mask"], minute=1))
    first, second = log.read_text(encoding="utf-8").splitlines()

    log.write_text(f"{first}\n{change(second)}\n", encoding="utf-8", errors="surrogateescape")

    with pytest.raises(InvalidInputError, match=message):
        read_decisions(log)


def test_an_unresolved_merge_is_told(log: Path) -> None:
    append(log, decided("pin", ["sky mask"]))
    log.write_text("<<<<<<< HEAD\n" + log.read_text() + "=======\n>>>>>>> theirs\n")

    with pytest.raises(StateError, match=r"jsonl:1: a merge of two copies has unresolved conflict"):
        read_decisions(log)


def test_one_identifier_with_two_contents_is_told(log: Path) -> None:
    append(log, decided("pin", ["sky mask"], reason="first"))
    log.write_text(log.read_text() + log.read_text().replace("first", "changed"))

    with pytest.raises(StateError, match=r"jsonl:2: decision dec-\w+ differs from line 1"):
        read_decisions(log)


def test_a_refused_decision_leaves_the_file_as_it_was(log: Path) -> None:
    append(log, decided("pin", ["sky mask"]))
    before = log.read_bytes()

    def refuse(together: tuple[Decision, ...]) -> None:
        assert len(together) == 2
        raise StateError("no")

    with pytest.raises(StateError, match="no"):
        append_decisions(log, [decided("pin", ["film grain"])], refuse)

    assert log.read_bytes() == before


@pytest.mark.parametrize("action", [read_decisions, None])
def test_what_is_no_file_is_refused_without_waiting(
    log: Path, action: Callable[[Path], object] | None
) -> None:
    os.mkfifo(log)

    with pytest.raises(StateError, match="is a pipe, expected a regular file"):
        action(log) if action else append(log, decided("pin", ["sky mask"]))


def test_a_writer_who_never_ends_is_told_of_and_given_up(
    log: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(locking, "SILENT_WAIT", 0.1)
    monkeypatch.setattr(locking, "LONGEST_WAIT", 0.4)
    waits: list[bool] = []
    with log.open("a") as held:
        fcntl.flock(held, fcntl.LOCK_EX)

        pin = decided("pin", ["sky mask"])
        with pytest.raises(StateError, match=r"jsonl' is held by process \d+") as given_up:
            append_decisions(log, [pin], lambda _: None, lambda: waits.append(True))

    assert waits == [True]
    assert "decide again" in given_up.value.hint
    assert log.read_bytes() == b""


@pytest.mark.slow
def test_two_who_append_at_once_lose_nothing(log: Path) -> None:
    own = [
        [decided("pin", ["sky mask"], actor=actor, minute=minute) for minute in range(40)]
        for actor in ("ana", "bo")
    ]
    people = [
        subprocess.Popen(
            [sys.executable, "-c", APPEND, str(log)], stdin=subprocess.PIPE, stdout=subprocess.PIPE
        )
        for _ in own
    ]
    for person, decisions in zip(people, own, strict=True):
        assert person.stdin
        assert person.stdout
        person.stdin.write(msgspec.json.encode(decisions) + b"\n")
        person.stdin.flush()
        assert person.stdout.readline() == b"ready\n"
    for person in people:
        person.communicate(b"go\n")

    assert set(read_decisions(log)) == {*own[0], *own[1]}
    assert len(log.read_text().splitlines()) == 80


@pytest.mark.slow
def test_two_copies_that_git_merges_by_union_are_both_replayed(tmp_path: Path) -> None:
    common, ours, theirs = (
        decided("pin", ["sky mask"], actor=actor, minute=minute)
        for minute, actor in enumerate(("common", "ours", "theirs"))
    )
    repository = tmp_path / "corpus"
    repository.mkdir()
    log = repository / "decisions.jsonl"

    def git(*arguments: str) -> None:
        identity = [
            "-c",
            "user.name=ana",
            "-c",
            "user.email=ana@example.org",
            "-c",
            "commit.gpgsign=false",
        ]
        command = ["git", *identity, *arguments]
        subprocess.run(command, cwd=repository, check=True, capture_output=True)

    git("init", "--initial-branch=main")
    (repository / ".gitattributes").write_text("decisions.jsonl merge=union\n")
    append(log, common)
    git("add", ".")
    git("commit", "-m", "common")
    git("switch", "-c", "theirs")
    append(log, theirs)
    git("commit", "-am", "theirs")
    git("switch", "main")
    append(log, ours)
    git("commit", "-am", "ours")
    git("merge", "theirs")

    assert read_decisions(log) == (common, ours, theirs)
