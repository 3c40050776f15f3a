"""What the report says of vocabularies, decisions, too little evidence, and the run before."""

import json
import re
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import pytest

from builders import gap, write_corpus
from builders.reporting import evidence_of, headings, tables, text_of
from vocabgap.listing.deciding import Decisions
from vocabgap.model.settings import DecisionSettings, RankSettings, Settings, VocabularySettings
from vocabgap.pipeline import Run, run
from vocabgap.reporting.markdown import render_shortlist

NOW = datetime(2026, 7, 1, tzinfo=UTC)
SKY = {"name": "sky_mask", "description": "A mask of the sky."}
FOG = {"name": "fog_density", "description": "Density of fog over water."}
FILM = {"name": "film_grain", "description": "Grain of a film."}
FLARE = {"name": "lens_flare"}


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
def desk(tmp_path: Path) -> Desk:
    """Three needs: asked for three times on two images, twice on one, once."""
    root = write_corpus(
        tmp_path,
        {
            "one": [
                gap("sky mask", notes="1"),
                gap("sky mask", notes="2"),
                gap("film grain", notes="1"),
            ],
            "two": [gap("sky mask", workaround="drew it"), gap("lens flare")],
            "three": [gap("film grain", session_id="s-1")],
        },
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
    return [row[heading.index("Need")] for row in rows]


def test_what_probably_exists_keeps_its_rank_and_the_first_need_without_an_entry_is_named(
    desk: Desk,
) -> None:
    text = text_of(desk.report(SKY, FOG))
    whole = next(tables(text))
    assert labels(whole) == ["sky mask", "film grain", "lens flare"]
    assert whole[1][whole[0].index("Beside")] == "probably exists as sky_mask"
    assert lead(text).split("\n\n")[1] == (
        "Check **sky mask**: 3 mentions on 2 images; no workaround was rated."
        " It probably exists as sky\\_mask."
        " Ranked by mentions; ranks 1 to 3 are level."
        " The first need to author: film grain (2), 2 mentions on 2 images;"
        " no workaround was rated."
    )


def test_the_answer_names_no_other_need_where_all_exist(desk: Desk) -> None:
    made = desk.report(SKY, FILM, FLARE)
    message = lead(text_of(made))
    assert "Check **sky mask**: " in message
    assert "The first need to author" not in message
    none = "No need is left to author: each is claimed, or probably has an entry."
    assert none in message
    assert render_shortlist(made.published.summary).endswith(f"\n\n{none}")  # no draft
    assert none not in render_shortlist(desk.report(SKY, FILM).published.summary)


def test_what_probably_exists_has_its_evidence_so_that_the_claim_can_be_checked(
    desk: Desk,
) -> None:
    made = desk.report(SKY, FILM)
    evidence = evidence_of(made).partition("## 1. sky mask\n")[2].partition("\n## ")[0]
    assert f"Closest entries: `sky_mask` ({explained(made):.0f} % explained, by" in evidence
    assert "Workarounds: drew it (1)." in evidence
    assert len(re.findall(r"(?m)^- .*image `", evidence)) == 3


def test_an_entry_that_comes_near_is_named_with_what_it_explains(desk: Desk) -> None:
    made = desk.report({"name": "mask_brush"}, FOG)
    assert "Author **sky mask**" in text_of(made)
    share = f"{explained(made):.0f}"
    assert f"Closest entries: `mask_brush` ({share} % explained, by mask)." in evidence_of(made)


def test_a_pinned_need_is_first_and_says_where_its_counts_would_put_it(desk: Desk) -> None:
    desk.report()
    desk.decide.pin("lens flare", "a client waits")
    made = desk.report()
    whole = next(tables(text_of(made)))
    assert labels(whole) == ["lens flare", "sky mask", "film grain"]
    assert whole[1][0] == "1 (pinned)"
    assert whole[1][whole[0].index("Beside")] == "pinned by ana"
    assert "Pinned by ana; by mentions rank 1–3." in lead(text_of(made))
    assert "ana pinned 'lens flare': a client waits (dec-" in evidence_of(made)


def test_what_people_claimed_is_in_work_and_the_next_need_is_named(desk: Desk) -> None:
    desk.report()
    desk.decide.claim("sky mask")
    message = lead(text_of(desk.report()))
    assert "In work: **sky mask**: " in message
    assert "Claimed by ana since 2026-07-01." in message
    assert "The first need to author: film grain (2), 2 mentions on 2 images;" in message


@pytest.mark.parametrize(
    ("action", "more", "message"),
    [
        ("dismiss", "not ours", "ana dismissed 'sky mask': not ours"),
        ("author", "sky_only", "ana authored 'sky mask' as 'sky\\_only'"),
    ],
)
def test_what_is_settled_is_counted_and_its_evidence_has_the_decision(
    *, desk: Desk, action: str, more: str, message: str
) -> None:
    desk.report()
    getattr(desk.decide, action)("sky mask", more)
    made = desk.report()
    assert labels(next(tables(text_of(made)))) == ["film grain", "lens flare"]
    assert "\n\nNot in this list: 1 decided.\n\n" in text_of(made)
    evidence = evidence_of(made).partition("## 3. sky mask\n")[2].partition("\n## ")[0]
    assert f"2026-07-01 {message} (dec-" in evidence


@pytest.mark.parametrize(
    ("rank", "message"),
    [
        (RankSettings(min_images=2), "1 on fewer than 2 images."),
        (RankSettings(min_sessions=1), "2 in fewer than 1 known session."),
    ],
)
def test_what_is_not_established_is_counted(desk: Desk, rank: RankSettings, message: str) -> None:
    assert f"\n\nNot in this list: {message}\n\n" in text_of(desk.report(rank=rank))


def test_what_people_pinned_is_shown_however_little_evidence_it_has(desk: Desk) -> None:
    desk.report()
    desk.decide.pin("lens flare")
    text = text_of(desk.report(rank=RankSettings(min_images=2)))
    assert labels(next(tables(text))) == ["lens flare", "sky mask", "film grain"]
    assert "Not in this list" not in text


def test_where_nothing_is_left_to_author_the_report_says_why(desk: Desk) -> None:
    desk.report()
    desk.decide.dismiss("film grain", "not ours")
    desk.decide.dismiss("sky mask", "not ours")
    text = text_of(desk.report(rank=RankSettings(min_images=2)))
    message = "**Nothing is left to author: of 3 needs, 2 decided, 1 left out.**"
    assert message in lead(text)
    assert headings(text) == ["What to author next"]


def test_the_first_run_has_no_changes_and_the_next_ones_have(desk: Desk) -> None:
    assert "Since the run before" not in text_of(desk.report())
    log = desk.root / "one" / "vocabulary_gaps.jsonl"
    log.write_text(json.dumps(gap("haze removal")) + "\n", encoding="utf-8")
    later = datetime(2026, 7, 2, tzinfo=UTC)
    message = "Since the run before, of 2026-07-01 00:00 UTC: 3 continued, 1 new."
    assert message in lead(text_of(desk.report(now=later)))


@pytest.mark.parametrize("entries", [(), (SKY, FOG)], ids=["no vocabulary", "vocabulary"])
def test_paragraphs_stay_apart_by_one_blank_line(
    desk: Desk, entries: tuple[dict[str, Any], ...]
) -> None:
    desk.report()
    desk.decide.dismiss("lens flare", "not ours")
    desk.decide.rename("film grain", "grain of a film")
    for rank in (RankSettings(), RankSettings(min_images=3)):
        text = text_of(desk.report(*entries, rank=rank))
        assert "\n\n\n" not in text
        assert not re.search(r"(?m)[ \t]+$", text)
        assert not re.search(r"(?m)^[^\n|#-].*\n(#|\|)", text)
