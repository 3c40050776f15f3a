"""What is read, with mistakes in it: each reader takes it, or says in an error of ours what is wrong."""

import random
import time
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Final

import polars as pl

from faults.verbs import decided
from vocabgap.decisions.record import read_decisions
from vocabgap.errors import VocabgapError
from vocabgap.ingest.scanning import scan
from vocabgap.model.loading import load_settings
from vocabgap.model.record import LOG_NAME
from vocabgap.reporting import manifest as run_manifest

LINES: Final = "lines of logs"
# A panic of Polars is no `Exception`, and neither is Ctrl-C, which is to end all of it.
UNFORESEEN: Final = (Exception, pl.exceptions.PanicException)
_AT_ONCE: Final = 5_000  # lines of a log
_MOST_MISTAKES: Final = 3  # in one text
_TOKENS: Final = (
    b"\0", b"\xff", b"\xef\xbb\xbf", b"\r", b"\t", b"\x0b", b"\x1b[31m", b"\xc2\x85", b"\xe2\x80\xa8",
    b'"', b"\\", b"\\ud800", b"\\u0000", b"'", b",", b":", b"-", b"#", b"\n", b" ", b"=", b".",
    b"null", b"true", b"NaN", b"Infinity", b"-0", b"1e999", b"0x1f", b"1:30:00", b"9" * 400, b"9" * 5_000,
    b"{", b"}", b"[", b"]", b"[" * 2_000, b'{"a":' * 2_000, b"- " * 500, b"{}", b"[]", b"''", b'""',
    b"&a ", b"*a", b"<<: *a", b"!!binary ", b"!!python/name:os.system ", b"|", b">", b"? ", b"---\n", b"%",
    b"2026-13-45", b"9999-12-31T23:59:60Z", b"0000-00-00", b"\xf0\x9f\x8c\x84", b"\xe2\x80\xae",
    b"A" * 3_000,
)  # fmt: skip
_SETTINGS: Final = Path(__file__).with_name("mutated.toml").read_bytes()


@dataclass(frozen=True)
class Reader:
    """What reads one kind of file.

    Attributes:
        file: Where it lies, from the current folder.
        valid: Contents without a mistake.
        read: Reads it; raises an error of ours where it cannot be meant.
    """

    kind: str
    file: Path
    valid: tuple[bytes, ...]
    read: Callable[[], object]


def core_readers() -> Iterator[Reader]:
    """Yield the core's readers of single files, each in its own folder; a verb has written what they read."""
    decided()
    here, settings, decisions = Path(), Path("mine.toml"), Path("some.jsonl")
    yield Reader("settings", settings, (_SETTINGS,), lambda: load_settings(settings))
    yield Reader(
        "decisions", decisions, contents("decisions.jsonl"), lambda: read_decisions(decisions)
    )
    runs = contents("out/run.json")
    yield Reader(
        "manifests of runs", Path("run.json"), runs, lambda: run_manifest.read_manifest(here)
    )


def contents(*paths: str) -> tuple[bytes, ...]:
    """Read whole files."""
    return tuple(Path(path).read_bytes() for path in paths)


def mutant(chance: random.Random, valid: Sequence[bytes]) -> bytes:
    """Return a valid text with a few mistakes in it."""
    text = bytearray(chance.choice(valid))
    for _ in range(chance.randint(1, _MOST_MISTAKES)):
        start = chance.randint(0, len(text))
        end = min(len(text), start + chance.randint(0, 24))
        match chance.randrange(6):
            case 0 if text:
                text[start % len(text)] ^= 1 << chance.randrange(8)
            case 1:
                del text[start:]
            case 2:
                del text[start:end]
            case 3:
                text[start:start] = text[start:end] * chance.randint(1, 40)
            case 4:
                other = chance.choice(valid)
                text[start:] = other[chance.randint(0, len(other)) :]
            case _:
                text[start:end] = chance.choice(_TOKENS)
    return bytes(text)


def attack(reader: Reader, count: int, seed: int) -> tuple[list[str], float]:
    """Has a reader read so many mutants; gives what it did wrong, and the CPU seconds of the slowest."""
    chance = random.Random(f"{reader.kind} {seed}")  # noqa: S311 - the same each time
    problems, longest = [], 0.0
    reader.file.parent.mkdir(exist_ok=True)
    for number in range(count):
        content = mutant(chance, reader.valid)
        reader.file.write_bytes(content)
        started = time.process_time()
        try:
            reader.read()
        except VocabgapError as error:
            if error.exit_code == 1:
                problems.append(f"{reader.kind} {seed} {number}: {error}: {content!r}")
        except UNFORESEEN as error:
            problems.append(f"{reader.kind} {seed} {number}: {error!r}: {content!r}")
        longest = max(longest, time.process_time() - started)
    return problems, longest


def attack_lines(count: int, seed: int) -> tuple[list[str], float]:
    """Scan lines of logs with mistakes; return the problems and the slowest scan."""
    chance = random.Random(f"{LINES} {seed}")  # noqa: S311 - as above
    valid = _lines()
    problems, longest = [], 0.0
    log = Path("logs", "heron", LOG_NAME)
    log.parent.mkdir(parents=True, exist_ok=True)
    for start in range(0, count, _AT_ONCE):
        content = b"\n".join(mutant(chance, valid) for _ in range(min(_AT_ONCE, count - start)))
        log.write_bytes(content)
        started = time.process_time()
        try:
            found = scan("logs").summary
        except UNFORESEEN as error:
            problems.append(f"{LINES} {seed} {start}: {error!r}")
            continue
        longest = max(longest, time.process_time() - started)
        there = sum(bool(line.strip(b" \t\r\x0b\x0c")) for line in content.split(b"\n"))
        parts = found.records + found.duplicates + found.superseded + found.rejects
        if not parts == found.lines == there:
            problems.append(
                f"{LINES} {seed} {start}: {there} lines, {found.lines} told, {parts} in its parts"
            )
    return problems, longest


def _lines() -> tuple[bytes, ...]:
    digest = b"a" * 64
    common = b'"timestamp":"2026-06-18T10:07:00Z","image_id":"heron","session_id":"s-1","snapshot_hash":"%s"'
    fields = (
        b'"description":"no mask of the sky","workaround":"a brush","satisfaction":-1',
        b'"missing_capability":"film grain","operations_involved":["grain"],"vocabulary_used":[]',
        b'"intent":"calmer","intent_category":"tone","notes":"corrects %s"' % digest,
    )
    other = b'{"timestamp":"2026-06-18","description":"dodge","workaround":"","satisfaction":"bad"}'
    return (*(b"{%s,%s}" % (common % digest, each) for each in fields), other)
