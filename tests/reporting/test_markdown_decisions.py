"""What the report says of vocabularies, decisions, too little evidence, and the run before."""

import json
import re
from collections.abc import Callable, Iterator
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import pytest

from vocabgap.deciding import Decisions
from vocabgap.pipeline import Run, run
from vocabgap.settings import DecisionSettings, RankSettings, Settings, VocabularySettings

Gap = Callable[..., dict[str, object]]
Corpus = Callable[..., Path]
TextOf = Callable[[Run], str]
Headings = Callable[[str], list[str]]
Tables = Callable[[str], Iterator[list[list[str]]]]

NOW = datetime(2026, 7, 1, tzinfo=UTC)
COVERED = "Probably covered: check the entry, or how it can be found"
DECIDED = "Decided"
SKY = {"name": "sky_mask", "description": "A mask of the sky."}
FOG = {"name": "fog_density", "description": "Density of fog over water."}


class Desk:
    """A workspace, a vocabulary that may be given, and decisions about both."""

    def __init__(self, folder: Path, root: Path) -> None:
        self.folder, self.root = folder, root

    def report(
        self,
        *entries: dict[str, Any],
        rank: RankSettings | None = None,
        **given: Any,  # noqa: ANN401
    ) -> Run:
        listed = self.folder / "entries.json"
        listed.write_text(json.dumps({"entries": entries}), encoding="utf-8")
        settings = Settings(
            vocabulary=VocabularySettings(paths=(str(listed),) if entries else ()),
            decisions=DecisionSettings(file=str(self.folder / "decisions.jsonl")),
            rank=rank or RankSettings(),
        )
        return run(self.root, self.folder / "out", **{"settings": settings, "now": NOW, **given})

    @property
    def decide(self) -> Decisions:
        return Decisions(self.folder / "out", self.folder / "decisions.jsonl", actor="ana", now=NOW)


@pytest.fixture
def desk(gap: Gap, write_corpus: Corpus, tmp_path: Path) -> Desk:
    """Three needs: asked for three times on two images, twice on one, once."""
    root = write_corpus(
        {
            "one": [gap("sky mask", notes="1"), gap("sky mask", notes="2"), gap("film grain", notes="1")],
            "two": [gap("sky mask", workaround="drew it"), gap("lens flare")],
            "three": [gap("film grain", session_id="s-1")],
        }
    )
    return Desk(tmp_path, root)


def lead(text: str) -> str:
    """The paragraphs before the first section."""
    return text.partition("\n## ")[0]


def explained(made: Run) -> float:
    """How many percent of the first need the nearest entry explains."""
    shares: list[float] = [entry["explained"] for entry in made.ranked["covered_by"][0]]
    return 100 * max(shares)


def labels(table: list[list[str]]) -> list[str]:
    heading, *rows = table
    return [row[heading.index("Capability")] for row in rows]


def test_the_first_is_told_with_its_lead_trend_and_workaround(desk: Desk, text_of: TextOf) -> None:
    told = lead(text_of(desk.report()))
    assert "It leads by 1 mention; its 90 % interval is rank 1–" in told
    assert "Fading: 0 mentions in the last 12 weeks, 0 of them in the last 4." in told
    assert "Done instead, most often: drew it (1 time)." in told
    assert "Nobody has decided about it." in told


def test_without_a_vocabulary_it_is_not_known_what_is_covered(
    desk: Desk, text_of: TextOf, headings: Headings
) -> None:
    text = text_of(desk.report())
    assert "Whether the vocabulary has it already is not known: no `--vocabulary` was given." in lead(text)
    assert COVERED not in headings(text)


def test_what_is_covered_is_listed_apart_and_not_to_be_authored(
    desk: Desk, text_of: TextOf, tables: Tables
) -> None:
    made = desk.report(SKY, FOG)
    text = text_of(made)
    whole, covered, *_ = tables(text)
    share = f"{explained(made):.0f} %"
    assert labels(whole) == ["film grain", "lens flare"]
    assert covered[1:] == [["1", "sky mask", "3", "2", "2026-04-01", "sky_mask", share, "mask, sky"]]
    assert "**film grain** is what is missing most" in lead(text)
    assert "What ranks before it is probably covered, and listed below." in lead(text)


def test_a_rank_that_is_missing_in_the_list_is_explained(desk: Desk, text_of: TextOf) -> None:
    grain = {"name": "film_grain", "description": "Grain of a film."}
    told = "The ranks that are missing here are probably covered, and listed below."
    assert told in text_of(desk.report(grain, FOG))
    assert told not in text_of(desk.report(FOG))


def test_where_no_entry_has_a_word_of_it_the_report_says_so(desk: Desk, text_of: TextOf) -> None:
    assert "No entry of the vocabulary shares a word with it." in lead(text_of(desk.report(FOG)))


def test_an_entry_that_comes_near_is_named_with_what_it_explains(desk: Desk, text_of: TextOf) -> None:
    text = text_of(desk.report({"name": "mask_brush"}, FOG))
    share = re.search(r"The entry that comes nearest, `mask_brush`, explains (\d+) % of it", lead(text))
    assert share
    assert 0 < int(share[1]) < 100
    assert "of it: probably not what was wanted." in lead(text)
    assert f"Entries that come nearest: `mask_brush` ({share[1]} % explained, by mask)." in text


def test_what_people_want_authored_stays_in_the_list_though_it_is_covered(
    desk: Desk, text_of: TextOf, headings: Headings, tables: Tables
) -> None:
    desk.report(SKY)
    desk.decide.pin("sky mask")
    made = desk.report(SKY)
    text = text_of(made)
    assert labels(next(tables(text)))[0] == "sky mask"
    assert COVERED not in headings(text)
    assert (
        f"The entry that comes nearest, `sky_mask`, explains {explained(made):.0f} % of it:"
        " it probably covers it, but people have decided about it."
    ) in lead(text)
    assert re.search(r"Decided: 2026-07-01 ana pinned 'sky mask' \(dec-[0-9a-f]+\)\.", lead(text))


def test_what_stands_first_though_less_is_asked_for_it_is_not_called_missing_most(
    desk: Desk, text_of: TextOf
) -> None:
    desk.report()
    desk.decide.pin("lens flare", "a client waits")
    told = lead(text_of(desk.report()))
    assert "**lens flare** stands first because of what was decided: asked for once" in told
    assert "The next has 2 more mentions; " in told
    assert "ana pinned 'lens flare': a client waits (dec-" in told


@pytest.mark.parametrize(
    ("action", "more", "status", "told"),
    [
        ("dismiss", "not ours", "dismissed", "ana dismissed 'sky mask': not ours"),
        ("author", "sky_only", "authored", "ana authored 'sky mask' as 'sky_only'"),
    ],
)
def test_what_is_settled_is_listed_apart_with_the_decision(
    *, desk: Desk, text_of: TextOf, tables: Tables, action: str, more: str, status: str, told: str
) -> None:
    desk.report()
    getattr(desk.decide, action)("sky mask", more)
    whole, settled, *_ = tables(text_of(desk.report()))
    assert labels(whole) == ["film grain", "lens flare"]
    assert settled[0] == ["#", "Capability", "Status", "Mentions", "Last seen", "Decisions"]
    [row] = settled[1:]
    assert row[:5] == ["3", "sky mask", status, "3", "2026-04-01"]
    assert row[5].startswith(f"2026-07-01 {told} (dec-")


@pytest.mark.parametrize(
    ("rank", "told"),
    [
        (
            RankSettings(min_images=2),
            "1 capability is left out here, being on fewer than 2 images; `capabilities.parquet` has it.",
        ),
        (
            RankSettings(min_sessions=1),
            (
                "2 capabilities are left out here, being in fewer than 1 known session;"
                " `capabilities.parquet` has them."
            ),
        ),
    ],
)
def test_what_is_not_established_is_left_out_and_counted(
    desk: Desk, text_of: TextOf, rank: RankSettings, told: str
) -> None:
    assert f"\n\n{told}\n\n" in text_of(desk.report(rank=rank))


def test_without_a_least_evidence_nothing_is_left_out(desk: Desk, text_of: TextOf) -> None:
    assert "left out here" not in text_of(desk.report())


def test_what_people_pinned_is_shown_however_little_evidence_it_has(
    desk: Desk, text_of: TextOf, tables: Tables
) -> None:
    desk.report()
    desk.decide.pin("lens flare")
    text = text_of(desk.report(rank=RankSettings(min_images=2)))
    assert labels(next(tables(text))) == ["lens flare", "sky mask", "film grain"]
    assert "left out here" not in text


def test_where_nothing_is_left_to_author_the_report_says_why(
    desk: Desk, text_of: TextOf, headings: Headings
) -> None:
    desk.report(SKY)
    desk.decide.dismiss("film grain", "not ours")
    text = text_of(desk.report(SKY, rank=RankSettings(min_images=2)))
    assert (
        "**Nothing is left to author: of 3 capabilities, 1 probably covered, 1 decided, 1 left out.**"
        in lead(text)
    )
    assert "1 capability is left out here, being on fewer than 2 images" in text
    assert headings(text)[:4] == ["What to author next", COVERED, DECIDED, "By category"]


def test_where_everything_is_decided_only_that_is_said(desk: Desk, text_of: TextOf) -> None:
    desk.report()
    for label in ("sky mask", "film grain", "lens flare"):
        desk.decide.dismiss(label, "not ours")
    told = lead(text_of(desk.report()))
    assert "**Nothing is left to author: of 3 capabilities, 3 decided.**" in told


def test_the_first_run_has_no_changes_and_the_next_ones_have(desk: Desk, gap: Gap, text_of: TextOf) -> None:
    assert "Since the run before" not in text_of(desk.report())
    log = desk.root / "one" / "vocabulary_gaps.jsonl"
    log.write_text(json.dumps(gap("haze removal")) + "\n", encoding="utf-8")
    later = datetime(2026, 7, 2, tzinfo=UTC)
    assert "Since the run before: 3 continued, 1 new." in lead(text_of(desk.report(now=later)))


def test_ties_are_told_to_their_end_even_if_it_is_not_shown(demo_run: Run, text_of: TextOf) -> None:
    ranked = demo_run.ranked
    last_shown = ranked.row(9, named=True)["tie_group"]
    end = ranked.filter(ranked["tie_group"] == last_shown)["rank"].max()
    assert isinstance(end, int)
    assert end > 10
    assert re.search(rf"Tied here: .*to {end}\.", text_of(demo_run))


@pytest.mark.parametrize("entries", [(), (SKY, FOG)], ids=["no vocabulary", "vocabulary"])
def test_paragraphs_stay_apart_by_one_blank_line(
    desk: Desk, text_of: TextOf, entries: tuple[dict[str, Any], ...]
) -> None:
    desk.report()
    desk.decide.dismiss("lens flare", "not ours")
    desk.decide.rename("film grain", "grain of a film")
    for rank in (RankSettings(), RankSettings(min_images=3)):
        text = text_of(desk.report(*entries, rank=rank))
        assert "\n\n\n" not in text
        assert not re.search(r"(?m)[ \t]+$", text)
        assert not re.search(r"(?m)^[^\n|#-].*\n(#|\|)", text)
