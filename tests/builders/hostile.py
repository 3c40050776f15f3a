"""Workspaces in which every text that a person or an agent can write is a hostile one.

They all have one shape: what is made of them differs in the texts alone.
"""

import json
import re
import unicodedata
from collections.abc import Sequence
from datetime import UTC, datetime
from pathlib import Path
from typing import Any, Final

import msgspec
import pytest

from builders.command import vocabgap
from vocabgap.decisions.record import Action, Decision, decide, subject
from vocabgap.errors import ExitCode
from vocabgap.model.loading import load_settings
from vocabgap.model.record import LOG_NAME
from vocabgap.pipeline import Run, run

NOW: Final = datetime(2026, 7, 1, tzinfo=UTC)
OWN: Final = Path(__file__).parents[1] / "data" / "hostile.json"
PUBLISHED: Final = Path(__file__).parents[3] / "shared" / "data" / "hostile" / "blns.json"
UNSEEN: Final = frozenset({"Cc", "Cf", "Cs", "Co", "Cn", "Zl", "Zp"})
NAME_BYTES: Final = 100
NOT_UTF_8: Final = "\udcff"  # stands for a byte of a name that is none
LETTERS: Final = re.compile("[A-Za-z]+")
DIGITS: Final = re.compile("[0-9]+")

Dressed = tuple[list[Path], Path]  # the roots, and the settings file that a report about them needs


def hostile_texts(kind: str) -> list[str]:
    """Our own list of what is used against Markdown, browsers and terminals; or a well-known one.

    Of texts of that one that differ in ASCII letters and digits alone, the first stands for all.
    """
    if kind == "own":
        return [
            text for each in json.loads(OWN.read_text(encoding="utf-8")).values() for text in each
        ]
    if not PUBLISHED.exists():
        pytest.skip("the published list of naughty strings is not beside the project")
    texts: dict[str, str] = {}
    for text in json.loads(PUBLISHED.read_text(encoding="utf-8")):
        texts.setdefault(DIGITS.sub("0", LETTERS.sub("a", text)), text)
    return list(texts.values())


def published(folder: Path, workspace: Dressed) -> Run:
    """Run the pipeline over a workspace of hostile texts."""
    roots, config = workspace
    return run(roots, folder / "out", settings=load_settings(config), config=config, now=NOW)


def benign_and_hostile(folder: Path, fields: Sequence[str]) -> tuple[Run, Run]:
    """Two runs: over texts that nothing could mistake for anything else, and over the hostile ones."""
    benign = [f"kind{number} " for number in range(len(fields))]
    one, other = (
        published(folder / name, dressed(folder / name, texts))
        for name, texts in (("benign", benign), ("hostile", fields))
    )
    return one, other


def told(*arguments: str | Path, code: int = ExitCode.DONE) -> str:
    """Run a command line, check its exit code and its characters, and return its output."""
    given, printed, noted = vocabgap(*arguments)
    assert given == code, noted
    assert not unseen(printed + noted)
    return printed + noted


def unseen(text: str) -> set[str]:
    """Return the characters of a text that a terminal or a reader would obey without seeing them.

    Of joiners and selectors only those that no letter or emoji needs: the lists have few that do.
    """
    found = {each for each in set(text) if unicodedata.category(each) in UNSEEN} - {"\n"}
    return (found - set("\u200c\u200d")) | set(
        re.findall(
            r"(?=[\u200c\u200d\ufe0f])(?:(?<=[\0-\u04ff])|^)(?:[\u200c\u200d]|\ufe0f(?!\u20e3))",
            text,
        )
    )


def put(text: str, number: int, word: str) -> str:
    """Return a field that begins and ends with the text, and has words of its own."""
    return f"{text}q{number}q need{number} {word}{number} q{number}q{text}"


def piled(texts: list[str], size: int) -> list[str]:
    return [" \n".join(texts[start : start + size]) for start in range(0, len(texts), size)]


def dressed(folder: Path, texts: Sequence[str]) -> Dressed:
    """Write a workspace: for each text a root, two logs of good and bad lines, an entry, and decisions."""
    decisions, roots = [], []
    for number, text in enumerate(texts):
        root = folder / "roots" / _name(text, number)
        again, *lines = _lines(text, number)
        image = root / _name(text, number)
        for log, written in (
            (image / LOG_NAME, lines),
            (image / _name(text, number) / LOG_NAME, [again]),
        ):
            log.parent.mkdir(parents=True)
            log.write_bytes(b"\n".join([*written, b""]))
        roots.append(root)
        decisions += _decisions(text, number)
    held = folder / "decisions.jsonl"
    held.write_bytes(b"\n".join(map(msgspec.json.encode, decisions)))
    listed = folder / "vocabulary.json"
    listed.write_text(json.dumps({"name": texts[0], "entries": _entries(texts)}), encoding="utf-8")
    config = folder / "mine.toml"
    config.write_text(_settings(texts, listed, held), encoding="utf-8")
    return roots, config


def _lines(text: str, number: int) -> list[bytes]:
    def record(need: str, image: int, **fields: object) -> bytes:
        said = {
            "timestamp": f"2026-04-0{image}T10:00:00Z",
            "image_id": put(text, number, f"image {image} "),
            "session_id": put(text, number, f"session {image} "),
            "snapshot_hash": put(text, number, "state"),
            "missing_capability": put(text, number, need),
            "description": put(text, number, "described"),
            "workaround": put(text, number, "by hand"),
            "intent_category": put(text, number, "category"),
            "operations_involved": [
                put(text, number, word) for word in ("blur", "crop", "grain", "tone")
            ],
            "vocabulary_used": [put(text, number, word) for word in ("warm", "cold")],
            "satisfaction": -1,
            "notes": put(text, number, "noted"),
            text: text,
        }
        return json.dumps(said | fields).encode()

    return [
        record("open", 1, intent=put(text, number, "wanted")),
        record("open", 2),
        record("covered", 3),
        record("dismissed", 4),
        record("authored", 5, timestamp=text),
        record("bad", 6, satisfaction=1, operations_involved=[{text: text}]),
        b"{" + text.encode("utf-8", "surrogatepass"),
    ]


def _decisions(text: str, number: int) -> list[Decision]:
    actor, reason = put(text, number, "ana").strip(), put(text, number, "because").strip()

    def decided(action: Action, need: str, **said: Any) -> Decision:  # noqa: ANN401 - passed on to decide
        wording = put(text, number, need).strip()
        about = subject(f"cap-{number:012x}", wording, [wording])
        return decide(action, about, actor=actor, time=NOW, reason=reason, **said)

    return [
        decided(Action.RENAME, "open", label=put(text, number, "renamed").strip()),
        decided(Action.PIN, "open"),
        decided(Action.DISMISS, "dismissed"),
        decided(Action.AUTHOR, "authored", entry=put(text, number, "entry").strip()),
    ]


def _entries(texts: Sequence[str]) -> list[dict[str, object]]:
    """Return an entry that covers a need of each text."""
    return [
        {
            "name": put(text, number, "covered"),
            "description": put(text, number, "does"),
            "tags": [put(text, number, "tag")],
            "touches": [put(text, number, "crop")],
        }
        for number, text in enumerate(texts)
    ]


def _settings(texts: Sequence[str], listed: Path, held: Path) -> str:
    """Return settings that merge no two needs, show every need, and cover those that are near."""
    aliases = (
        f"{_toml(put(text, number, 'spelt'))} = {_toml(text + 'x')}"
        for number, text in enumerate(texts)
    )
    ignored = ", ".join(_toml(put(text, number, "ignored")) for number, text in enumerate(texts))
    return "\n".join(
        [
            "[ingest]",
            "hidden = true",
            "[cluster]",
            "threshold = 0.0",
            f"stop_words = [{ignored}]",
            "[report]",
            "top = 0",
            "[vocabulary]",
            f"paths = [{_toml(str(listed))}]",
            "threshold = 0.0",
            "[decisions]",
            f"file = {_toml(str(held))}",
            "[aliases.operations]",
            *aliases,
        ]
    )


def _toml(text: str) -> str:
    return json.dumps(text.encode("utf-8", "replace").decode(), ensure_ascii=False).replace(
        "\x7f", "\\u007f"
    )


def _name(text: str, number: int) -> str:
    """Return the name of a folder: no slash, no NUL, and not too long."""
    allowed = text.replace("/", "\u2215").replace("\0", "\u2400").encode("utf-8", "replace")
    short = allowed[:NAME_BYTES].decode(errors="ignore")
    return f"{short}{number}{NOT_UTF_8}{short}"
