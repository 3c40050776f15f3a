"""Draws records of which some capabilities are asked for far more often than others, and their groups."""

from datetime import UTC, datetime, timedelta
from functools import cache
from typing import Final, NamedTuple

import numpy as np
import polars as pl

from benchmarks.wordings import SINGLE
from vocabgap.model.tables import CLUSTERS, RECORDS, WORDINGS

NOW: Final = datetime(2026, 7, 1, tzinfo=UTC)
DAYS: Final = 200
LENGTHS: Final = {"logs": (11, 7, 5, 5), "easy": (4, 14, 8, 9)}  # words of each text
SENTENCES: Final = 5_000  # different ones of each length
WORDS: Final = (
    "shadow", "lift", "anchored", "black", "point", "sky", "selection", "mask", "separate", "white", "hue",
    "balance", "mixed", "light", "sources", "skin", "lock", "chroma", "denoise", "limited", "dark", "tones",
    "soft", "highlight", "roll", "off", "local", "sharpening", "eyes", "background", "blur", "depth",
)  # fmt: skip


class Groups(NamedTuple):
    """What the ranking needs to know of a clustering."""

    wordings: pl.DataFrame
    clusters: pl.DataFrame
    origins: tuple[tuple[int | None, str | None, str | None], ...] = ()


def sentence(rng: np.random.Generator, words: int) -> str:
    """Some words."""
    return " ".join(rng.choice(WORDS, size=words))


def make_corpus(
    capabilities: int, records: int, images: int, corpus: str = "logs"
) -> tuple[pl.DataFrame, Groups]:
    """Records of capabilities by Zipf's law, in a few wordings each, and their groups.

    In the corpus "logs", seven of ten have one record.
    """
    wording, description, intent, workaround = LENGTHS[corpus]
    rng = np.random.default_rng(records)
    shares = 1.0 / np.arange(1, capabilities + 1)
    if corpus == "logs":
        shares[int((1 - SINGLE) * capabilities) :] = 0.0
    wanted = rng.choice(capabilities, size=records, p=shares / shares.sum())
    wanted[:capabilities] = np.arange(capabilities)
    wanted.sort()
    spread = rng.geometric(0.25, size=records)
    worded = cache(
        lambda need, kind: f"{sentence(np.random.default_rng((need, kind)), wording)} {need} {kind}"
    )
    wordings = [worded(*each) for each in zip(wanted.tolist(), spread.tolist(), strict=True)]

    def said(words: int) -> list[str]:
        some = [sentence(rng, words) for _ in range(SENTENCES)]
        return [some[place] for place in rng.integers(0, SENTENCES, records)]

    image = rng.integers(0, images, size=records)
    frame = pl.DataFrame(
        {
            "timestamp": [
                NOW - timedelta(seconds=int(ago)) for ago in rng.integers(0, DAYS * 86_400, records)
            ],
            "image_id": [f"market-night-{number:06d}" for number in image],
            "session_id": [
                f"{number // 3:08x}-0f6b-4c6e-9d0a-52f0c7a1{number % 97:04x}" for number in image
            ],
            "snapshot_hash": [f"{number:064x}" for number in image],
            "missing_capability": wordings,
            "description": said(description),
            "intent": said(intent),
            "workaround": said(workaround),
            "operations_involved": [
                [f"operation {number % 40}", f"operation {number % 7}"] for number in image
            ],
            "satisfaction": [
                None if rated > 1 else rated for rated in rng.choice([-1, 0, 1, 2], records)
            ],
            "source_path": [f"market-night-{number:06d}/vocabulary_gaps.jsonl" for number in image],
            "line": np.arange(1, records + 1),
        }
    )
    same = {"intent_category": "tone", "notes": "", "count": 1}
    same |= {"tenant_id": "local", "repo_slug": "photos"}
    absent = [name for name in RECORDS.names if name not in frame.columns and name not in same]
    frame = frame.with_columns(
        *(pl.lit(value).alias(name) for name, value in same.items()),
        *(pl.lit(None).alias(name) for name in absent),
    )
    return frame.select(RECORDS.names).cast(RECORDS.schema), grouped(wordings, wanted)


def grouped(wordings: list[str], wanted: np.ndarray) -> Groups:
    """The groups of these wordings."""
    spoken = pl.DataFrame({"wording": wordings, "cluster": wanted})
    each = spoken.group_by("wording", "cluster", maintain_order=True).agg(
        pl.len().alias("mentions")
    )
    clusters = each.group_by("cluster", maintain_order=True).agg(
        pl.col("wording").first().alias("label"),
        pl.col("wording").first().alias("label_surface"),
        pl.len().alias("surfaces"),
        pl.col("mentions").sum(),
    )
    return Groups(
        each.with_columns(surface="wording", similarity=pl.lit(0.75))
        .select(WORDINGS.names)
        .cast(WORDINGS.schema),
        clusters.with_columns(
            cohesion=pl.lit(0.75), weakest_link=pl.lit(0.5), mentions_low="mentions",
            mentions_high="mentions", mixed=pl.lit(value=False),
        )
        .select(CLUSTERS.names)
        .cast(CLUSTERS.schema),
    )  # fmt: skip
