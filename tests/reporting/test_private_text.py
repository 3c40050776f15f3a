"""No text that is private leaves the machine: whatever the logs hold, and however often they hold it."""

import json
import re
from collections import defaultdict
from datetime import UTC, datetime, timedelta
from itertools import count
from pathlib import Path
from typing import Any

import polars as pl
import pytest
from hypothesis import HealthCheck, example, given, settings
from hypothesis import strategies as st

from builders import write_corpus
from vocabgap.files.parts import Parts
from vocabgap.listing.deciding import Decisions
from vocabgap.model.settings import (
    ClusterSettings,
    DecisionSettings,
    IngestSettings,
    ReportSettings,
    Settings,
    VocabularySettings,
)
from vocabgap.pipeline import Run, run
from vocabgap.reporting.page import render_page
from vocabgap.reporting.sharing import shareable
from vocabgap.reporting.wording import phrase

NOW = datetime(2026, 7, 1, tzinfo=UTC)
IMAGES = ("one", "two", "three", "four")
TOKEN = re.compile(r"zq[a-z]*[0-9]+qz")

names = count()


def token(what: str = "") -> str:
    """A text that nothing else says."""
    return f"zq{what}{next(names)}qz"


@pytest.fixture
def told_all(tmp_path: Path) -> Run:
    """A run with a private text in every place that has one: some on one image each, some on all of them."""
    free = {
        "session_id": "session", "snapshot_hash": "shot", "description": "text", "workaround": "instead",
        "intent": "intent", "notes": "notes",
    }  # fmt: skip
    everywhere = {name: token(what) for name, what in free.items()}

    def record(need: str, **fields: object) -> dict[str, object]:
        return {
            "timestamp": "2026-06-01T10:00:00Z",
            "missing_capability": need,
            "intent_category": "tone",
            "operations_involved": ["crop", "blur", token("operation")],
            "vocabulary_used": ["warm", token("entry")],
            "satisfaction": -1,
            **fields,
        }

    def lines(image: str) -> list[Any]:
        return [
            record("sky mask", **everywhere),
            record("sky mask", **{name: token(what) for name, what in free.items()}),
            record(f"sky mask {token('wording')}", intent_category=token("category")),
            record(f"film grain for {image}", image_id=token("image"), description=token("text")),
            record("leaf mask", **everywhere),
            record("fog mask", **everywhere),
            record("cloud mask", timestamp="2026-06-30T10:00:00Z", **everywhere),
            record("timeout", notes=token("notes")),
            {"description": token("description"), "satisfaction": {token("field"): 1}},
            f'{{"{token("line")}',
        ]

    images = [{f"{token('folder')} {image}": lines(image)} for image in IMAGES]
    roots = [write_corpus(tmp_path, each, token("root")) for each in images]
    listed = tmp_path / f"{token('pack')}.json"
    entries = [
        {"name": f"{token('known')} {need} mask", "description": token()} for need in ("sky", "fog")
    ]
    listed.write_text(json.dumps({"entries": entries}), encoding="utf-8")
    chosen = Settings(
        ingest=IngestSettings(tenant=token("tenant")),
        cluster=ClusterSettings(threshold=0.4),
        report=ReportSettings(top=0),
        vocabulary=VocabularySettings(paths=(str(listed),), threshold=0.9),
        decisions=DecisionSettings(file=str(tmp_path / f"{token('file')}.jsonl")),
        not_a_gap={token("rule"): ("timeout",)},
    )
    out = tmp_path / token("out")
    for day in range(2):  # what it was called before is told, too
        now = NOW + timedelta(days=day)
        run(roots, out, settings=chosen, now=now)
        decide = Decisions(out, chosen.decisions.file, actor=token("actor"), now=now)
        decide.rename("sky mask", token("label"), token("reason"))
    decide.dismiss("leaf mask", token("reason"))
    decide.author("cloud mask", token("authored"), token("reason"))
    return run(roots, out, settings=chosen, now=NOW + timedelta(days=2), share=3)


def lineage(made: Run) -> list[str]:
    return [
        phrase("lineage", row) for each in made.published.summary.everything for row in each.lineage
    ]


def test_no_private_text_is_in_the_page_to_share(told_all: Run) -> None:
    folder = told_all.published.folder
    private = TOKEN.findall((folder / "report.html").read_text(encoding="utf-8"))
    kinds = {re.sub(r"\d", "", each)[2:-2] for each in private}
    assert kinds >= {
        "session", "shot", "text", "instead", "intent", "notes", "operation", "entry", "wording", "category",
        "image", "folder", "root", "known", "pack", "rule", "actor", "label", "reason", "authored",
    }  # fmt: skip
    assert any("In the run before, as zqlabel" in message for message in lineage(told_all))
    assert TOKEN.findall((folder / "share.html").read_text(encoding="utf-8")) == []


def test_what_the_images_have_in_common_is_in_the_page_to_share(told_all: Run) -> None:
    page = (told_all.published.folder / "share.html").read_text(encoding="utf-8")
    for common in ("sky mask", "fog mask", "tone", "crop", "blur", "warm"):
        assert common in page
    assert "leaf mask" not in page  # it was dismissed, and that is nobody else's business
    assert "film grain" not in page
    assert not re.search(r"cap-[0-9a-f]{12}|dec-[0-9a-f]{12}", page)


WORDS = [token("w") for _ in range(5)]
# A record: folder of its log, image, wording, category, operations, entries, each by its number.
RECORDS = st.lists(
    st.tuples(
        st.integers(0, 5), st.integers(0, 5), st.integers(0, 4), st.integers(0, 2),
        st.sets(st.integers(0, 3), max_size=3), st.sets(st.integers(0, 2), max_size=2),
    ),
    min_size=1,
    max_size=25,
)  # fmt: skip
NAMED = {name: [token(name) for _ in range(5)] for name in ("category", "operation", "entry")}
Record = tuple[int, int, int, int, set[int], set[int]]


def said(record: Record) -> set[str]:
    """The texts of a record that may be shared, if enough images in as many folders have them."""
    _, _, wording, category, operations, entries = record
    return {
        WORDS[wording],
        NAMED["category"][category],
        *(NAMED["operation"][each] for each in operations),
        *(NAMED["entry"][each] for each in entries),
    }


@settings(suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(records=RECORDS, fewest=st.integers(2, 4), together=st.booleans())
@example(records=[(image, image, 0, 0, {0}, {0}) for image in range(3)], fewest=3, together=False)
@example(records=[(0, image, 0, 0, {0}, {0}) for image in range(3)], fewest=2, together=False)
@example(records=[(image, 0, 0, 0, {0}, {0}) for image in range(3)], fewest=2, together=False)
@example(
    records=[(image, image, image, 0, {0, 1}, set()) for image in range(3)],
    fewest=2,
    together=False,
)
@example(
    records=[(image, image, image, 0, {0, 1}, set()) for image in range(3)], fewest=2, together=True
)
def test_a_text_is_shared_where_enough_images_and_folders_of_one_capability_have_it(
    tmp_path_factory: pytest.TempPathFactory, records: list[Record], fewest: int, together: bool
) -> None:
    folder = tmp_path_factory.mktemp("shared")
    root = folder / "photos"
    for number, (place, image, wording, category, operations, entries) in enumerate(records):
        log = root / f"folder-{place}" / "vocabulary_gaps.jsonl"
        log.parent.mkdir(parents=True, exist_ok=True)
        line = {
            "image_id": f"image-{image}",
            "missing_capability": f"need {WORDS[wording]}",
            "intent_category": NAMED["category"][category],
            "operations_involved": [NAMED["operation"][each] for each in sorted(operations)],
            "vocabulary_used": [NAMED["entry"][each] for each in sorted(entries)],
            "notes": f"record {number}",
        }
        with log.open("a", encoding="utf-8") as file:
            file.write(json.dumps(line) + "\n")
    chosen = Settings(cluster=ClusterSettings(threshold=1.0 if together else 0.0))
    made = run(root, folder / "out", settings=chosen, now=NOW)

    gaps = pl.read_parquet(made.published.folder / "gaps.parquet").filter("counted")
    shared = shareable(made.published.summary, Parts.of(gaps), fewest)
    page = render_page(shared)

    of_record = dict(gaps.select("notes", "capability_id").iter_rows())
    capability = [of_record[f"record {number}"] for number in range(len(records))]
    folders, images = defaultdict(set), defaultdict(set)
    for name, record in zip(capability, records, strict=True):
        for text in {*said(record), ""}:
            folders[name, text].add(record[0])
            images[name, text].add(record[1])
    enough = {key for key in images if min(len(folders[key]), len(images[key])) >= fewest}
    assert set(TOKEN.findall(page)) == {text for _, text in enough if text}

    assert shared.withheld is not None
    kept = {name for name, text in enough if not text}
    assert shared.withheld.capabilities == len(set(capability) - kept)
    assert shared.withheld.mentions == sum(name not in kept for name in capability)
