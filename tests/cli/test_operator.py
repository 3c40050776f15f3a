"""Eleven weeks of an operator: one report a week, whose gates fail once for each event."""

import json
import shutil
from collections.abc import Iterable
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import NamedTuple

import polars as pl
import pytest

from builders.command import vocabgap
from builders.pages import listed

BEGIN = datetime(2026, 6, 1, tzinfo=UTC)  # a Monday, the begin of week 1
BEFORE = 12  # weeks of logs before that
STEADY = (
    "denoise shadows", "film grain size", "red eye fix", "level the horizon", "perspective warp",
    "skin tone match",
)  # fmt: skip
MASK, GRAIN, FLARE, HALO = "sky mask", "film grain size", "lens flare removal", "halo repair"
OUTAGE = 5
SETTINGS = """\
[ingest]
roots = ["photos"]

[report]
fail_on = ["regressed", "rejects", "new-top"]
top = 0

[check]
baseline = "known-bad-lines.jsonl"
"""


class Week(NamedTuple):
    """What is decided and logged in a week, and the gates of the report at its end."""

    asked: tuple[str, ...] = ()  # mentions beside the steady needs
    bad: str = ""  # a line that is no record
    decided: tuple[str, ...] = ()
    gates: tuple[str, ...] = ()


class Job(NamedTuple):
    """The folder of the job, and the failures of each week."""

    folder: Path
    failed: dict[int, list[dict[str, str]]]


WEEKS = {
    1: Week(asked=(MASK,) * 6, bad="[1]", gates=("rejects",)),
    2: Week(asked=(*(MASK,) * 6, FLARE, FLARE), gates=("new-top",)),
    3: Week(decided=("author", MASK, "--entry", "sky_mask")),
    4: Week(decided=("claim", GRAIN), bad="[2]", gates=("rejects",)),
    OUTAGE: Week(),
    6: Week(asked=(MASK,)),
    7: Week(asked=(MASK,) * 7, gates=("regressed",)),
    8: Week(asked=(MASK,) * 7),
    9: Week(
        decided=("author", MASK, "--entry", "sky_mask_2"), asked=(HALO, HALO), gates=("new-top",)
    ),
    10: Week(decided=("author", GRAIN, "--entry", "grain_size")),
    11: Week(bad="[1]", gates=("rejects",)),  # another line, though an earlier one is equal
}


EVENTS = {
    2: [(FLARE, "opened", "2026-06-13")],
    3: [(MASK, "authored", "2026-06-15")],
    4: [(GRAIN, "claimed", "2026-06-22")],
    7: [(MASK, "came back", "2026-07-20")],
    9: [(HALO, "opened", "2026-07-30"), (MASK, "authored", "2026-07-27")],
    10: [(GRAIN, "authored", "2026-08-03")],
}
KINDS = {"new": "opened", "regressed": "came back"} | {
    name: name for name in ("claimed", "authored", "dismissed", "reopened")
}
STATUS = {"claimed": "claimed", "authored": "authored", "came back": "regressed"}


def monday(week: int) -> datetime:
    return BEGIN + timedelta(weeks=week - 1)


def write(week: int, asked: Iterable[str], bad: str = "") -> None:
    """Log each steady need three times, and the others; each mention is a session of its own."""
    log = Path("photos/one/vocabulary_gaps.jsonl")
    log.parent.mkdir(parents=True, exist_ok=True)
    with log.open("a", encoding="utf-8") as file:
        for number, need in enumerate((*STEADY * 3, *asked)):
            moment = monday(week) + timedelta(hours=5 * number + 1)
            record = {"timestamp": moment.isoformat(), "image_id": "one", "description": need}
            file.write(
                json.dumps({**record, "workaround": "", "session_id": f"{week}-{number}"}) + "\n"
            )
        file.write(f"{bad}\n" if bad else "")


@pytest.fixture(scope="module")
def job(tmp_path_factory: pytest.TempPathFactory) -> Job:
    """Run the eleven weeks in a folder, and keep each run."""
    failed: dict[int, list[dict[str, str]]] = {}
    folder = tmp_path_factory.mktemp("operator")
    with pytest.MonkeyPatch.context() as patch:
        patch.chdir(folder)
        patch.setenv("VOCABGAP_ACTOR", "ana")
        Path("vocabgap.toml").write_text(SETTINGS, encoding="utf-8")
        for week in range(1 - BEFORE, 1):
            write(week, (MASK,) * 6)
        for week, (asked, bad, decided, _) in WEEKS.items():
            if decided:
                assert vocabgap("decide", *decided, "--now", monday(week).isoformat()).code == 0
            if week != OUTAGE:
                write(week, asked, bad)
            result = vocabgap("--json", "report", "--now", monday(week + 1).isoformat())
            events = [json.loads(line) for line in result.out.splitlines()]
            failed[week] = [each["failure"] for each in events if each["event"] == "gate"]
            assert result.code == (5 if failed[week] else 0)
            shutil.copytree("out", f"kept-{week}")
    return Job(folder, failed)


@pytest.fixture(autouse=True)
def _inside(job: Job, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(job.folder)


def happened(week: int) -> set[tuple[str, str, str]]:
    """The events of the run that was kept of a week: capability, kind and day."""
    table = pl.read_parquet(Path(f"kept-{week}", "events.parquet"))
    day = pl.col("moment").dt.to_string("%Y-%m-%d")
    return {*table.select("label", "kind", day).iter_rows()}


def test_each_gate_fails_once_per_event(job: Job) -> None:
    assert {week: tuple(each["gate"] for each in job.failed[week]) for week in WEEKS} == {
        week: each.gates for week, each in WEEKS.items()
    }


def test_a_gate_says_what_happened_when_and_which_command_answers_it(job: Job) -> None:
    (back,), (new,), (line,) = (job.failed[week] for week in (7, 9, 4))

    assert back["told"].endswith(") came back on 2026-07-20, authored as 'sky_mask'")
    assert back["answer"] == f"vocabgap decide reopen {back['capability_id']}"
    assert new["told"].endswith("rank 7) first asked for on 2026-07-30")
    assert new["answer"] == f"vocabgap decide claim {new['capability_id']}"
    assert (
        line["told"]
        == f"one/vocabulary_gaps.jsonl:{line['line']} not_an_object new since 2026-06-22"
    )
    assert line["answer"] == "vocabgap check … --write-baseline"


@pytest.mark.parametrize("week", range(2, 12))
def test_diff_of_two_weeks_has_the_events_between_them(week: int) -> None:
    new = happened(week) - happened(week - 1)
    printed = vocabgap("--json", "diff", f"kept-{week - 1}", f"kept-{week}").out.splitlines()
    changes = [json.loads(line)["change"] for line in printed[:-1]]

    assert new == {*EVENTS.get(week, ())}
    assert {(each["label"], KINDS[each["kind"]]) for each in changes if each["kind"] in KINDS} == {
        (label, kind) for label, kind, _ in new
    }
    dated = {(each["label"], each["moment"][:10]) for each in changes if each["moment"]}
    assert dated == {(label, day) for label, kind, day in new if kind != "opened"}


@pytest.mark.parametrize("week", WEEKS)
def test_every_output_of_a_week_has_the_same_status_and_date(week: int) -> None:
    run = f"kept-{week}"
    day = pl.col("status_since").dt.to_string("%Y-%m-%d")
    ranked = pl.read_parquet(Path(run, "capabilities.parquet")).select("label", "status", day)
    page = {each["label"]: each for each in listed(Path(run, "report.html"))}
    message = vocabgap("history", "--run", run).out.splitlines()

    for label, status, since in ranked.iter_rows():
        events = sorted((when, kind) for name, kind, when in happened(week) if name == label)
        assert page[label]["status"] == status
        (line,) = (line for line in message if line.startswith(f"{label}  "))
        assert status in line
        if since is not None:
            assert events[-1][0] == since
            assert STATUS[events[-1][1]] == status
            assert since in line
            assert since in page[label]["past"][-1]
            assert page[label]["notes"][-1] == [week - 1, status]
