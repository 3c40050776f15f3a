"""What authoring changed, from the logs to every output: one scenario a row."""

import json
import random
import shutil
from collections.abc import Callable, Iterator, Mapping, Sequence
from datetime import UTC, datetime, timedelta
from functools import cache
from itertools import chain
from pathlib import Path
from typing import Any, NamedTuple

import msgspec
import polars as pl
import pytest
from polars.testing import assert_frame_equal

import vocabgap as vg
from builders import write_corpus
from builders.command import CommandResult, vocabgap
from builders.page import read
from builders.reporting import tables
from vocabgap.model.effect import Effect
from vocabgap.model.tables import TOTAL

AUTHORED = datetime(2026, 3, 2, 9, tzinfo=UTC)
GLOW, SHIFT = "lamp glow", "tilt shift"
STEADY = (
    "denoise shadows", "film grain size", "red eye fix", "level the horizon", "perspective warp",
    "skin tone match", "crop to subject", "batch rename",
)  # fmt: skip
Rows = Sequence[Mapping[str, object]]
Step = tuple[str, ...]  # a week, and the arguments of `decide`
AUTHOR = ("0", "author", GLOW, "--entry", "lamp_glow")


def at(week: float) -> datetime:
    """Return the moment some weeks after authoring."""
    return AUTHORED + timedelta(weeks=week)


def mentions(
    number: int, first: float, last: float, need: str = GLOW, **fields: object
) -> Iterator[dict[str, object]]:
    """Spread mentions evenly over some weeks, counted from authoring."""
    for place in range(number):
        moment = at(first + (place + 0.5) * (last - first) / number)
        yield {"timestamp": moment.isoformat(), "description": need, "workaround": "", **fields}


def others(after: float = 12) -> list[dict[str, object]]:
    """Return the mentions of eight other needs, one a week each, from twelve weeks before on."""
    rows: list[dict[str, object]] = []
    for place, need in enumerate(STEADY):
        shift = 0.1 * place
        weeks = 12 + int(after)
        rows += mentions(weeks, -12 + shift, -12 + weeks + shift - 0.8, need)
    return rows


def silent(rows: Rows, first: float, last: float) -> Rows:
    """Leave out the mentions of some weeks."""
    return [
        row
        for row in rows
        if not at(first).isoformat() <= str(row["timestamp"]) < at(last).isoformat()
    ]


class Scenario(NamedTuple):
    """What was logged and decided, and the verdicts in the end, of the newest effect first."""

    rows: Rows
    verdicts: tuple[str, ...]
    decided: tuple[Step, ...] = (AUTHOR,)
    weeks: float = 12


GONE = [*mentions(48, -12, 0), *mentions(2, 0, 12)]
SCENARIOS = {
    "gone": Scenario([*GONE, *others()], ("gone",)),
    "fewer": Scenario([*mentions(60, -12, 0), *mentions(22, 0, 12), *others()], ("fewer",)),
    "no change": Scenario([*mentions(48, -12, 0), *mentions(46, 0, 12), *others()], ("no change",)),
    "more": Scenario([*mentions(48, -12, 0), *mentions(110, 0, 12), *others()], ("more",)),
    "too early": Scenario([*mentions(48, -12, 0), *others(3)], ("too early",), weeks=3),
    "authored twice": Scenario(
        [*mentions(48, -12, 0), *mentions(48, 4, 12), *mentions(1, 14, 26), *others(26)],
        ("gone", "no change"),
        (AUTHOR, ("12", "author", GLOW, "--entry", "lamp_glow_2")),
        weeks=26,
    ),
    "authored then split": Scenario(
        [*GONE, *mentions(24, -12, 0, "lamp glows"), *mentions(24, 0, 12, "lamp glows"), *others()],
        ("gone",),
        (AUTHOR, ("12", "split", GLOW, "--wording", "lamp glows")),
    ),
    "merged after authoring": Scenario(
        [*GONE, *mentions(24, -12, 0, SHIFT), *mentions(24, 0, 12, SHIFT), *others()],
        ("fewer",),
        (AUTHOR, ("12", "merge", GLOW, SHIFT)),
    ),
    "two entries for one need": Scenario(
        [*GONE, *others()], ("gone",), (AUTHOR, ("2", "author", GLOW, "--entry", "lamp_halo"))
    ),
    "an outage week": Scenario(silent([*GONE, *others()], 3, 4), ("gone",)),
    "asked for only after it was authored": Scenario(
        [*mentions(3, 2, 11), *others()], ("too early",)
    ),
    "a log that stopped": Scenario(
        [*mentions(48, -12, 0), *others(0)], ("too early",), weeks=12
    ),
}  # fmt: skip


class Told(NamedTuple):
    """The outputs of the report at the end of a scenario."""

    folder: Path
    shown: str  # by `vocabgap show`
    result: dict[str, Any]


def reported(week: float, *options: str, json_lines: bool = False) -> CommandResult:
    """Report as of some weeks after authoring."""
    first = ("--json",) if json_lines else ()
    now = at(week).isoformat()
    return vocabgap(*first, "report", "photos", "--now", now, "--evidence", *options)


def decided(*steps: Step, run: str = "out") -> None:
    """Decide about the needs of a published run."""
    for week, *arguments in steps:
        now = at(float(week)).isoformat()
        result = vocabgap("decide", *arguments, "--now", now, "--run", run, "--actor", "ana")
        assert result.code == 0, result.err


@pytest.fixture(scope="module")
def before(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The run of a workspace with all needs, about which people decide."""
    folder = tmp_path_factory.mktemp("before")
    needs = (*mentions(3, -12, 0), *mentions(2, -12, 0, "lamp glows"), *mentions(1, -12, 0, SHIFT))
    root = write_corpus(folder, {"one": needs})
    assert vocabgap("report", root, "--now", at(0).isoformat(), "--out", folder / "run").code == 0
    return folder / "run"


@pytest.fixture(scope="module")
def told(tmp_path_factory: pytest.TempPathFactory, before: Path) -> Callable[[str], Told]:
    """Return a function that plays a scenario once."""

    @cache
    def play(name: str) -> Told:
        scenario, folder = SCENARIOS[name], tmp_path_factory.mktemp("effects")
        with pytest.MonkeyPatch.context() as patch:
            patch.chdir(folder)
            write_corpus(folder, {"one": scenario.rows})
            decided(*scenario.decided, run=str(before))
            result = reported(scenario.weeks, json_lines=True)
            assert result.code == 0, result.err
            shown = vocabgap("show", GLOW, "photos").out
        return Told(folder, shown, json.loads(result.out.splitlines()[-1]))

    return play


@pytest.fixture
def ended(told: Callable[[str], Told], tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A copy of the main scenario at its end, as the current folder."""
    shutil.copytree(told("gone").folder, tmp_path / "copy")
    monkeypatch.chdir(tmp_path / "copy")
    return tmp_path / "copy"


def test_a_need_that_was_authored_before_its_first_mention_tells_what_is_missing(
    told: Callable[[str], Told],
) -> None:
    out = told("asked for only after it was authored").folder / "out"

    (effect,) = pl.read_parquet(out / "effects.parquet").to_dicts()
    assert (effect["missing"], effect["mentions_after"]) == ("mentions before it was authored", 3)
    happened = pl.read_parquet(out / "events.parquet").filter(label=GLOW)
    assert happened["kind"].to_list() == ["authored", "opened"]


def section(out: Path) -> list[list[str]]:
    """Return the rows of the section in the long Markdown."""
    text = (out / "evidence.md").read_text(encoding="utf-8")
    rest = text.partition("\n## What authoring changed\n")[2]
    return next(tables(rest))[1:] if rest else []


def on_page(out: Path) -> list[list[str]]:
    """Return the rows of the section in the data of the page."""
    page = read((out / "report.html").read_text(encoding="utf-8"))
    effects = [each["rows"] for each in page.data["sections"] if each["id"] == "effects"]
    return [
        [each[0]["text"] if isinstance(each, list) else str(each) for each in row]
        for row in chain(*effects)
    ]


def said(effect: Mapping[str, Any]) -> list[str]:
    """Return the cells of an effect, as Markdown and page show it."""

    def share(name: str) -> str:
        return f"{100 * effect[name]:.0f}"

    def rating(name: str) -> str:
        return "–" if effect[name] is None else f"{effect[name]:+.1f}"

    verdict = effect["verdict"]
    verdict += f"; missing: {effect['missing']}" if effect["missing"] else ""
    verdict += f"; came back on {effect['came_back']:%Y-%m-%d}" if effect["came_back"] else ""
    return [
        effect["label"],
        ", ".join(effect["entries"]),
        f"{effect['since']:%Y-%m-%d}",
        f"{effect['mentions_before']} in {effect['weeks_before']:.0f} weeks",
        f"{effect['mentions_after']} in {effect['weeks_after']:.0f} weeks",
        "–"
        if effect["ratio"] is None
        else f"{share('ratio')} % ({share('ratio_low')} to {share('ratio_high')} %)",
        f"{rating('rating_before')} before, {rating('rating_after')} after",
        str(effect["used_since"]),
        verdict,
    ]


def sentence(cells: Sequence[str]) -> str:
    """Return the sentence about an unrated effect without uses."""
    _, entries, since, before, after, share, _, _, verdict = cells
    of = f"; {share} of the expected" if share != "–" else ""
    return f"{verdict}; authored as {entries}; mentions: {after} since {since}, {before} before{of}"


@pytest.mark.parametrize("name", SCENARIOS)
def test_every_output_has_the_same_verdicts(name: str, told: Callable[[str], Told]) -> None:
    folder, shown, result = told(name)
    table = vg.effects(folder / "out")
    rows = table.to_dicts()
    cells = [said(row) for row in rows]

    assert tuple(table["verdict"]) == SCENARIOS[name].verdicts
    assert pl.read_parquet(folder / "out" / "effects.parquet").to_dicts() == rows
    assert [{**row, "entries": tuple(row["entries"])} for row in rows] == [
        msgspec.structs.asdict(effect)
        for effect in msgspec.convert(result["effects"], list[Effect])
    ]
    assert section(folder / "out") == cells
    assert on_page(folder / "out") == cells
    for row in cells:
        assert f"\neffect: {sentence(row)}\n" in shown


def test_the_terminal_tells_how_many_authored_needs_went(ended: Path) -> None:
    text = reported(12).out

    (cells,) = section(ended / "out")
    assert f"\n1 need was authored so far; verdicts: 1 gone.\n  {GLOW}: {sentence(cells)}\n" in text
    assert "1 need was authored so far; verdicts: 1 gone." in Path("out/report.md").read_text(
        encoding="utf-8"
    )


def test_a_need_that_authoring_solved_is_not_proposed_again(ended: Path) -> None:
    Path("known.json").write_text("[]", encoding="utf-8")

    for week in (12, 13):
        result = reported(week, "--fail-on", "regressed", json_lines=True)
        lines = [json.loads(line) for line in result.out.splitlines()]
        manifest = json.loads((ended / "out/run.json").read_text(encoding="utf-8"))
        shortlisted = [each["capability_id"] for each in manifest["shortlist"]]
        (row,) = (
            pl.read_parquet("out/capabilities.parquet")
            .with_columns(TOTAL)
            .filter(label=GLOW)
            .to_dicts()
        )

        assert (result.code, [line for line in lines if line["event"] == "gate"]) == (0, [])
        assert GLOW not in {line["capability"]["label"] for line in lines if "capability" in line}
        assert shortlisted
        assert row["capability_id"] not in shortlisted
        assert (row["status"], row["mentions"], row["total"]) == ("authored", 2, 50)
        issues = vocabgap("issues", "known.json", "--top", "20").out
        assert STEADY[0] in issues
        assert GLOW not in issues


def test_use_ratings_and_weights_count_on_their_side(ended: Path) -> None:
    rows = [
        *mentions(24, -12, 0, satisfaction=-1, count=2),
        *mentions(1, 1, 11, satisfaction=1, count=3),
        *mentions(1, 1, 12, satisfaction=0),
        *mentions(1, 2, 4, STEADY[0], vocabulary_used=["lamp_glow"], count=4),
        *mentions(1, -4, -2, STEADY[0], vocabulary_used=["lamp_glow"], count=4),
        *others(),
    ]
    shutil.rmtree("photos")
    write_corpus(ended, {"one": rows})
    text = reported(12).out

    (cells,) = section(ended / "out")
    assert [cells[place] for place in (3, 4, 6, 7)] == [
        "48 in 12 weeks", "4 in 12 weeks", "-1.0 before, +0.8 after", "4",
    ]  # fmt: skip
    assert "; satisfaction -1.0 before, +0.8 after; used 4 times\n" in text


def test_the_weeks_after_begin_with_the_first_use_if_that_is_later(ended: Path) -> None:
    write_corpus(
        ended, {"two": mentions(1, 1.5, 2.5, STEADY[0], vocabulary_used=["lamp_glow"])}, "more"
    )
    options = ("--now", at(12).isoformat(), "--evidence")
    assert vocabgap("report", "photos", "more", *options).code == 0

    (row,) = vg.effects("out").to_dicts()

    assert (row["decided"], row["since"]) == (AUTHORED, at(2))
    assert section(ended / "out")[0][2] == f"{at(2):%Y-%m-%d}"


@pytest.mark.usefixtures("ended")
def test_filters_and_units_do_not_change_an_effect() -> None:
    whole = vg.effects("out")
    Path("vocabgap.toml").write_text("[report]\nunit = 'copse/copses'\n", encoding="utf-8")

    assert reported(12, "--since", f"{at(6):%Y-%m-%d}").code == 0

    assert_frame_equal(vg.effects("out"), whole)


@pytest.mark.usefixtures("ended")
def test_a_shareable_page_withholds_effects() -> None:
    assert reported(12, "--share", "--min-images", "2").code == 0

    shared = Path("out/share.html").read_text(encoding="utf-8")

    assert "What authoring changed" in Path("out/report.html").read_text(encoding="utf-8")
    assert "What authoring changed" not in shared
    assert "lamp_glow" not in shared


@pytest.mark.usefixtures("ended")
def test_without_a_decision_there_is_no_section() -> None:
    Path("decisions.jsonl").unlink()
    text = reported(12)

    assert vg.effects("out").is_empty()
    for file in ("report.md", "report.html"):
        assert "What authoring changed" not in Path("out", file).read_text(encoding="utf-8")
    assert "authored" not in text.out


def test_a_present_before_the_decision_is_too_early(ended: Path) -> None:
    assert reported(-1).code == 0

    (cells,) = section(ended / "out")
    assert cells[4:6] == ["0 in 0 weeks", "–"]
    late = "records after the decision, which is later than the log"
    assert cells[-1] == f"too early; missing: {late}"


def test_neither_order_nor_logs_change_an_effect(ended: Path) -> None:
    whole = vg.effects("out")
    rows = random.Random(3).sample(SCENARIOS["gone"].rows, len(SCENARIOS["gone"].rows))  # noqa: S311
    shutil.rmtree("photos")
    write_corpus(ended, {"b": rows[:70], "a": rows[70:71], "c": rows[71:]})
    assert reported(12).code == 0

    assert_frame_equal(vg.effects("out"), whole)


def test_hostile_labels_and_entries_are_texts(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    label, entry = (
        "<b>glow</b> | `x` [y](http://z.example)",
        "</td><script>alert(1)</script>|*e*\x1b[31m",
    )
    monkeypatch.chdir(tmp_path)
    write_corpus(tmp_path, {"one": [*mentions(48, -12, 0, label), *others()]})
    assert reported(0).code == 0
    decided(("0", "author", label, "--entry", entry))
    assert reported(12).code == 0

    (cells,) = section(tmp_path / "out")
    (found,) = vg.effects("out")["label"]
    seen = entry.replace("\x1b", "\\u001b")
    assert cells[:2] == [found, seen]
    assert on_page(tmp_path / "out")[0][:3] == [found, seen, f"{AUTHORED:%Y-%m-%d}"]
    assert "\x1b" not in Path("out/report.html").read_text(encoding="utf-8")


def test_a_run_of_an_older_version_has_no_effects_and_is_rendered_and_compared(ended: Path) -> None:
    shutil.copytree("out", "older")
    Path("older/effects.parquet").unlink()
    manifest = json.loads(Path("older/run.json").read_text(encoding="utf-8"))
    manifest["outputs"] = [
        each for each in manifest["outputs"] if each["name"] != "effects.parquet"
    ]
    Path("older/run.json").write_text(json.dumps(manifest), encoding="utf-8")

    assert vg.effects("older").is_empty()
    assert vocabgap("diff", "older", "out").code == 0
    assert reported(13, "--previous", "older").code == 0
    assert section(ended / "out")
    assert vocabgap("render", "older", "--evidence").code == 0
    assert section(ended / "older") == []
