"""The part of the corpus in what is attacked."""

import shutil
from collections.abc import Iterator
from pathlib import Path
from typing import Final

from builders import gap, write_corpus
from faults.flips import Damaged
from faults.mutants import Reader, contents
from faults.verbs import Entrance, Verb, Writer, did
from vocabgap.corpus.backups import read_records
from vocabgap.corpus.store import Store
from vocabgap.corpus.version import LOCK, read_manifest

NORTH: Final = ("--tenant", "north", "--repo", "photos")


def pushed() -> None:
    """Write a corpus of two repositories with deleted rows, and a new repository and backup."""
    for repo in ("old", "new", "gone"):
        images = {
            f"{repo}-{n}": [gap(f"{repo} need {n}"), gap(f"{repo} wish {n}")] for n in range(3)
        }
        write_corpus(Path.cwd(), images, name=repo)
    did("corpus", "push", "gone", "--tenant", "south", "--repo", "gone", "--corpus", "elsewhere")
    did("corpus", "export", "backup.jsonl.zst", "--corpus", "elsewhere")
    did("corpus", "push", "old", *NORTH, "--snapshot")
    did("corpus", "push", "gone", "--tenant", "north", "--repo", "gone")
    did("corpus", "forget", "--tenant", "north", "--path", "old-0", "--yes")
    shutil.rmtree("gone")


def state() -> object:
    """All that a corpus says of itself, but how it lies on the disk."""
    version = Store(Path("corpus")).version()
    rows = version.rows().drop("metadata", "ingested_at").sort("id").rows()
    snapshots = version.table("paths").drop("updated_at").rows()
    assert version.measures.rows == len(rows)
    forgotten = version.table("forgotten").height
    return rows, snapshots, forgotten, sorted(version.config_versions.items())


def _verb(verb: str, *arguments: str, changes: bool = True) -> Verb:
    lock = "corpus/writer.lock"
    return Verb(f"corpus {verb}", ("corpus", verb, *arguments), pushed, state, lock, "new", changes)


VERBS: Final = (
    _verb("push", "new", *NORTH, "--snapshot", "--yes"),
    _verb("forget", "--tenant", "north", "--path", "old-1", "--yes"),
    _verb("compact", changes=False),
    _verb("restore", "backup.jsonl.zst"),
)


def put(text: str) -> str:
    """Push a folder whose name is the text."""
    name = text.replace(" ", "-")
    write_corpus(Path.cwd(), {"heron": [gap(f"need {text}")]}, name=name)
    did("corpus", "push", name, "--tenant", "east", "--repo", name)
    return name


def repositories() -> list[str]:
    """Return the repositories of which the corpus has rows."""
    return [*Store(Path("corpus")).version().rows()["repo_slug"].unique()]


_PUSH: Final = ("corpus", "push")
ENTRANCES: Final = {
    "manifests of corpora": Entrance("corpus/manifest.json", "json", ("corpus", "status"), pushed),
    "backups": Entrance("b.jsonl", "jsonl", ("corpus", "restore", "b.jsonl"), pushed),
    "payloads": Entrance("load.json", "json", (*_PUSH, "load.json", *NORTH), pushed),
    "payloads of a pipe": Entrance("", "json", (*_PUSH, "-", *NORTH), pushed),
}
WRITERS: Final = (Writer("corpus push", pushed, put, repositories, 2),)
READING: Final = (
    ("corpus", "status"),
    ("corpus", "list"),
    ("corpus", "export", "again.jsonl"),
    ("list", "."),
)


def readers() -> Iterator[Reader]:
    """Yield the readers of a manifest and of a backup."""
    pushed()
    manifest, backup = Path("manifest.json"), Path("one.jsonl")
    whole = contents("corpus/manifest.json")
    yield Reader("manifests of corpora", manifest, whole, lambda: read_manifest(Path()))
    vector = (
        b'{"id":"c-%d","embedding":[0.5,0.25],"metadata":{"kind":"note","n":%d},"document":"sky"}\n'
    )
    valid = tuple(vector % (n, n) * 2 for n in range(3))
    yield Reader("backups", backup, valid, lambda: [*read_records(backup)])


def digested() -> Iterator[Damaged]:
    """Yield a corpus and its backup."""
    pushed()
    did("corpus", "export", "all.jsonl.zst")
    corpus, backup = Path("corpus"), Path("all.jsonl.zst")
    files = [path for path in corpus.iterdir() if path.name != LOCK]
    # What the manifest alone says, too: a number that is taken again would be written over.
    yield Damaged("corpus", files, lambda: (state(), read_manifest(corpus)))
    yield Damaged("backup", [backup], lambda: [*read_records(backup)])
