"""What each capability was in the runs of a folder, kept from run to run, and followed through merges."""

import json
from collections.abc import Sequence
from datetime import UTC, datetime, timedelta
from pathlib import Path

import polars as pl
import pytest

import vocabgap as vg
from builders import gap, write_corpus
from builders.reporting import publish, tell_anew_of
from vocabgap.errors import NotFoundError, StateError
from vocabgap.listing.deciding import Decisions
from vocabgap.model.selection import Selection
from vocabgap.model.settings import DecisionSettings, Settings
from vocabgap.model.tables import HISTORY
from vocabgap.reporting import history as module
from vocabgap.reporting.history import RunKey, comparable, points_of
from vocabgap.reporting.listed import Past
from vocabgap.reporting.page import payload_of

START = datetime(2026, 7, 1, tzinfo=UTC)
DAY = timedelta(days=1)
WEEK = 7 * DAY
View = tuple[datetime | None, datetime | None, str]  # since, until, and what else it is narrowed to


@pytest.fixture
def photos(tmp_path: Path) -> Path:
    """Two needs of two categories; the first is asked for twice."""
    return write_corpus(
        tmp_path,
        {
            "one": [
                gap("sky mask", intent_category="local"),
                gap("film grain", intent_category="detail"),
            ],
            "two": [gap("sky mask", intent_category="local")],
        },
    )


def ask(photos: Path, need: str, image: str) -> None:
    log = photos / image / "vocabulary_gaps.jsonl"
    log.parent.mkdir()
    log.write_text(json.dumps(gap(need, image_id=image)) + "\n", encoding="utf-8")


def known(out: Path) -> list[tuple[str, int, int]]:
    return vg.history(out).select("label", "rank", "mentions").rows()


def rows(
    *cells: tuple[int, str, int, int, Sequence[str]], views: Sequence[View] = ()
) -> pl.DataFrame:
    """Table `history`: of each row the run's number, the capability, rank, mentions, and its origins."""
    given = [
        {
            "run": f"run-{run}",
            "moment": START + run * WEEK,
            "capability_id": name,
            "label": f"label {name}",
            "rank": rank,
            "mentions": mentions,
            "images": 1,
            "sessions": 1,
            "unsatisfied": 0,
            "status": "open",
            "came_from": came_from,
            "unpinned_rank": None,
            **dict(
                zip(
                    ("since", "until", "narrowed"),
                    views[run] if views else (None, None, ""),
                    strict=True,
                )
            ),
        }
        for run, name, rank, mentions, came_from in cells
    ]
    return pl.DataFrame(given, schema=HISTORY.schema)


def told(table: pl.DataFrame, name: str, most: int = 99) -> list[tuple[int, int]]:
    """Rank and mentions of a capability, run by run, as of the last one."""
    runs = comparable(table, last_of(table))
    return [(past.rank, past.mentions) for past in points_of(table, runs, most)[name]]


def last_of(table: pl.DataFrame) -> RunKey:
    return RunKey(*table.select(RunKey._fields).row(-1))


def test_each_run_adds_its_rows_to_those_of_the_run_that_it_replaces(
    photos: Path, tmp_path: Path
) -> None:
    publish(tmp_path, photos, now=START)
    ask(photos, "film grain", "three")
    ask(photos, "film grain", "four")

    made = publish(tmp_path, photos, now=START + WEEK)

    table = vg.history(made.published.folder)
    assert known(made.published.folder) == [
        ("sky mask", 1, 2), ("film grain", 2, 1), ("film grain", 1, 3), ("sky mask", 2, 2),
    ]  # fmt: skip
    assert table["moment"].unique().to_list() == [START, START + WEEK]
    assert set(table["capability_id"]) == set(made.ranked["capability_id"])
    assert "history.parquet" in made.published.files
    assert pl.read_parquet_schema(made.published.folder / "history.parquet") == dict(HISTORY.schema)


def test_runs_at_the_same_time_are_both_kept(photos: Path, tmp_path: Path) -> None:
    def publish_another(stage: str) -> None:
        if stage == "cluster":
            publish(tmp_path, photos, now=START)

    made = publish(tmp_path, photos, now=START + WEEK, on_stage=publish_another)

    assert vg.history(made.published.folder)["moment"].unique().to_list() == [START, START + WEEK]


def test_run_that_is_made_again_stands_there_once(photos: Path, tmp_path: Path) -> None:
    publish(tmp_path, photos, now=START)
    publish(tmp_path, photos, now=START + WEEK)
    made = publish(tmp_path, photos, now=START + WEEK)

    assert len(known(made.published.folder)) == 4


def test_rows_of_a_narrowed_report_are_kept_and_not_mixed_with_the_others(
    photos: Path, tmp_path: Path
) -> None:
    publish(tmp_path, photos, now=START)
    narrowed = publish(
        tmp_path, photos, now=START + WEEK, selection=Selection(categories=("detail",))
    )
    made = publish(tmp_path, photos, now=START + 2 * WEEK)

    grain = next(
        each for each in made.published.summary.everything if each.capability.label == "film grain"
    )
    assert [past.moment for past in grain.history] == [START, START + 2 * WEEK]
    assert [past.moment for past in narrowed.published.summary.everything[0].history] == [
        START + WEEK
    ]
    assert vg.history(made.published.folder)["narrowed"].unique(maintain_order=True).to_list() == [
        "",
        "category detail",
    ]


JUNE = START - 30 * DAY


@pytest.mark.parametrize(
    ("views", "alike"),
    [
        (((JUNE, None, ""), (JUNE + WEEK, None, "")), True),  # the last 30 days of each
        (((JUNE, None, ""), (JUNE, None, "")), True),
        (((JUNE, None, ""), (JUNE + DAY, None, "")), False),
        (((JUNE, None, ""), (None, None, "")), False),
        (((None, JUNE, ""), (JUNE, None, "")), False),
        (((JUNE, START, ""), (JUNE, START + WEEK, "")), True),
        (((JUNE, None, "category tone"), (JUNE + WEEK, None, "category tone")), True),
        (((JUNE, None, "category tone"), (JUNE, None, "")), False),
    ],
)
def test_windows_that_move_along_are_alike(views: Sequence[View], alike: bool) -> None:
    table = rows((0, "a", 1, 1, ()), (1, "a", 1, 2, ()), views=views)

    assert told(table, "a") == ([(1, 1), (1, 2)] if alike else [(1, 2)])


def test_file_that_was_written_without_windows_is_carried_on(photos: Path, tmp_path: Path) -> None:
    made = publish(tmp_path, photos, now=START)
    file = made.published.folder / "history.parquet"
    pl.read_parquet(file).drop("since", "until", "unpinned_rank").write_parquet(file)
    tell_anew_of(file)

    made = publish(tmp_path, photos, now=START + WEEK)

    assert len(known(made.published.folder)) == 4
    assert [len(each.history) for each in made.published.summary.everything] == [2, 2]


def test_a_pinned_need_has_the_rank_of_the_list_and_a_note(photos: Path, tmp_path: Path) -> None:
    settings = Settings(decisions=DecisionSettings(file=str(tmp_path / "decisions.jsonl")))
    made = publish(tmp_path, photos, now=START, settings=settings)
    Decisions(made.published.folder, tmp_path / "decisions.jsonl", actor="ana", now=START).pin(
        "film grain"
    )

    made = publish(tmp_path, photos, now=START + WEEK, settings=settings)

    grain = vg.history(made.published.folder).filter(label="film grain")
    assert grain.select("rank", "unpinned_rank").rows() == [(2, None), (1, 2)]
    first = made.published.summary.everything[0]
    assert first.history == (
        Past(START, 2, 1, status="open"),
        Past(START + WEEK, 1, 1, pinned=True, status="open"),
    )
    row = payload_of(made.published.summary)["rows"][0]
    assert (row["history"], row["notes"]) == (((0, 2, 1), (1, 1, 1)), ((1, "pinned"),))


def test_history_goes_on_in_another_folder_that_is_compared_with_the_first(
    photos: Path, tmp_path: Path
) -> None:
    publish(tmp_path, photos, now=START, out=tmp_path / "first")
    second = publish(
        tmp_path, photos, now=START + WEEK, out=tmp_path / "second", previous=tmp_path / "first"
    )
    apart = publish(tmp_path, photos, now=START + WEEK, out=tmp_path / "third", previous="none")

    assert len(known(second.published.folder)) == 4
    assert len(known(apart.published.folder)) == 2


def test_run_without_a_history_knows_itself(photos: Path, tmp_path: Path) -> None:
    made = publish(tmp_path, photos, now=START)
    (made.published.folder / "history.parquet").unlink()

    assert known(made.published.folder) == [("sky mask", 1, 2), ("film grain", 2, 1)]
    with pytest.raises(NotFoundError, match="has no run"):
        vg.history(tmp_path)


def test_damaged_history_is_refused_before_the_work_and_nothing_is_replaced(
    photos: Path, tmp_path: Path
) -> None:
    made = publish(tmp_path, photos, now=START)
    (made.published.folder / "history.parquet").write_bytes(b"no parquet")
    before = (made.published.folder / "report.md").read_bytes()
    stages: list[str] = []

    with pytest.raises(StateError, match=r"history.parquet' is damaged.*move the file away"):
        publish(tmp_path, photos, now=START + WEEK, on_stage=stages.append)

    assert stages == []
    assert (made.published.folder / "report.md").read_bytes() == before


@pytest.mark.parametrize("name", ["history.parquet", "groups.parquet"])
def test_flipped_bit_is_told_before_what_is_damaged_is_decoded(
    photos: Path, tmp_path: Path, name: str
) -> None:
    file = publish(tmp_path, photos, now=START).published.folder / name
    content = bytearray(file.read_bytes())
    content[len(content) // 2] ^= 4
    file.write_bytes(content)

    with pytest.raises(StateError, match=rf"{name}' is damaged or was just replaced"):
        publish(tmp_path, photos, now=START + WEEK)


def test_a_merged_need_comes_from_the_other_one_alone(photos: Path, tmp_path: Path) -> None:
    first = publish(tmp_path, photos, now=START)
    ids = dict(first.ranked.select("label", "capability_id").iter_rows())
    settings = Settings(decisions=DecisionSettings(file=str(tmp_path / "decisions.jsonl")))
    decisions = Decisions(first.published.folder, tmp_path / "decisions.jsonl", actor="ana")
    decisions.merge("sky mask", "film grain")

    made = publish(tmp_path, photos, now=START + WEEK, settings=settings)

    last = vg.history(made.published.folder).filter(moment=START + WEEK)
    assert last["capability_id"].to_list() == [ids["sky mask"]]
    assert last["came_from"].to_list() == [[ids["film grain"]]]


def test_oldest_runs_and_last_ranks_are_left_out_of_a_long_history(
    photos: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(module, "MOST_RUNS", 2)
    monkeypatch.setattr(module, "MOST_CAPABILITIES", 1)
    for number in range(3):
        publish(tmp_path, photos, now=START + number * WEEK)

    table = vg.history(tmp_path / "out")

    assert table["moment"].to_list() == [START + WEEK, START + 2 * WEEK]
    assert table["label"].to_list() == ["sky mask"] * 2


BOTH = (0, "a", 1, 7, ()), (0, "b", 2, 5, ()), (1, "a", 1, 12, ("b",))


@pytest.mark.parametrize(
    ("cells", "past"),
    [
        ((*BOTH, (2, "a", 1, 13, ())), {"a": [(1, 12), (1, 12), (1, 13)]}),
        (
            ((0, "a", 1, 12, ()), (1, "a", 1, 7, ()), (1, "b", 2, 5, ("a",))),
            {"b": [(1, 12), (2, 5)], "a": [(1, 12), (1, 7)]},
        ),
        (
            ((0, "a", 3, 1, ()), (1, "b", 2, 2, ("a",)), (2, "c", 1, 3, ("b",))),
            {"c": [(3, 1), (2, 2), (1, 3)]},
        ),
        (
            (*BOTH, (2, "a", 1, 7, ()), (2, "b", 2, 6, ("a",))),
            {"b": [(2, 5), (1, 12), (2, 6)], "a": [(1, 12), (1, 12), (1, 7)]},
        ),
    ],
    ids=["merged", "split", "under another identifier", "merged and split again"],
)
def test_a_capability_is_followed_through_merges_and_splits(
    cells: Sequence[tuple[int, str, int, int, Sequence[str]]],
    past: dict[str, list[tuple[int, int]]],
) -> None:
    assert {name: told(rows(*cells), name) for name in past} == past


def test_of_many_runs_some_are_told_the_first_and_the_last_two_among_them() -> None:
    table = rows(*((run, "a", 1, run + 1, ()) for run in range(100)))

    points = told(table, "a", 10)

    mentions = [mentions for _, mentions in points]
    assert len(mentions) == 10
    assert (mentions[0], mentions[-2:]) == (1, [99, 100])
    assert mentions == sorted(mentions)
