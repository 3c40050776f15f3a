"""A shared corpus as a plain dictionary: what pushes of raw text come to, told without a store."""

from datetime import datetime
from typing import Any, ClassVar

Key = tuple[str, str, str, str]


class Model:
    """Chunks by whose they are, where they lie and what they hold, with when each came.

    Attributes:
        chunks: (tenant, repository, path, content) to the moment.
        snapshots: (tenant, repository) to the paths and their moment.
    """

    COLUMNS: ClassVar = ("tenant_id", "repo_slug", "source_path", "content", "ingested_at")

    def __init__(self) -> None:
        self.chunks: dict[Key, datetime] = {}
        self.snapshots: dict[tuple[str, str], tuple[tuple[str, ...], datetime]] = {}

    def push(self, asked: dict[str, Any], now: datetime) -> tuple[int, int]:
        """Carry out a push; gives how many chunks were new and how many withdrawn."""
        scope = (asked["tenant"], asked["repo"])
        sent = {(*scope, piece["path"], piece["content"]) for piece in asked["pieces"]}
        withdrawn = {*asked["tombstones"], *(asked["boundary"] or ())}
        gone = [
            key
            for key in self.chunks
            if key[:2] == scope and key not in sent
            if key[2] in withdrawn or (asked["manifest"] is not None and key[2] not in asked["manifest"])
        ]
        new = [key for key in sent if key not in self.chunks]
        for key in gone:
            del self.chunks[key]
        self.chunks |= dict.fromkeys(new, now)
        if asked["manifest"] is not None:
            paths = tuple(sorted(set(asked["manifest"])))
            if new or gone or self.snapshots.get(scope, ((), now))[0] != paths or scope not in self.snapshots:
                self.snapshots[scope] = (paths, now)
        return len(new), len(gone)

    def rows(self) -> list[tuple[Any, ...]]:
        """The chunks as rows of `COLUMNS`, sorted."""
        return sorted((*key, moment) for key, moment in self.chunks.items())
