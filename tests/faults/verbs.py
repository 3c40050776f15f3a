"""The core's verbs that are attacked: what each finds, what it does, and what may stand there afterwards."""

import hashlib
import io
import json
import sys
import tomllib
from collections.abc import Callable, Iterable
from dataclasses import dataclass
from mmap import PAGESIZE
from pathlib import Path
from typing import Final

import msgspec
import pytest

from builders import gap, write_corpus
from builders.command import CommandResult, vocabgap
from vocabgap.decisions.record import read_decisions
from vocabgap.ingest.scanning import scan
from vocabgap.listing.deciding import Decisions
from vocabgap.logbook.log import log_gap
from vocabgap.model.record import LOG_NAME
from vocabgap.reporting.history import history
from vocabgap.reporting.published_run import read_run


@dataclass(frozen=True)
class Verb:
    """A command line that is attacked, in a folder of its own.

    Attributes:
        prepare: Makes what it finds, in the current folder.
        state: What stands there by its readers; raises where they find anything half.
        lock: What it locks, which another process may hold; empty for nothing.
        logs: The folder of logs that it reads, of which it passes over what it cannot read.
        changes: Whether its readers see that it has run.
        typed: What a person types at its terminal.
    """

    name: str
    arguments: tuple[str, ...]
    prepare: Callable[[], None]
    state: Callable[[], object]
    lock: str
    logs: str = "-"
    changes: bool = True
    typed: str = ""

    def run(self) -> CommandResult:
        """Run it once, in this process and in the current folder."""
        with pytest.MonkeyPatch.context() as patch:
            patch.setattr(sys, "stdin", Typed(self.typed))
            return vocabgap(*self.arguments)


class Typed(io.StringIO):
    """The keyboard of a terminal."""

    def isatty(self) -> bool:
        return True


def did(*arguments: str) -> None:
    """Run a command that has to succeed."""
    result = vocabgap(*arguments)
    assert result.code == 0, result.err


def photos() -> None:
    write_corpus(
        Path.cwd(),
        {
            "fjord": [gap("sky mask"), gap("mask of the sky", timestamp="2026-05-02T00:00:00Z")],
            "heron": [gap("film grain", satisfaction=-1), gap("grain of film")],
        },
    )


def reported() -> None:
    """Publish a report, then add records that would give its capabilities other labels and identifiers."""
    photos()
    did("report", "photos", "--now", "2026-07-01")
    needs = [("mask of the sky", day) for day in range(4)] + [
        ("grain of film", day) for day in range(4)
    ]
    with Path("photos", "heron", LOG_NAME).open("a", encoding="utf-8") as log:
        for need, day in needs:
            print(json.dumps(gap(need, timestamp=f"2026-06-1{day}T00:00:00Z")), file=log)


def report_state() -> object:
    """Return what the published run holds, once all of its files are those of its manifest."""
    folder = Path("out")
    manifest, ranked = read_run(folder, option="--out")
    files = {each.name: each.sha256 for each in manifest.outputs}
    found = {name: hashlib.sha256((folder / name).read_bytes()).hexdigest() for name in files}
    assert found == files, f"{folder} is of several runs"
    ids = dict(ranked.select("label", "capability_id").iter_rows())
    return manifest.now, ids, files, history("out").height


def decided() -> None:
    photos()
    did("report", "photos", "--now", "2026-07-01")
    did("decide", "pin", "sky mask", "--now", "2026-07-02")


def in_doubt() -> None:
    """Add a need that may be the same as another one, so that a review has a question."""
    decided()
    log = Path("photos", "crane", LOG_NAME)
    log.parent.mkdir()
    log.write_bytes(msgspec.json.encode(gap("cloud mask tool")) + b"\n")


def log_state() -> object:
    found = scan("photos")
    assert found.rejects.is_empty(), "a line is half there"
    return sorted(found.gaps["description"])


def decisions_state() -> object:
    return [(each.action.value, each.reason) for each in read_decisions(Path("decisions.jsonl"))]


def settled() -> None:
    """Write the settings of an agent that already has entries of its own."""
    Path(".claude").mkdir()
    Path(".claude", "settings.json").write_text(
        '{"model": "large", "hooks": {"Stop": []}}', encoding="utf-8"
    )
    Path(".mcp.json").write_text(
        '{"mcpServers": {"files": {"command": "serve"}}}', encoding="utf-8"
    )


def setup_state() -> object:
    """Return whether all that `init` writes is there; each file is whole, and keeps what it had."""
    settings = msgspec.json.decode(Path(".claude", "settings.json").read_bytes())
    servers = msgspec.json.decode(Path(".mcp.json").read_bytes())["mcpServers"]
    assert settings["model"] == "large"
    assert servers["files"] == {"command": "serve"}
    own = Path("vocabgap.toml")
    if own.exists():
        tomllib.loads(own.read_text(encoding="utf-8"))
    return len(settings["hooks"]) > 1 and len(servers) > 1 and own.exists()


def baseline_state() -> object:
    file = Path("known.jsonl")
    return file.exists() and [msgspec.json.decode(line) for line in file.read_bytes().splitlines()]


def broken() -> None:
    photos()
    with Path("photos", "heron", LOG_NAME).open("a", encoding="utf-8") as log:
        print("{", "[]", sep="\n", file=log)


LOG_ARGUMENTS: Final = ("-d", "film scratches", "--timestamp", "2026-06-01T00:00:00Z")
_REPORT: Final = ("report", "photos", "--now", "2026-07-08")
_LOG: Final = ("log", "photos/heron", *LOG_ARGUMENTS)
_DISMISS: Final = ("decide", "dismiss", "film grain", "--why", "not ours", "--now", "2026-07-03")
_REVIEW: Final = ("review", "photos", "--now", "2026-07-03")
_BASELINE: Final = ("check", "photos", "--baseline", "known.jsonl", "--write-baseline")
_RECORD: Final = "decisions.jsonl"
CORE: Final = (
    Verb("report", _REPORT, reported, report_state, ".", "photos"),
    Verb("log", _LOG, photos, log_state, f"photos/heron/{LOG_NAME}"),
    Verb("decide", _DISMISS, decided, decisions_state, _RECORD),
    Verb("review", _REVIEW, in_doubt, decisions_state, _RECORD, "photos", typed="\nq\n"),
    Verb("init", ("init", "--agent", "claude-code"), settled, setup_state, "."),
    Verb("render", ("render", "out"), decided, report_state, ".", changes=False),
    Verb("check", _BASELINE, broken, baseline_state, "", "photos"),
)


@dataclass(frozen=True)
class Writer:
    """What adds a line at each call.

    Attributes:
        add: Adds a line with a text, and returns the name of the line.
        present: The names of all lines; raises if one of them is torn.
        share: Of all lines, in hundredths.
    """

    name: str
    prepare: Callable[[], None]
    add: Callable[[str], str]
    present: Callable[[], Iterable[str]]
    share: int


def logged() -> list[str]:
    """Return the identifiers of the records of all logs.

    A bad line is one that a killed writer has begun: its last byte is the last one of a page.
    """
    found = scan("photos")
    for bad in found.rejects.iter_rows(named=True):
        end = bad["byte_offset"] + len(bad["raw"].encode())
        assert (bad["reason"], end % PAGESIZE) == ("invalid_json", 0), bad
    assert not found.summary.duplicates, "a line is there twice"
    return [*found.gaps["record_id"]]


WRITERS: Final = (
    Writer(
        "log_gap", photos,
        lambda text: log_gap("photos/heron", f"need {text}", workaround="a brush").gap_id,
        logged, 85,
    ),
    Writer(
        "decide", decided,
        lambda text: Decisions(actor="ana").rename("sky mask", f"need {text}").decision_id,
        lambda: [each.decision_id for each in read_decisions(Path("decisions.jsonl"))], 7,
    ),
)  # fmt: skip


@dataclass(frozen=True)
class Entrance:
    """A file that a command reads, besides logs.

    Attributes:
        file: Its path; empty if the command reads standard input.
        suffix: The ending of its name, which tells the bombs that fit.
    """

    file: str
    suffix: str
    command: tuple[str, ...]
    prepare: Callable[[], object] = decided


_WITH_BASELINE: Final = _BASELINE[:-1]
ENTRANCES: Final = {
    "settings": Entrance("vocabgap.toml", "toml", ("status",)),
    "decisions": Entrance("decisions.jsonl", "jsonl", ("decisions", "list")),
    "decisions that are added to": Entrance("decisions.jsonl", "jsonl", _DISMISS),
    "decisions of a page": Entrance("mine.jsonl", "jsonl", ("decide", "apply", "mine.jsonl")),
    "decisions of a pipe": Entrance("", "jsonl", ("decide", "apply", "-")),
    "baselines": Entrance("known.jsonl", "jsonl", _WITH_BASELINE),
    "baselines that are written": Entrance("known.jsonl", "jsonl", _BASELINE),
    "vocabularies in JSON": Entrance(
        "words.json", "json", ("report", "photos", "--vocabulary", "words.json")
    ),
    "vocabularies in JSON Lines": Entrance(
        "words.jsonl", "jsonl", ("report", "photos", "--vocabulary", "words.jsonl")
    ),
    "vocabularies in YAML": Entrance(
        "words.yaml", "yaml", ("report", "photos", "--vocabulary", "words.yaml")
    ),
    "manifests of runs": Entrance("out/run.json", "json", ("render", "out")),
    "tables of runs": Entrance("out/capabilities.parquet", "parquet", ("render", "out")),
    "issues": Entrance("known.json", "json", ("issues", "known.json")),
    "hooks": Entrance("", "json", ("hook", "cursor")),
    "settings of agents": Entrance(
        ".claude/settings.json", "json", ("init", "--agent", "claude-code")
    ),
    "logs of a pipe": Entrance("", "jsonl", ("check", "-")),
    "requests of a client": Entrance("", "jsonl", ("mcp", "photos")),
    "spools of logs": Entrance(
        f"photos/heron/.vocabulary_gaps.jsonl.{1:032x}.spool", "jsonl", _LOG
    ),
}
