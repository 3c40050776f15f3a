"""What the Python API is handed that cannot be used: named, with what was expected and what came."""

import re
from collections.abc import Callable, Iterator
from datetime import datetime
from pathlib import Path
from typing import Any

import numpy as np
import polars as pl
import pytest

import vocabgap as vg
from vocabgap.clustering.grouping import Clusters
from vocabgap.errors import InvalidInputError, texts, unusable
from vocabgap.ingest.scanning import Scan

Call = Callable[..., object]


@pytest.fixture(scope="module")
def scan(tmp_path_factory: pytest.TempPathFactory) -> Scan:
    log = tmp_path_factory.mktemp("photos") / "vocabulary_gaps.jsonl"
    log.write_text('{"description": "sky mask"}\n{"description": "film grain"}\n', encoding="utf-8")
    return vg.scan(log.parent)


@pytest.fixture(scope="module")
def found(scan: Scan) -> Clusters:
    return vg.cluster(scan.records)


@pytest.fixture(scope="module")
def ranked(scan: Scan, found: Clusters) -> pl.DataFrame:
    return vg.rank(scan.records, found)


def refused(call: Call, *arguments: object, **named: object) -> str:
    with pytest.raises(InvalidInputError) as caught:
        call(*arguments, **named)
    return caught.value.message


@pytest.mark.parametrize(
    ("name", "value", "message"),
    [
        ("settings", {}, "expected a Settings, found dict"),
        ("threshold", "0.5", "expected one of a number, by wording, found '0.5'"),
        ("threshold", True, "expected a number or text, found True"),
        ("threshold", 10**400, "expected a smaller number, found 1000"),
        ("threshold", 2, "expected a number <= 1.0, found 2"),
        ("threshold", float("nan"), "expected a number >= 0.0, found nan"),
        ("max_distance", None, "expected a number, found None"),
        ("stop_words", 3, "expected a list, found 3"),
        ("stop_words", ["photo", 3], "expected text, found 3"),
        ("synonyms", {3: ["haze"]}, "expected text, found 3"),
        ("synonyms", {"haze": [b"fog"]}, "expected text, found b'fog'"),
        (
            "synonyms",
            {"haze": ["fog"], "mist": ["haze"]},
            "'haze' has synonyms but is a synonym of 'mist'",
        ),
    ],
)
def test_what_a_clustering_cannot_use_is_named(
    scan: Scan, name: str, value: object, message: str
) -> None:
    assert refused(vg.cluster, scan.records, **{name: value}).startswith(f"{name}: {message}")


@pytest.mark.parametrize("stage", ["cluster", "rank", "report"])
@pytest.mark.parametrize(
    ("frame", "what"),
    [
        (pl.LazyFrame(), "polars.LazyFrame"),
        ({"wording": []}, "dict"),
        (None, "None"),
        ({"x"}, "set"),
    ],
)
def test_what_is_no_frame_is_named(stage: str, frame: object, what: str, found: Clusters) -> None:
    table = "capabilities" if stage == "report" else "records"
    arguments = (frame, found) if stage == "rank" else (frame,)

    message = refused(getattr(vg, stage), *arguments)

    named = (
        "records: expected a list of texts or"
        if stage == "cluster"
        else f"frame '{table}': expected"
    )
    assert message == f"{named} a polars.DataFrame, found {what}"


@pytest.mark.parametrize(
    ("call", "value", "message"),
    [
        (Clusters.at, "0.5", "threshold: expected a number, found '0.5'"),
        (Clusters.at, False, "threshold: expected a number, found False"),
        (Clusters.members, True, "cluster: expected a whole number, 0 or more, found True"),
        (Clusters.dendrogram, 0.0, "cluster: expected a whole number, 0 or more, found 0.0"),
    ],
)
def test_what_the_groups_cannot_be_asked_is_named(
    found: Clusters, call: Call, value: object, message: str
) -> None:
    assert refused(call, found, value) == message


def test_numbers_of_numpy_are_numbers(found: Clusters) -> None:
    assert found.at(np.float64(0.5)).threshold == 0.5  # type: ignore[arg-type,unused-ignore]
    assert type(found.at(np.float32(0.5)).threshold) is float  # type: ignore[arg-type]
    assert found.members(np.int64(0)).tolist() == [0]  # type: ignore[arg-type]


@pytest.mark.parametrize(
    ("named", "message"),
    [
        ({"by": 3}, "by: expected text, found 3"),
        ({"now": datetime(2026, 5, 1)}, "now: expected a datetime with an offset, found datetime"),  # noqa: DTZ001
        ({"min_images": -1}, "min_images: expected a whole number >= 0, found -1"),
        ({"half_life_days": float("nan")}, "half_life_days: expected a number >= 0.1, found nan"),
        ({"window_weeks": 4.5}, "window_weeks: expected a whole number, found 4.5"),
        ({"category_aliases": None}, "category_aliases: expected a table, found None"),
        ({"operation_aliases": {"x": 3}}, "operation_aliases: expected text, found 3"),
    ],
)
def test_what_a_ranking_cannot_use_is_named(
    scan: Scan, found: Clusters, named: dict[str, object], message: str
) -> None:
    assert refused(vg.rank, scan.records, found, **named).startswith(message)


def test_groups_that_are_none_are_named(scan: Scan) -> None:
    message = refused(vg.rank, scan.records, scan.records)

    assert message == "clusters: expected what vocabgap.cluster returned, found polars.DataFrame"


@pytest.mark.parametrize(
    ("named", "message"),
    [
        ({"out": 3}, "out: expected the path of a folder, found 3"),
        (
            {"scan": pl.DataFrame()},
            "scan: expected what vocabgap.scan returned, found polars.DataFrame",
        ),
        ({"now": "2026-05-01"}, "now: expected a datetime with an offset, found '2026-05-01'"),
        ({"top": -1}, "top: expected a whole number, 0 or more, found -1"),
        (
            {"ranked_by": "x"},
            "by: expected one of mentions, images, unsatisfied, priority, found 'x'",
        ),
        ({"manifest": {}}, "manifest: expected a Manifest, found dict"),
    ],
)
def test_what_a_report_cannot_use_is_named(
    ranked: pl.DataFrame, named: dict[str, object], message: str, tmp_path: Path
) -> None:
    assert refused(vg.report, ranked, **{"out": tmp_path / "out", **named}) == message
    assert list(tmp_path.iterdir()) == []


@pytest.mark.parametrize(
    ("named", "message"),
    [
        ({"settings": {}}, "settings: expected a Settings, found dict"),
        ({"selection": "sky"}, "selection: expected a Selection, found 'sky'"),
        ({"out": 3}, "path: expected a path, found 3"),
        ({"roots": []}, "no root"),
        ({"now": "newest"}, "now: expected a datetime with an offset, found 'newest'"),
    ],
)
def test_what_a_run_cannot_use_is_named(
    tmp_path: Path, named: dict[str, object], message: str
) -> None:
    assert refused(vg.run, **{"roots": tmp_path, "out": tmp_path / "out", **named}).startswith(
        message
    )
    assert list(tmp_path.iterdir()) == []


def test_a_rating_that_is_none_is_named() -> None:
    assert refused(vg.Selection, satisfaction=1.5).startswith(
        "satisfaction: expected one of -1, 0, 1"
    )
    assert vg.Selection(satisfaction=None) == vg.Selection(satisfaction="none")  # type: ignore[arg-type]


@pytest.mark.parametrize("roots", [3, None, [3], [None], {"a": 1}.values()])
def test_roots_that_are_no_paths_are_named(roots: object) -> None:
    assert re.match(r"roots: expected paths, found ", refused(vg.scan, roots))


def test_words_may_come_one_by_one() -> None:
    def words() -> Iterator[str]:
        yield "a"
        yield "b"

    assert texts("words", words()) == ("a", "b")
    assert texts("words", "ab") == ("ab",)


def test_what_came_is_shown_shortened() -> None:
    class Strange:
        def __repr__(self) -> str:
            raise RuntimeError

    values: list[Any] = ["x" * 10_000, Strange(), 10**10_000]

    assert all(len(unusable("name", "another", value).message) < 100 for value in values)
