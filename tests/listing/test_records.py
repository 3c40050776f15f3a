import os
import time
from datetime import UTC, datetime
from pathlib import Path

import polars as pl
import pytest
from polars.testing import assert_frame_equal

import vocabgap as vg
from builders import gap, write_corpus
from builders.command import vocabgap
from vocabgap.errors import InvalidInputError, NotFoundError
from vocabgap.model.tables import LISTED

NOW = datetime(2026, 7, 1, tzinfo=UTC)
NEWEST_FIRST = ["film grain", "sky mask", "mask the sky", "film grain size", "dust removal"]


def needs(listed: pl.DataFrame) -> list[str]:
    return listed["description"].to_list()


def test_records_are_newest_first_by_real_time_and_those_without_one_last(photos: Path) -> None:
    assert needs(vg.list_gaps(photos)) == NEWEST_FIRST
    assert vg.list_gaps(photos).columns == LISTED.names


def test_records_of_one_moment_come_by_log_and_the_later_line_first(tmp_path: Path) -> None:
    root = write_corpus(
        tmp_path, {"b": [gap("b one"), gap("b two")], "a": [gap("a one"), gap("a two")]}
    )

    assert needs(vg.list_gaps(root)) == ["a two", "a one", "b two", "b one"]
    assert [needs(vg.list_gaps(root, limit=limit))[-1] for limit in (1, 3)] == ["a two", "b two"]


@pytest.mark.parametrize(
    ("asked", "found"),
    [
        ({"images": "fjord"}, ["sky mask", "dust removal"]),
        ({"images": ["fjord", "heron"]}, NEWEST_FIRST),
        ({"since": "2026-05-02T07:00:00Z"}, ["film grain", "sky mask"]),
        ({"since": datetime(2026, 5, 2, 8, tzinfo=UTC)}, ["film grain"]),
        ({"until": "2026-05-01"}, ["film grain size"]),
        ({"since": "60d", "now": NOW}, ["film grain", "sky mask"]),
        ({"operations": "Tone Equalizer"}, ["mask the sky"]),
        ({"operations": "tone"}, []),
        ({"match": "TONEEQUAL"}, ["film grain", "mask the sky"]),
        ({"match": "PAINTED"}, ["mask the sky"]),
        ({"match": "sky"}, ["sky mask", "mask the sky"]),
        ({"categories": "local"}, ["mask the sky"]),
        ({"categories": ["Mask", "detail"]}, ["film grain", "mask the sky"]),
        ({"sessions": "s-1"}, ["mask the sky"]),
        ({"sessions": "last"}, ["film grain", "sky mask"]),
        ({"sessions": "last", "images": "fjord"}, ["sky mask"]),
        ({"sessions": "last", "until": "2026-05-02"}, ["mask the sky"]),
        ({"sessions": "last", "satisfaction": -1}, []),
        ({"sessions": ["last", "s-1"]}, ["film grain", "sky mask", "mask the sky"]),
        ({"satisfaction": -1}, ["mask the sky"]),
        ({"satisfaction": [0, "good"]}, ["sky mask", "dust removal"]),
        ({"satisfaction": ["none", "-1"]}, ["film grain", "mask the sky", "film grain size"]),
        ({"repositories": "elsewhere"}, []),
        ({"images": "heron", "satisfaction": "none", "match": "size"}, ["film grain size"]),
    ],
    ids=str,
)
def test_a_filter_leaves_what_it_asks_for(
    photos: Path, asked: dict[str, object], found: list[str]
) -> None:
    assert needs(vg.list_gaps(photos, **asked)) == found  # type: ignore[arg-type]


@pytest.mark.parametrize(
    ("asked", "message"),
    [
        ({"satisfaction": "awful"}, "satisfaction: expected one of -1, 0, 1,"),
        ({"image": "heron"}, "did you mean 'images'?"),
        ({"since": "soon"}, "since: 'soon' is not a moment"),
        ({"since": datetime(2026, 5, 1)}, "with an offset"),  # noqa: DTZ001 - what is refused
        ({"match": 3}, "match: expected text, found 3"),
        ({"match": "a" * 400_000}, "match: expected 1 to 10,000 characters that are not blank"),
        ({"limit": -1}, "limit: expected a whole number, 0 or more"),
        ({"images": ["\ud800"]}, "images[0]: character 1 is half of a surrogate pair"),
        ({"images": 3}, "images: expected text, or several texts"),
    ],
    ids=str,
)
def test_what_cannot_be_meant_is_refused(
    photos: Path, asked: dict[str, object], message: str
) -> None:
    with pytest.raises(InvalidInputError) as refused:
        vg.list_gaps(photos, **asked)  # type: ignore[arg-type]

    assert message in str(refused.value)


def test_a_record_that_a_run_has_not_seen_belongs_to_the_capability_of_its_wording(
    photos: Path, tmp_path: Path
) -> None:
    vg.run(photos, out=tmp_path / "run", now=NOW)
    later = write_corpus(tmp_path, {"later": [gap("Sky Masks"), gap("something else")]}, "later")

    listed = vg.list_gaps(later, out=tmp_path / "run")

    assert dict(listed.select("description", "capability").iter_rows()) == {
        "Sky Masks": "sky mask",
        "something else": None,
    }


def test_a_run_that_was_named_and_is_not_there_is_not_found(photos: Path, tmp_path: Path) -> None:
    with pytest.raises(NotFoundError, match="has no run"):
        vg.list_gaps(photos, out=tmp_path)


def test_a_damaged_run_that_nobody_named_is_done_without(photos: Path) -> None:
    vg.run(photos, out="out", now=NOW)
    Path("out", "capabilities.parquet").write_bytes(b"PAR1 no more")

    assert vg.list_gaps(photos)["capability"].null_count() == len(NEWEST_FIRST)


def test_the_time_zone_of_the_machine_is_nothing_to_a_listing(
    photos: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    here = vg.list_gaps(photos, since="2026-05-02")
    for zone in ("Pacific/Kiritimati", "America/Los_Angeles"):
        monkeypatch.setitem(os.environ, "TZ", zone)
        time.tzset()
        there = vg.list_gaps(photos, since="2026-05-02")
        assert_frame_equal(here, there)
    monkeypatch.delitem(os.environ, "TZ")
    time.tzset()


def test_records_that_no_ranking_counts_are_named(tmp_path: Path) -> None:
    refused = gap("Web search is not enabled in this context.")
    root = write_corpus(tmp_path, {"heron": [gap("sky mask"), refused]})
    key = vg.list_gaps(root, match="search")["record_id"][0][:12]

    for command in (("list",), ("show", "heron")):
        assert f"not ranked: {key} (not granted: not_enabled)\n" in vocabgap(*command, root).err
