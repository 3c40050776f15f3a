"""Calls of an authored entry in transcripts: they count as uses since the decision, each once."""

import json
from collections.abc import Iterable
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

import polars as pl
import pytest

import vocabgap as vg
from builders import steady, weekly, write_corpus
from builders.command import vocabgap
from vocabgap.model.settings import DecisionSettings, ScanSettings, Settings

DECIDED = datetime(2026, 4, 6, 9, tzinfo=UTC)
NOW = DECIDED + timedelta(weeks=6)
Line = dict[str, Any]


def call(
    tool: str, days: float, name: str = "t1", error: str | None = None, session: str = "s1"
) -> list[Line]:
    """A call of a tool, so many days after the decision, and its answer."""
    beside = {"sessionId": session, "timestamp": (DECIDED + timedelta(days=days)).isoformat()}
    use = {"type": "tool_use", "id": name, "name": tool, "input": {}}
    answer: Line = {"type": "tool_result", "tool_use_id": name, "content": error or "done"}
    answer |= {"is_error": True} if error else {}
    return [
        {**beside, "type": "assistant", "message": {"role": "assistant", "content": [use]}},
        {**beside, "type": "user", "message": {"role": "user", "content": [answer]}},
    ]


def write(path: Path, lines: Iterable[Line]) -> None:
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text("".join(json.dumps(line) + "\n" for line in lines), encoding="utf-8")


@pytest.fixture
def authored(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A folder with a need that was authored as `mask_sky`, and a place for transcripts."""
    monkeypatch.chdir(tmp_path)
    needs = [*weekly("sky mask", 4, 4, 4, 4, 4, 0, 1), *steady(11)]
    write_corpus(tmp_path, {"one": needs}, "photos")
    decided_at = DECIDED.isoformat()
    assert vocabgap("report", "photos", "--now", decided_at, "-q").code == 0
    author = ("decide", "author", "sky mask", "--entry", "mask_sky", "--actor", "ana")
    assert vocabgap(*author, "--now", decided_at).code == 0
    return tmp_path


def used(folder: Path, **given: Any) -> int:  # noqa: ANN401 - passed on to run
    """The uses that a run over all logs of the folder counts."""
    settings = Settings(decisions=DecisionSettings(file=str(folder / "decisions.jsonl")))
    run = vg.run(
        [folder / "photos", folder / "desk"], folder / "again", now=NOW, settings=settings, **given
    )
    return int(run.effects["used_since"].item())


def test_calls_count_from_the_decision_on(authored: Path) -> None:
    transcript = [
        *call("mask_sky", -3, "before"),
        *call("mask_sky", 2, "after"),
        *call("mask_sky", 3, "failed", "the mask is empty"),
        *call("crop", 3, "other"),
        *call("mask_sky", 60, "later than now"),
    ]
    write(authored / "desk" / "one.jsonl", transcript)

    report = vocabgap("report", "photos", "desk", "--now", NOW.isoformat(), "--top", "20")
    shown = vocabgap("show", "sky mask", "photos")

    assert (report.code, used(authored)) == (0, 2)
    assert pl.read_parquet("out/effects.parquet")["used_since"].to_list() == [2]
    assert "; used 2 times\n" in shown.out
    assert "mask_sky" not in json.dumps(json.loads(Path("out/run.json").read_bytes())["inputs"])


@pytest.mark.parametrize(
    ("tool", "uses"),
    [
        ("mask_sky", 1),
        ("maskSky", 1),
        ("mask sky", 1),
        ("mcp__server__mask_sky", 1),
        ("studio.mask_sky", 1),
        ("mcp__mask_sky__list", 0),
        ("unmask_sky", 0),
        ("mask_sky_twice", 0),
    ],
)
def test_a_tool_is_the_entry_if_its_name_or_the_last_part_of_it_is(
    tmp_path: Path, tool: str, uses: int
) -> None:
    write(tmp_path / "one.jsonl", call(tool, 2))

    files = vg.scan(tmp_path, settings=ScanSettings(entries=("mask_sky", "?"))).files

    assert files["calls"].list.len().to_list() == [uses]
    assert vg.scan(tmp_path).files["calls"].list.len().to_list() == [0]


@pytest.mark.parametrize(
    ("again", "uses"),
    [
        (call("mask_sky", 2), 1),
        (call("mask_sky", 2, session="resumed"), 1),
        (call("mask_sky", 2.1), 1),
        ([*call("mask_sky", 2), *call("mask_sky", 4, "t2")], 2),
        (call("mask_sky", 4, session="of another day"), 2),
    ],
    ids=["a copy", "resumed as another session", "told twice", "continued", "the same identifier"],
)
def test_a_call_in_two_transcripts_counts_once(
    authored: Path, again: list[Line], uses: int
) -> None:
    write(authored / "desk" / "one.jsonl", call("mask_sky", 2))
    write(authored / "desk" / "later" / "two.jsonl", again)

    assert used(authored) == uses


def test_a_refused_call_is_a_mention_and_no_use(authored: Path) -> None:
    refusal = "Error: No such tool available: mask_sky"
    write(authored / "desk" / "one.jsonl", call("mask_sky", 2, error=refusal))

    assert used(authored) == 0


@pytest.mark.parametrize(
    "odd", ["\ud800", "x" * 300_000, ["a"], {"b": 1}, 10**30, 1e300, True, "\x1b[2J"]
)
def test_odd_values_of_a_call_are_no_error(tmp_path: Path, odd: object) -> None:
    lines = [
        *call("mask_sky", 1, name=odd),  # type: ignore[arg-type]
        *call("mask_sky", 1, session=odd),  # type: ignore[arg-type]
        *call(odd, 1, "t2"),  # type: ignore[arg-type]
        *({**line, "timestamp": odd} for line in call("mask_sky", 1, "t3")),
    ]
    write(tmp_path / "one.jsonl", lines)

    files = vg.scan(tmp_path, settings=ScanSettings(entries=("mask_sky",))).files

    assert files["calls"].list.len().sum() in (1, 2)


def test_calls_without_a_time_or_outside_transcripts_do_not_count(authored: Path) -> None:
    dated = call("mask_sky", 2)
    undated = [{key: value for key, value in line.items() if key != "timestamp"} for line in dated]
    write(authored / "desk" / "one.jsonl", undated)
    write(authored / "desk" / "other.jsonl", [{"tool": "mask_sky", "time": NOW.isoformat()}])

    assert used(authored) == 0


def test_calls_are_the_same_on_an_engine(authored: Path) -> None:
    pytest.importorskip("pysail", reason="pysail is not installed, so no engine is tried")
    for number in range(8):
        calls = [*call("mask_sky", number - 3, f"t{number}"), *call("mask_sky", 20, "shared")]
        write(authored / "desk" / f"{number}.jsonl", calls)

    with vg.spark_engine() as engine:
        there = used(authored, engine=engine)

    assert there == used(authored) == 5


def test_many_other_calls_are_passed_over_in_blocks(authored: Path) -> None:
    several = [line for number in range(2_500) for line in call("crop", 1, f"c{number}")]
    write(authored / "desk" / "one.jsonl", [*several, *call("mcp__x__mask_sky", 2)])

    scanned = vg.scan(authored / "desk")

    assert scanned.summary.passed_over == 5_002
    assert used(authored) == 1
