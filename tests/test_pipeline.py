from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Literal

import polars as pl
import pytest
from polars.testing import assert_frame_equal

from builders import gap, write_corpus
from vocabgap.clustering.grouping import cluster
from vocabgap.errors import InvalidInputError, NotFoundError, StateError
from vocabgap.ingest.scanning import scan
from vocabgap.listing.deciding import Decisions
from vocabgap.model.loading import load_settings
from vocabgap.model.selection import Selection
from vocabgap.model.settings import (
    AliasSettings,
    ClusterSettings,
    DecisionSettings,
    IngestSettings,
    RankBy,
    RankSettings,
    Settings,
    VocabularySettings,
)
from vocabgap.pipeline import STAGES, Run, analyse, run
from vocabgap.ranking.capabilities import rank
from vocabgap.ranking.coverage import covered
from vocabgap.ranking.screening import screen
from vocabgap.ranking.vocabulary import load_vocabulary

NOW = datetime(2026, 7, 1, tzinfo=UTC)
ONE = {"one": [gap("sky mask")]}


@pytest.fixture(scope="module")
def whole(demo: Path, tmp_path_factory: pytest.TempPathFactory) -> Run:
    """One run over the demo."""
    return run(demo, tmp_path_factory.mktemp("whole") / "out", now=NOW)


def test_a_run_is_its_stages_one_after_the_other(demo: Path, whole: Run) -> None:
    result, scanned = whole, scan(demo)
    found = cluster(scanned.records)
    assert_frame_equal(result.scan.gaps, screen(scanned.gaps))
    assert_frame_equal(result.clusters.wordings, found.wordings)
    assert_frame_equal(result.clusters.clusters, found.clusters)
    assert_frame_equal(result.clusters.linkage, found.linkage)
    assert_frame_equal(result.ranked, rank(scanned.records, found, now=NOW))


def test_settings_reach_their_stages(demo: Path, tmp_path: Path) -> None:
    settings = Settings(
        ingest=IngestSettings(tenant="studio"),
        cluster=ClusterSettings(threshold=0.4, stop_words=("mask",)),
        rank=RankSettings(
            by=RankBy.UNSATISFIED, min_images=2, min_sessions=3, half_life_days=30.0, window_weeks=6
        ),
        aliases=AliasSettings(categories={"tone": "light"}, operations={"crop": "trim"}),
    )
    result = analyse(demo, out=tmp_path, settings=settings, now=NOW)
    records = scan(demo, tenant_id="studio").records
    found = cluster(records, threshold=0.4, stop_words=("mask",))
    expected = rank(
        records, found, by="unsatisfied", now=NOW, min_images=2, min_sessions=3, half_life_days=30,
        window_weeks=6, category_aliases=settings.category_aliases,
        operation_aliases=settings.operation_aliases,
    )  # fmt: skip
    assert_frame_equal(result.ranked, expected)


@pytest.mark.parametrize(
    "selection",
    [
        Selection(since=datetime(2026, 6, 1, tzinfo=UTC)),
        Selection(until=datetime(2026, 4, 1, tzinfo=UTC)),
        Selection(images=("fjord-dawn-0412",)),
        Selection(categories=("tone",)),
    ],
    ids=["since", "until", "image", "category"],
)
def test_a_view_changes_what_is_counted_and_not_what_is_known(
    demo: Path, tmp_path: Path, whole: Run, selection: Selection
) -> None:
    known = ["capability_id", "label", "first_seen", "trend", "weekly", "status"]

    narrowed = analyse(demo, out=tmp_path, selection=selection, now=NOW)

    ranked, records = narrowed.ranked, narrowed.scan.records
    assert 0 < ranked.height < whole.ranked.height
    assert ranked["mentions"].sum() == narrowed.scan.gaps["counted"].sum() == records.height
    expected = whole.ranked.filter(pl.col("capability_id").is_in(ranked["capability_id"].implode()))
    assert_frame_equal(ranked.select(known), expected.select(known), check_row_order=False)
    assert ranked["last_seen"].max() == records["timestamp"].max()
    assert narrowed.scan.gaps.height == whole.scan.gaps.height


def test_roots_may_be_several_and_of_any_iterable(tmp_path: Path) -> None:
    roots = [
        write_corpus(tmp_path, {"one": [gap(f"{name} mask")]}, name) for name in ("left", "right")
    ]
    result = run((str(root) for root in roots), tmp_path / "out")
    assert result.scan.gaps["repo_slug"].to_list() == ["left", "right"]


@pytest.mark.parametrize("now", [None, "last"])
def test_the_clock_is_the_present_unless_told_or_read(
    tmp_path: Path, now: Literal["last"] | None
) -> None:
    root = write_corpus(tmp_path, {"one": [gap("halo", timestamp="some day")]})
    before = datetime.now(UTC)
    result = run(root, tmp_path / "out", now=now)
    assert before <= result.now == result.published.manifest.now <= datetime.now(UTC)


def test_a_missing_root_is_not_found_and_publishes_nothing(tmp_path: Path) -> None:
    with pytest.raises(NotFoundError, match="nowhere"):
        run(tmp_path / "nowhere", tmp_path / "out")
    assert not (tmp_path / "out").exists()


def test_stages_follow_each_other_and_never_touch_the_logs(tmp_path: Path) -> None:
    root, stages = write_corpus(tmp_path, {"one": [gap("sky mask"), "no json"]}), list[str]()
    before = {path: path.read_bytes() for path in root.rglob("*") if path.is_file()}
    run(root, tmp_path / "out", on_stage=stages.append)
    assert tuple(stages) == STAGES == ("ingest", "cluster", "rank", "report")
    assert {path: path.read_bytes() for path in root.rglob("*") if path.is_file()} == before


def test_what_would_publish_nothing_is_refused_unless_meant(tmp_path: Path) -> None:
    root, nobody = write_corpus(tmp_path, ONE), Selection(images=("two",))

    with pytest.raises(InvalidInputError, match="no record has image 'two'"):
        run(root, tmp_path / "out", selection=nobody)
    with pytest.raises(StateError, match=r"no log was found in '.*empty'"):
        run(write_corpus(tmp_path, {}, "empty"), tmp_path / "out")
    assert not (tmp_path / "out").exists()
    assert run(root, tmp_path / "out", selection=nobody, allow_empty=True).ranked.is_empty()


def test_the_newest_record_can_be_the_present_from_which_spans_count_back(tmp_path: Path) -> None:
    newest, broken = "2026-05-02T07:00:00Z", "some day"
    lines = [gap("sky mask"), gap("film grain", timestamp=newest), gap("halo", timestamp=broken)]
    root = write_corpus(tmp_path, {"one": lines})

    result = run(
        root,
        tmp_path / "out",
        now="last",
        selection=lambda now: Selection(since=now - timedelta(days=7)),
    )

    assert result.now == result.published.manifest.now == datetime(2026, 5, 2, 7, tzinfo=UTC)
    assert result.ranked["label"].to_list() == ["film grain"]
    assert result.selection.since == datetime(2026, 4, 25, 7, tzinfo=UTC)


def test_a_vocabulary_is_read_as_the_settings_say_and_compared_with_what_is_ranked(
    tmp_path: Path,
) -> None:
    root = write_corpus(tmp_path, {"one": [gap("sky masks for photos"), gap("film grain")]})
    listed = tmp_path / "words.json"
    listed.write_text('{"tools": [{"name": "sky_mask", "description": "Masks the sky."}]}')
    settings = Settings(
        cluster=ClusterSettings(stop_words=("photo",)),
        vocabulary=VocabularySettings(paths=(str(listed),)),
    )

    result = run(root, tmp_path / "out", settings=settings, now=NOW)

    vocabulary = load_vocabulary(listed)
    records = scan(root).records
    expected = covered(
        rank(records, cluster(records, stop_words=("photo",)), now=NOW),
        vocabulary,
        stop_words=("photo",),
    )
    assert_frame_equal(result.ranked, expected)
    assert result.ranked["covered_by"].list.len().sum() == 1
    assert result.published.manifest.vocabulary == vocabulary.files


def test_a_vocabulary_that_cannot_be_read_is_told_before_anything_is_scanned(
    demo: Path, tmp_path: Path
) -> None:
    message: list[str] = []
    settings = Settings(vocabulary=VocabularySettings(paths=(str(tmp_path / "absent.json"),)))

    with pytest.raises(NotFoundError, match=r"absent\.json"):
        run(demo, tmp_path / "out", settings=settings, on_stage=message.append)

    assert message == []
    assert not (tmp_path / "out").exists()


def test_a_run_reads_no_settings_but_those_it_is_given(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    root = write_corpus(
        tmp_path, {"one": [gap("sky mask", satisfaction=-1), gap("film grain"), gap("grainy film")]}
    )
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("VOCABGAP_TOP", "1")
    (tmp_path / "vocabgap.toml").write_text('[rank]\nby = "unsatisfied"\n', encoding="utf-8")

    alone = run(root).published.summary
    as_told = run(root, settings=load_settings()).published.summary

    assert (alone.ranked_by, len(alone.capabilities)) == ("mentions", 2)
    assert (as_told.ranked_by, len(as_told.capabilities)) == ("unsatisfied", 1)


def test_a_run_follows_the_decisions_that_the_settings_name(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    root = write_corpus(tmp_path, {"one": [gap("sky mask"), gap("film grain")]})
    monkeypatch.chdir(tmp_path)
    run(root)
    Decisions(actor="ana").dismiss("film grain", "no")
    elsewhere = Settings(decisions=DecisionSettings(file="none.jsonl"))

    by_default, by_another = run(root).ranked, run(root, settings=elsewhere).ranked

    assert by_default.filter(label="film grain")["status"].item() == "dismissed"
    assert by_another.filter(label="film grain")["status"].item() == "open"


def test_an_analysis_ranks_as_a_run_does_and_writes_nothing(
    demo: Path, whole: Run, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    analysis = analyse(demo, now=NOW)

    assert_frame_equal(analysis.ranked, whole.ranked)
    assert repr(analysis).startswith("Analysis(")
    assert list(tmp_path.iterdir()) == []


def test_an_analysis_continues_the_published_run(tmp_path: Path) -> None:
    root = write_corpus(tmp_path, {"one": [gap("sky mask"), gap("film grain")]})
    before = run(root, tmp_path / "out", now=NOW).ranked

    analysis = analyse(root, out=tmp_path / "out", now=NOW + timedelta(days=1))

    assert set(analysis.lineage.relations["relation"]) == {"continued"}
    assert analysis.ranked["capability_id"].to_list() == before["capability_id"].to_list()


def test_an_error_at_the_start_of_a_stage_ends_the_work_there(tmp_path: Path) -> None:
    begun: list[str] = []

    def stop(stage: str) -> None:
        begun.append(stage)
        if stage == "cluster":
            raise TimeoutError

    with pytest.raises(TimeoutError):
        analyse(write_corpus(tmp_path, ONE), out=tmp_path / "none", on_stage=stop)
    assert begun == ["ingest", "cluster"]
