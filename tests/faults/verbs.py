"""The verbs that are attacked: what each finds, what it does, and what may stand there afterwards."""

import hashlib
import json
import shutil
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Final

from builders import gap, write_corpus
from builders.command import vocabgap
from vocabgap.corpus.store import open_store
from vocabgap.decisions.record import read_decisions
from vocabgap.glossary.loading import read_events
from vocabgap.glossary.questions import answers_of
from vocabgap.ingest.scanning import scan
from vocabgap.model.record import LOG_NAME
from vocabgap.reporting.history import history
from vocabgap.reporting.published_run import read_run

NORTH: Final = ("--tenant", "north", "--repo", "photos")
SEED: Final = "terms:\n  - surface: lift\n    definition: {}\n"


@dataclass(frozen=True)
class Verb:
    """A command line that is attacked, in a folder of its own.

    Attributes:
        prepare: Makes what it finds, in the current folder.
        state: What stands there by its readers; raises where they find anything half.
        lock: What it locks, which another process may hold.
        logs: The folder of logs that it reads, of which it passes over what it cannot read.
    """

    name: str
    arguments: tuple[str, ...]
    prepare: Callable[[], None]
    state: Callable[[], object]
    lock: str
    logs: str = "-"


def did(*arguments: str) -> None:
    """Run a command that has to succeed."""
    told = vocabgap(*arguments)
    assert told.code == 0, told.err


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
    needs = [("mask of the sky", day) for day in range(4)] + [("grain of film", day) for day in range(4)]
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


def pushed() -> None:
    """Write a corpus of two repositories with deleted rows, and a new repository and backup."""
    for repo in ("old", "new", "gone"):
        images = {f"{repo}-{n}": [gap(f"{repo} need {n}"), gap(f"{repo} wish {n}")] for n in range(3)}
        write_corpus(Path.cwd(), images, name=repo)
    did("corpus", "push", "gone", "--tenant", "south", "--repo", "gone", "--corpus", "elsewhere")
    did("corpus", "export", "backup.jsonl.zst", "--corpus", "elsewhere")
    did("corpus", "push", "old", *NORTH, "--snapshot")
    did("corpus", "push", "gone", "--tenant", "north", "--repo", "gone")
    did("corpus", "forget", "--tenant", "north", "--image", "old-0", "--yes")
    shutil.rmtree("gone")


def corpus_state() -> object:
    """All that a corpus says of itself, but how it lies on the disk."""
    version = open_store("corpus").version()
    rows = version.rows().drop("metadata", "ingested_at").sort("id").rows()
    snapshots = sorted((each.repository, each.paths) for each in version.snapshots)
    assert version.measures.rows == len(rows)
    forgotten = version.table("forgotten").height
    return rows, snapshots, forgotten, sorted(version.config_versions.items())


def log_state() -> object:
    found = scan("photos")
    assert found.rejects.is_empty(), "a line is half there"
    return sorted(found.gaps["description"])


def decisions_state() -> object:
    return [(each.action.value, each.reason) for each in read_decisions(Path("decisions.jsonl"))]


def disputed() -> None:
    """Write a glossary with two meanings of a word, and an open question about it."""
    folder = Path(".vocabgap", "glossary")
    folder.mkdir(parents=True)
    for scope, definition in (("team_domain", "Brighten the shadows"), ("audience_domain", "Remove a stain")):
        (folder / f"{scope}.yaml").write_text(SEED.format(definition), encoding="utf-8")
    told = vocabgap("glossary", "check", "--text", "Please lift it.", "--critical", "--mission", "retouch")
    assert told.code == 4, told.err


def glossary_state() -> object:
    read = read_events(Path(".vocabgap", "glossary", "events"))
    assert not read.skipped, "an event is half there"
    return [
        (each.term, each.definition, each.status.value)
        for each in answers_of(each.event for each in read.events)
    ]


def _corpus(verb: str, *arguments: str) -> Verb:
    lock = "corpus/writer.lock"
    return Verb(f"corpus {verb}", ("corpus", verb, *arguments), pushed, corpus_state, lock, "new")


LOG_ARGUMENTS: Final = ("-d", "film scratches", "--timestamp", "2026-06-01T00:00:00Z")
VERBS: Final = (
    Verb(
        "report",
        ("report", "photos", "--now", "2026-07-08"),
        reported,
        report_state,
        ".",
        "photos",
    ),
    Verb("log", ("log", "photos/heron", *LOG_ARGUMENTS), photos, log_state, f"photos/heron/{LOG_NAME}"),
    Verb(
        "decide",
        ("decide", "dismiss", "film grain", "--why", "not ours", "--now", "2026-07-03"),
        decided,
        decisions_state,
        "decisions.jsonl",
    ),
    _corpus("push", "new", *NORTH, "--snapshot", "--yes"),
    _corpus("forget", "--tenant", "north", "--image", "old-1", "--yes"),
    _corpus("compact"),
    _corpus("restore", "backup.jsonl.zst"),
    Verb(
        "glossary resolve",
        ("glossary", "resolve", "lift", "--select", "1"),
        disputed,
        glossary_state,
        ".vocabgap/glossary/events/writer.lock",
    ),
)
