"""One list of events, with which `diff`, `history`, `show`, the page and the Markdown agree."""

import json
import shutil
from dataclasses import replace
from datetime import UTC, datetime
from pathlib import Path

import polars as pl
import pytest

from builders import gap, write_corpus
from builders.command import vocabgap
from builders.reporting import publish, tell_anew_of
from vocabgap.files.parts import Parts
from vocabgap.listing.deciding import Decisions
from vocabgap.model.settings import DecisionSettings, Settings
from vocabgap.reporting.page import payload_of, render_page
from vocabgap.reporting.sharing import shareable
from vocabgap.reporting.summary import Summary, summarise
from vocabgap.reporting.writing import read_tables, render

NEEDS = ("sky mask", "film grain", "lens flare", "old lamp", "moon")
HAPPENED = [  # need, day of June, words in texts, kind in the table, list of `diff`
    ("sky mask", 3, "authored as sky_mask by ana", "authored", "authored"),
    ("sky mask", 14, "came back after it was authored as sky_mask", "came back", "regressed"),
    ("film grain", 2, "claimed by ana", "claimed", "claimed"),
    ("lens flare", 3, "dismissed by ana", "dismissed", "dismissed"),
    ("lens flare", 9, "reopened by ana", "reopened", "reopened"),
    ("old lamp", 4, "dismissed by ana", "dismissed", "dismissed"),
]
STATUS = {
    "sky mask": ("regressed", 14),
    "film grain": ("claimed", 2),
    "lens flare": ("open", 9),
    "old lamp": ("dismissed", 4),
}


def june(day: int) -> datetime:
    return datetime(2026, 6, day, tzinfo=UTC)


def come_back(out: Path) -> None:
    """Let the authored need of a published run come back, in its tables."""
    events, capabilities = out / "events.parquet", out / "capabilities.parquet"
    rows = pl.read_parquet(events)
    again = rows.filter(kind="authored").with_columns(
        pl.lit("came back").alias("kind"),
        pl.lit(june(14)).cast(rows.schema["moment"]).alias("moment"),
        pl.lit(None, pl.String).alias("by"),
    )
    pl.concat([rows, again]).sort("capability_id", "moment", nulls_last=True).write_parquet(events)
    ranked = pl.read_parquet(capabilities)
    is_it, since = pl.col("label") == "sky mask", pl.lit(june(14))
    facts = {
        "status": pl.lit("regressed", ranked.schema["status"]),
        "status_since": since,
        "status_by": pl.lit(None, pl.String),
        "mentions": pl.lit(1, pl.Int64),
        "established": pl.lit(value=True),
    }
    now = [pl.when(is_it).then(fact).otherwise(name).alias(name) for name, fact in facts.items()]
    ranked.with_columns(now).write_parquet(capabilities)
    for file in (events, capabilities):
        tell_anew_of(file)
    render(out)


@pytest.fixture(scope="module")
def made(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Two runs, `first` and `out`: people decided between them, and an authored need came back."""
    folder = tmp_path_factory.mktemp("events")
    photos = write_corpus(folder, {"one": [gap(need) for need in NEEDS]})
    out, file = folder / "out", folder / "decisions.jsonl"
    settings = Settings(decisions=DecisionSettings(file=str(file)))

    def on(day: int) -> Decisions:
        return Decisions(out, file, actor="ana", now=june(day))

    publish(folder, photos, now=june(1), settings=settings)
    shutil.copytree(out, folder / "first")
    on(2).claim("film grain")
    on(3).author("sky mask", entry="sky_mask")
    on(3).dismiss("lens flare", why="no")
    on(4).dismiss("old lamp", why="no")
    publish(folder, photos, now=june(8), settings=settings)
    on(9).reopen("lens flare")
    publish(folder, photos, now=june(15), settings=settings)
    come_back(out)
    return folder


def summary_in(folder: Path) -> tuple[Summary, Parts]:
    """The content of the last report, and its records."""
    manifest, tables = read_tables(folder / "out", option="--run")
    assert tables.gaps is not None
    with_history = replace(tables, history=pl.read_parquet(folder / "out" / "history.parquet"))
    return summarise(with_history, manifest), tables.gaps


@pytest.fixture(autouse=True)
def inside(made: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(made)


@pytest.mark.parametrize(("label", "day", "said", "kind", "change"), HAPPENED)
def test_each_event_has_the_same_date_and_words_everywhere(
    made: Path, label: str, day: int, said: str, kind: str, change: str
) -> None:
    words = f"{june(day):%Y-%m-%d} {said}"
    table = pl.read_parquet(made / "out" / "events.parquet").filter(label=label, kind=kind)
    *lines, _ = vocabgap("--json", "diff", "first", "out").out.splitlines()
    changes = [json.loads(line)["change"] for line in lines]

    assert table["moment"].to_list() == [june(day)]
    events = pl.read_parquet(made / "out" / "events.parquet").filter(label=label)
    is_last = events["moment"].max() == june(day)  # `diff` lists a need once
    assert is_last == (
        (change, label, f"{june(day):%Y-%m-%dT%H:%M:%SZ}")
        in {(each["kind"], each["label"], each["moment"]) for each in changes}
    )
    listed = vocabgap("diff", "first", "out", "--top", "0").out
    assert is_last == (f"  {label}: {words}; " in listed)
    assert f"\n{words}\n" in vocabgap("history", label).out
    if kind != "came back":  # a person decided it
        day_and_verb = f"{june(day):%Y-%m-%d} ana {kind} '{label}'"
        rows = payload_of(summary_in(made)[0])["rows"]
        decisions = {row["label"]: row["past"] for row in rows}[label]
        assert f"\ndecided: {day_and_verb}" in vocabgap("show", label, "photos").out
        assert [each for each in decisions if each.startswith(day_and_verb)]


@pytest.mark.parametrize(
    ("label", "status", "day"), [(name, *rest) for name, rest in STATUS.items()]
)
def test_the_last_event_is_the_status_everywhere(
    made: Path, label: str, status: str, day: int
) -> None:
    date = f"{june(day):%Y-%m-%d}"
    (capability,) = (
        pl.read_parquet(made / "out" / "capabilities.parquet").filter(label=label).to_dicts()
    )
    history = next(line for line in vocabgap("history").out.splitlines() if line.startswith(label))
    marks = {"regressed": f"asked for again on {date}", "claimed": f"claimed by ana since {date}"}
    markdown = (made / "out" / "report.md").read_text(encoding="utf-8")
    rows = [line for line in markdown.splitlines() if f" | {label} | " in line]

    assert (capability["status"], capability["status_since"]) == (status, june(day))
    assert history.split()[3:5] == [status, date]
    assert f"status: {status} since {date}" in vocabgap("show", label, "photos").out
    assert [marks.get(status, "") in row for row in rows] == [True] * (status != "dismissed")


def test_a_run_of_the_page_names_the_status_that_people_gave(made: Path) -> None:
    page = payload_of(summary_in(made)[0])
    rows = {row["label"]: row["notes"] for row in page["rows"]}

    assert rows["film grain"] == ((1, "claimed"), (2, "claimed"))
    assert rows["lens flare"] == ((1, "dismissed"),)
    assert rows["moon"] == ()


def test_a_shareable_page_has_no_events(made: Path) -> None:
    summary, gaps = summary_in(made)
    assert "ana dismissed" in render_page(summary)

    assert " ana " not in render_page(shareable(summary, gaps, 1))


def test_what_has_no_event_is_as_before_and_runs_without_events_compare_the_status(
    made: Path,
) -> None:
    with_events = vocabgap("diff", "first", "out").out
    shutil.copytree(made / "first", made / "older")
    manifest = json.loads((made / "older" / "run.json").read_text(encoding="utf-8"))
    manifest["outputs"] = [each for each in manifest["outputs"] if each["name"] != "events.parquet"]
    (made / "older" / "run.json").write_text(json.dumps(manifest), encoding="utf-8")

    without = vocabgap("diff", "older", "out").out

    assert with_events.splitlines()[0].endswith(": 1 capability as before")
    assert "sky mask: 2026-06-14 came back; " in without
    assert "film grain: 2026-06-02 claimed by ana; " in without
    assert "moon" not in without.split("Risen")[0]
