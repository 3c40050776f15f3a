"""What the report says of vocabularies, decisions, too little evidence, and the run before."""

import json
import re
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import pytest

from builders import gap, write_corpus
from builders.reporting import headings, tables, text_of
from vocabgap.listing.deciding import Decisions
from vocabgap.model.settings import DecisionSettings, RankSettings, Settings, VocabularySettings
from vocabgap.pipeline import Run, run

NOW = datetime(2026, 7, 1, tzinfo=UTC)
COVERED = "Probably covered: check the entry, or how it can be found"
DECIDED = "Decided"
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
    return [row[heading.index("Capability")] for row in rows]


def test_the_first_is_told_with_its_lead_trend_and_workaround(desk: Desk) -> None:
    message = lead(text_of(desk.report(now=datetime(2026, 4, 5, tzinfo=UTC))))
    close = "Ranks 1 to 3 are too close to call. The rank of this need is 1, with 90 % confidence between"
    assert close in message
    assert "Too early for a trend: the first record is less than 3 weeks old." in message
    assert "Workaround: drew it (1 time)." in message
    assert "Nobody has decided about this need." in message


def test_without_a_vocabulary_it_is_not_known_what_is_covered(desk: Desk) -> None:
    text = text_of(desk.report())
    assert "Without `--vocabulary` it is not known whether the vocabulary has it." in lead(text)
    assert COVERED not in headings(text)


def test_what_is_covered_is_listed_apart_but_stays_in_the_headline(desk: Desk) -> None:
    text = text_of(desk.report(SKY, FOG))
    whole, covered, *_ = tables(text)
    assert labels(whole) == ["film grain", "lens flare"]
    assert covered[1:] == [
        ["1", "sky mask", "3", "2", "2026-04-01", "sky_mask", "all of it", "sky mask", "–"]
    ]
    first, standing, missing, *_ = lead(text).split("\n\n")[3:]
    assert first == (
        "**sky mask** is asked for most: 3 times on 2 images, on 2026-04-01."
        " The entry `sky_mask` probably covers all of it."
        " It is listed below with its evidence."
    )
    assert standing.startswith("Ranks 1 to 3 are too close to call. ")
    assert standing.endswith("Workaround: drew it (1 time). Nobody has decided about this need.")
    assert missing.startswith(
        "Of the others, **film grain** is asked for most: 2 times on 2 images"
    )


@pytest.mark.parametrize(
    ("entries", "message"),
    [
        (
            (SKY, FILM),
            "The next one is probably covered, too. Both are listed below with their evidence.",
        ),
        (
            (SKY, FILM, FLARE),
            "The others that rank next are probably covered, too. All are listed below with their evidence.",
        ),
    ],
)
def test_others_that_may_be_there_and_rank_next_are_not_passed_over_either(
    desk: Desk, entries: tuple[dict[str, Any], ...], message: str
) -> None:
    assert message in lead(text_of(desk.report(*entries)))


def test_what_is_covered_has_its_evidence_so_that_the_claim_can_be_checked(desk: Desk) -> None:
    made = desk.report(SKY, FILM)
    evidence = text_of(made).partition("### 1. sky mask\n")[2].partition("\n### ")[0]
    assert f"Closest entries: `sky_mask` ({explained(made):.0f} % explained, by" in evidence
    assert "Workarounds: drew it (1)." in evidence
    assert len(re.findall(r"(?m)^- .*image `", evidence)) == 3


def test_a_rank_that_is_missing_in_the_list_is_explained(desk: Desk) -> None:
    message = "The needs of missing ranks are probably covered; see below."
    assert message in text_of(desk.report(FILM, FOG))
    assert message not in text_of(desk.report(FOG))


def test_an_entry_that_comes_near_is_named_with_what_it_explains(desk: Desk) -> None:
    text = text_of(desk.report({"name": "mask_brush"}, FOG))
    share = re.search(r"The closest entry, `mask_brush`, explains (\d+) % of it", lead(text))
    assert share
    assert 0 < int(share[1]) < 100
    assert "of it and probably does something else." in lead(text)
    assert f"Closest entries: `mask_brush` ({share[1]} % explained, by mask)." in text


def test_what_people_pinned_stays_in_the_list_though_it_is_covered(desk: Desk) -> None:
    desk.report(SKY)
    desk.decide.pin("sky mask")
    made = desk.report(SKY)
    text = text_of(made)
    assert labels(next(tables(text)))[0] == "sky mask"
    assert COVERED not in headings(text)
    assert "**sky mask** is first because ana pinned it: asked for 3 times" in lead(text)
    assert "The entry `sky_mask` probably covers all of it." in lead(text)
    assert re.search(r"Decided: 2026-07-01 ana pinned 'sky mask' \(dec-[0-9a-f]+\)\.", lead(text))


def test_what_stands_first_though_less_is_asked_for_it_is_not_called_missing_most(
    desk: Desk,
) -> None:
    desk.report()
    desk.decide.pin("lens flare", "a client waits")
    message = lead(text_of(desk.report()))
    assert "**lens flare** is first because ana pinned it: asked for once" in message
    assert "Without the pin its rank by mentions would be 1 to 3, with 90 % confidence." in message
    whole = next(tables(text_of(desk.report())))
    assert whole[1][0] == "1 (pinned by ana; by mentions rank 1 to 3)"
    assert "ana pinned 'lens flare': a client waits (dec-" in message


@pytest.mark.parametrize(
    ("action", "more", "status", "message"),
    [
        ("dismiss", "not ours", "dismissed", "ana dismissed 'sky mask': not ours"),
        ("author", "sky_only", "authored", "ana authored 'sky mask' as 'sky_only'"),
    ],
)
def test_what_is_settled_is_listed_apart_with_the_decision(
    *, desk: Desk, action: str, more: str, status: str, message: str
) -> None:
    desk.report()
    getattr(desk.decide, action)("sky mask", more)
    whole, *others = tables(text_of(desk.report()))
    assert labels(whole) == ["film grain", "lens flare"]
    settled = next(each for each in others if each[0][-1] == "Decisions")
    assert settled[0] == ["#", "Capability", "Status", "Mentions", "Last seen", "Decisions"]
    [row] = settled[1:]
    mentions = "0 of 3" if status == "authored" else "3"  # those since it was authored
    assert row[:5] == ["3", "sky mask", status, mentions, "2026-04-01"]
    assert row[5].startswith(f"2026-07-01 {message} (dec-")


@pytest.mark.parametrize(
    ("rank", "message"),
    [
        (
            RankSettings(min_images=2),
            "1 capability is left out: it is on fewer than 2 images. `capabilities.parquet` has it.",
        ),
        (
            RankSettings(min_sessions=1),
            (
                "2 capabilities are left out: they are in fewer than 1 known session."
                " `capabilities.parquet` has them."
            ),
        ),
    ],
)
def test_what_is_not_established_is_left_out_and_counted(
    desk: Desk, rank: RankSettings, message: str
) -> None:
    assert f"\n\n{message}\n\n" in text_of(desk.report(rank=rank))


def test_what_people_pinned_is_shown_however_little_evidence_it_has(desk: Desk) -> None:
    desk.report()
    desk.decide.pin("lens flare")
    text = text_of(desk.report(rank=RankSettings(min_images=2)))
    assert labels(next(tables(text))) == ["lens flare", "sky mask", "film grain"]
    assert "left out: " not in text


def test_where_nothing_is_left_to_author_the_report_says_why(desk: Desk) -> None:
    desk.report(SKY)
    desk.decide.dismiss("film grain", "not ours")
    text = text_of(desk.report(SKY, rank=RankSettings(min_images=2)))
    assert (
        "**Nothing is left to author: of 3 capabilities, 1 probably covered, 1 decided, 1 left out.**"
        in lead(text)
    )
    assert "1 capability is left out: it is on fewer than 2 images" in text
    assert "**sky mask** is asked for most: 3 times on 2 images" in lead(text)
    sections = [heading for heading in headings(text) if not heading[0].isdigit()]
    assert sections[:4] == ["What to author next", COVERED, DECIDED, "By category"]


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
