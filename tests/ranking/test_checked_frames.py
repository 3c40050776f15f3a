"""A frame that lacks a column is refused by name, whatever function it is given to."""

from collections.abc import Callable
from types import SimpleNamespace

import polars as pl
import pytest

from builders.ranking import by_surface, ranked, records
from vocabgap.errors import InvalidInputError
from vocabgap.model.lookup import find_capability
from vocabgap.model.tables import GAPS
from vocabgap.ranking.capabilities import rank
from vocabgap.ranking.combinations import recurring_sets
from vocabgap.ranking.coverage import covered
from vocabgap.ranking.drafting import draft
from vocabgap.ranking.identity import default_identities
from vocabgap.ranking.screening import screen
from vocabgap.ranking.vocabulary import Vocabulary

RECORDS = records([{}])
CAPABILITIES = ranked([{}])


@pytest.mark.parametrize(
    ("name", "column"),
    [
        ("records", "notes"),
        ("corpus", "notes"),
        ("wordings", "surface"),
        ("clusters", "label"),
        ("identities", "since"),
    ],
)
def test_a_ranking_checks_its_frames(name: str, column: str) -> None:
    groups = by_surface(RECORDS)
    frames = {
        "records": RECORDS,
        "corpus": RECORDS,
        "wordings": groups.wordings,
        "clusters": groups.clusters,
        "identities": default_identities(groups.clusters),
    }
    frames[name] = frames[name].drop(column)
    clusters = SimpleNamespace(wordings=frames.pop("wordings"), clusters=frames.pop("clusters"))

    with pytest.raises(InvalidInputError, match=f"column '{column}' is missing"):
        rank(frames.pop("records"), clusters, **frames)  # type: ignore[arg-type]


@pytest.mark.parametrize(
    ("use", "frame", "column"),
    [
        (lambda frame: covered(frame, Vocabulary()), CAPABILITIES, "variants"),
        (lambda frame: draft("lamp glow", frame), CAPABILITIES, "pinned"),
        (lambda frame: draft("lamp glow", CAPABILITIES, gaps=frame), GAPS.empty(), "counted"),
        (lambda frame: find_capability(frame, "lamp glow"), CAPABILITIES, "variants"),
        (recurring_sets, RECORDS, "session_id"),
        (screen, GAPS.empty(), "rule"),
    ],
)
def test_what_reads_a_table_checks_its_columns(
    use: Callable[[pl.DataFrame], object], frame: pl.DataFrame, column: str
) -> None:
    with pytest.raises(InvalidInputError, match=f"column '{column}' is missing"):
        use(frame.drop(column))
