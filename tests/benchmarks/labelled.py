"""Reads records whose true groups are known: gap logs, public phrases, and pairs of wordings.

`data/SOURCES.md` says where the project's own come from.
"""

import json
import random
from collections.abc import Iterable, Mapping, Sequence
from itertools import islice
from pathlib import Path
from typing import Final, NamedTuple

import numpy as np
import polars as pl

from benchmarks.wordings import draw
from vocabgap.linkage import IntArray
from vocabgap.model.tables import RECORDS, phrase

OWN: Final = Path(__file__).parent / "data"
FIELDS: Final = ("missing_capability", "description", "intent", "workaround", "operations_involved")
DRAWN_NEEDS: Final = 200
MOST_NEEDS: Final = 130  # of a gap-shaped sample


class Labelled(NamedTuple):
    """Records, and the number of the true group of each.

    Attributes:
        records: The fields of a record that are known; one row each.
        texts: The phrase of each record.
        truth: Its true group, shape (records,).
    """

    records: pl.DataFrame
    texts: list[str]
    truth: IntArray


class Pair(NamedTuple):
    """Two wordings, and the part of their file: a `tuning` one, or one `held-out` from all fitting."""

    left: str
    right: str
    part: str


def read_gaps(path: Path) -> Labelled:
    """A gap log with the need of each record in its field `label`.

    Raises:
        SystemExit: A line is no such record.
    """
    rows: list[dict[str, object]] = []
    labels = []
    with path.open(encoding="utf-8") as lines:
        for number, line in enumerate(filter(str.strip, lines), start=1):
            try:
                record = json.loads(line)
                labels.append(record["label"])
                rows.append({name: record.get(name) or None for name in FIELDS})
            except (ValueError, KeyError, AttributeError) as error:
                raise SystemExit(
                    f"{path}, record {number}: expected a JSON object with a label"
                ) from error
    return _labelled(rows, labels)


def read_phrases(path: Path, limit: int) -> Labelled:
    """The first lines of a labelled file, each text, tab, label; blank ones are left out.

    Raises:
        SystemExit: A line is not text, tab, label.
    """
    texts, labels = [], []
    with path.open(encoding="utf-8") as lines:
        for number, line in enumerate(islice(lines, limit or None), start=1):
            text, tab, label = line.strip().rpartition("\t")
            if line.strip() and not (tab and text.strip()):
                raise SystemExit(f"{path}, line {number}: expected text, tab, label")
            if tab:
                texts.append(text.strip())
                labels.append(label)
    return said(texts, labels)


def read_pairs(path: Path) -> list[Pair]:
    """Pairs of wordings, each left, tab, right, tab, part."""
    lines = path.read_text(encoding="utf-8").splitlines()
    return [Pair(*line.split("\t")) for line in lines]


def drawn(limit: int) -> Labelled:
    """A corpus drawn from lists of words, each wording as often as it came up."""
    corpus = draw(limit, DRAWN_NEEDS)
    lines = [
        (text, concept) for text, count, concept in zip(*corpus, strict=True) for _ in range(count)
    ]
    random.Random(0).shuffle(lines)
    texts, concepts = zip(*lines[:limit], strict=True)
    return said(texts, concepts)


def gap_shaped(data: Labelled, seed: int) -> Labelled:
    """Draw a log with as many mentions of each need as gap logs have: seven needs in ten come once."""
    texts_of: dict[int, list[str]] = {}
    for text, need in zip(data.texts, data.truth.tolist(), strict=True):
        texts_of.setdefault(need, []).append(text)
    draw = random.Random(seed)
    needs = draw.sample(sorted(texts_of), min(MOST_NEEDS, len(texts_of)))
    often = round(0.3 * len(needs))
    lines = []
    for place, need in enumerate(needs):
        mentions = round(2 + 11 * (1 - place / often) ** 2) if place < often else 1
        texts = list(dict.fromkeys(texts_of[need]))
        lines += [(text, need) for text in draw.sample(texts, min(mentions, len(texts)))]
    draw.shuffle(lines)
    return said(*zip(*lines, strict=True))


def said(texts: Sequence[str], labels: Iterable[object]) -> Labelled:
    """Records that say nothing but a phrase."""
    return _labelled([{"missing_capability": text} for text in texts], labels)


def numbered(names: Iterable[object]) -> IntArray:
    """Names to numbers, in the order in which they first come."""
    numbers: dict[object, int] = {}
    return np.array([numbers.setdefault(name, len(numbers)) for name in names], np.int64)


def _labelled(rows: Sequence[Mapping[str, object]], labels: Iterable[object]) -> Labelled:
    schema = {name: RECORDS.schema[name] for name in FIELDS}
    records = pl.DataFrame(
        [{name: row.get(name) for name in FIELDS} for row in rows], schema=schema
    )
    return Labelled(records, records.select(phrase()).to_series().to_list(), numbered(labels))
