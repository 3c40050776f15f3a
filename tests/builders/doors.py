"""A workspace with a need of each kind, to compare what different doors tell about it."""

import json
from datetime import datetime
from pathlib import Path
from typing import Any, Final

from builders import gap, write_corpus
from vocabgap.listing.deciding import Decisions
from vocabgap.model.settings import DecisionSettings, RankSettings, Settings, VocabularySettings
from vocabgap.pipeline import Run, run

PRESENT: Final = "2026-07-01T00:00:00Z"
NEEDS: Final = (
    "halo repair", "sky mask", "film grain", "lens flare", "noise reduction", "perspective warp",
)  # fmt: skip
"""The open needs in order: pinned, existing, claimed, unrated, old but failed, and recent."""
_ASKED: Final = {
    "sky mask": (6, None, "2026-05-01"),
    "film grain": (5, None, "2026-05-01"),
    "lens flare": (4, None, "2026-05-01"),
    "tiff export": (4, None, "2026-05-01"),
    "noise reduction": (3, -1, "2026-04-02"),
    "perspective warp": (3, 1, "2026-06-30"),
    "halo repair": (2, None, "2026-05-01"),
    "undo crop": (1, None, "2026-06-30"),
}
_ENTRY: Final = {"name": "sky_mask", "description": "Masks the sky.", "tags": ["sky", "mask"]}


def each_kind(folder: Path) -> Path:
    """Writes the logs, and a vocabulary beside them."""
    (folder / "vocabulary.json").write_text(json.dumps({"entries": [_ENTRY]}), encoding="utf-8")
    images: dict[str, list[dict[str, Any]]] = {
        f"{need}-{number}": [
            gap(
                need,
                timestamp=f"{day}T10:00:00Z",
                satisfaction=rating,
                session_id=f"{need} {number}",
            )
        ]
        for need, (often, rating, day) in _ASKED.items()
        for number in range(often)
    }
    return write_corpus(folder, images)


def decided_and_ranked(folder: Path, **rank: Any) -> Run:  # noqa: ANN401 - settings of the ranking
    """Publishes two runs: people decide about the first, and the second follows them."""
    settings = Settings(
        decisions=DecisionSettings(file=str(folder / "decisions.jsonl")),
        rank=RankSettings(**{"min_images": 2, **rank}),
        vocabulary=VocabularySettings(paths=(str(folder / "vocabulary.json"),)),
    )
    root, out = each_kind(folder), folder / "out"
    run(root, out, settings=settings, now=datetime.fromisoformat(PRESENT))
    decide = Decisions(out, folder / "decisions.jsonl", actor="ana")
    decide.pin("halo repair")
    decide.claim("film grain")
    decide.dismiss("tiff export", why="not ours")
    return run(root, out, settings=settings, now=datetime.fromisoformat(PRESENT))
