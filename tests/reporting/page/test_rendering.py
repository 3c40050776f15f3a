"""The page as it is without its script: what is in it, and what can never be."""

from collections.abc import Callable
from datetime import date
from pathlib import Path

import pytest
from msgspec.structs import replace

from builders import write_corpus
from builders.page import Read, listed, read
from builders.reporting import publish
from vocabgap.model.capability import Asker, Cover, Tally, Wording
from vocabgap.pipeline import Run
from vocabgap.reporting.listed import COVERED, DECIDED, SHOWN, TO_AUTHOR, Listed
from vocabgap.reporting.overviews import RecurringSet
from vocabgap.reporting.page import MOST_BYTES, render_page, script, style
from vocabgap.reporting.summary import Summary
from vocabgap.reporting.wording import render_markdown

Make = Callable[..., Listed]


@pytest.fixture(scope="session")
def page(demo_run: Run) -> str:
    return (demo_run.published.folder / "report.html").read_text(encoding="utf-8")


@pytest.fixture
def seen(page: str) -> Read:
    return read(page)


def of(made: Run) -> str:
    return (made.published.folder / "report.html").read_text(encoding="utf-8")


def test_page_is_a_document_in_english_with_its_policy_first(page: str, seen: Read) -> None:
    assert page.startswith("<!DOCTYPE html>\n")
    assert page.endswith("</html>\n")
    assert [each.attributes for each in seen.all("html")] == [{"lang": "en"}]
    first, second, *_ = (each for each in seen.elements if each.within == ("html", "head"))
    assert first.attributes == {"charset": "utf-8"}
    assert second.attributes["http-equiv"] == "Content-Security-Policy"


def test_one_script_runs_and_one_style_is_used(page: str, seen: Read) -> None:
    assert [each.attributes.get("type") for each in seen.all("script")] == [
        "application/json",
        None,
    ]
    assert f"<script>{script()}</script>" in page
    assert f"<style>{style()}</style>" in page
    assert len(seen.all("style")) == 1


def test_no_element_has_code_or_style_or_leads_away(seen: Read) -> None:
    for element in seen.elements:
        assert not any(
            name.startswith("on") or name in {"style", "src", "action"}
            for name in element.attributes
        )
        href = element.attributes.get("href")
        assert href is None or href.startswith("#")
    assert not {"img", "iframe", "object", "embed", "link", "base"} & {
        each.tag for each in seen.elements
    }


def test_every_identifier_is_there_once_and_every_link_leads_to_one(seen: Read) -> None:
    identifiers = seen.identifiers()
    assert len(identifiers) == len(set(identifiers))
    links = {
        str(each.attributes["href"]).removeprefix("#")
        for each in seen.all("a")
        if "href" in each.attributes
    }
    assert links <= set(identifiers)


def test_every_part_has_a_heading_and_is_in_a_landmark(seen: Read) -> None:
    assert {each.tag for each in seen.elements} >= {"header", "nav", "main", "footer"}
    sections = [each for each in seen.all("section") if each.within[-1] == "main"]
    named = [each.attributes["aria-labelledby"] for each in sections]
    assert named == [f"{name}-title" for name in (
        "shortlist", "list", "map", "evidence", "one-need", "categories", "operations", "account", "how",
    )]  # fmt: skip
    assert set(named) <= set(seen.identifiers())


def test_every_heading_of_a_table_says_what_it_heads(seen: Read) -> None:
    headings = seen.all("th")
    assert headings
    assert {each.attributes.get("scope") for each in headings} == {"col", "row"}


def test_first_capabilities_stand_in_the_table_with_their_evidence(
    summary: Summary, seen: Read
) -> None:
    identifiers = [item.capability_id for item in summary.capabilities]
    rows = [each.attributes["data-id"] for each in seen.all("tr") if "data-id" in each.attributes]
    articles = [each.attributes["id"] for each in seen.all("article")]
    assert rows == articles == identifiers


def test_empty_corpus_is_a_page_that_says_so(tmp_path: Path) -> None:
    seen = read(of(publish(tmp_path, write_corpus(tmp_path, {"heron": []}), allow_empty=True)))
    assert "No record in these logs counts" in seen.text
    assert (seen.data["rows"], seen.data["filters"]) == ([], [])
    assert seen.all("article") == []


def test_markup_in_a_log_is_text(summary: Summary) -> None:
    hostile = "<img src=x onerror=alert(1)>&lt;\"'`\x1b]8;;http://x\x07\u202e"
    made = listed(
        summary, label=hostile, variants=(Wording(hostile, 1, 1.0),), decisions=(hostile,)
    )
    item = made.capability

    seen = read(render_page(replace(summary, capabilities=(item,), everything=(made,))))

    assert seen.all("img") == []
    assert "<img src=x onerror=alert(1)>&lt;\"'`\\u001b]8;;http://x\\u0007\\u202e" in seen.text


def grouped(summary: Summary, number: int) -> Summary:
    """A summary of so many covered and so many settled capabilities."""
    cover = (
        Cover("sky_soft", "base", 0.5, 0.75, ("sky",)),
        Cover("sky_hard", "base", 0.6, 0.25, ("hard",)),
    )
    covered = tuple(
        listed(summary, capability_id=f"cap-{place:012x}", group=COVERED, covered_by=cover)
        for place in range(number)
    )
    settled = tuple(
        listed(
            summary,
            capability_id=f"cap-{number + place:012x}",
            group=DECIDED,
            status="dismissed",
            decisions=("dismissed: too rare",),
        )
        for place in range(number)
    )
    return replace(
        summary,
        capabilities=(),
        open_total=0,
        covered=tuple(each.capability for each in covered),
        covered_total=number,
        settled=tuple(each.capability for each in settled),
        settled_total=number,
        everything=(*covered, *settled),
    )


def test_what_is_covered_or_settled_has_sections_of_its_own(summary: Summary) -> None:
    seen = read(render_page(grouped(summary, 1)))
    assert {"covered", "decided"} <= set(seen.identifiers())
    assert "sky_soft" in seen.text
    assert "dismissed: too rare" in seen.text
    assert len(seen.all("article")) == 2


def test_operations_of_needs_to_author_are_one_table(summary: Summary) -> None:
    pair = RecurringSet(("crop", "exposure"), 9, 4, 3.0, 3.0, 1.5)
    makings = (
        (1, TO_AUTHOR, {"crop": 2, "exposure": 1}), (2, TO_AUTHOR, {"exposure": 5}), (3, DECIDED, {"lut": 9}),
    )  # fmt: skip
    everything = tuple(
        listed(
            summary, group=group, rank=rank, label=f"need {rank}", capability_id=f"cap-{rank:012x}",
            operations=tuple(Tally(*each) for each in tallies.items()),
        )
        for rank, group, tallies in makings
    )  # fmt: skip
    whole = replace(
        summary, capabilities=(), everything=everything, recurring_sets=(pair,), places=()
    )
    seen = read(render_page(replace(whole, shortlist=(), doubts=None)))
    for row in (
        "exposure 6 2 need 2 (5), need 1 (1) crop (3.0×)",
        "crop 2 1 need 1 (2) exposure (3.0×)",
    ):
        assert row in seen.text
    assert "lut 9" not in seen.text


def test_elements_stand_where_they_may(seen: Read) -> None:
    def parents(tag: str) -> set[str]:
        return {element.within[-1] for element in seen.all(tag)}

    assert parents("tr") == {"thead", "tbody"}
    assert parents("li") == {"ol", "ul"}
    assert parents("dt") == parents("dd") == {"div"}


def test_what_is_known_of_a_capability_alone_is_in_its_panel(summary: Summary) -> None:
    askers = (Asker("reeve", "coast", 5), Asker("pilot", "<town>", 2))
    made = listed(summary, asked_by=askers)
    whole = replace(summary, capabilities=(made.capability,), everything=(made,), askers=askers)
    seen = read(render_page(whole))
    assert (
        "Asked for by 2 tenants in 2 repositories, most often in 'coast' of 'reeve' (5)"
        in seen.text
    )


def test_without_trends_there_is_no_column_of_them(summary: Summary) -> None:
    def said(stale_days: int | None, **changed: object) -> tuple[str, str]:
        made = listed(summary, **changed)
        whole = replace(
            summary, capabilities=(made.capability,), everything=(made,), stale_days=stale_days
        )
        return read(render_page(whole)).text, render_markdown(whole)

    for text in said(367, trend=None, weekly=()):
        assert "The newest record is 367 days old" in text
        assert "The bars count" not in text
        assert text.count("Trend") == text.count("Trends compare")
    for text in said(None):
        assert "Trend" in text


def test_a_column_that_says_the_same_everywhere_is_left_out(summary: Summary) -> None:
    alone = listed(summary, unsatisfied=0, neutral=0, satisfied=0)
    alike = replace(summary, capabilities=(alone.capability,), everything=(alone,), shortlist=())
    for made, is_shown in ((summary, True), (alike, False)):
        page = render_page(made)
        assert all(
            (f'data-key="{each}"' in page) == is_shown for each in ("category", "unsatisfied")
        )


def test_a_page_of_hundreds_of_the_worst_is_not_too_large(summary: Summary) -> None:
    worst = '<&>\u2028"' * 60
    variants = tuple(Wording(f"{number}{worst}", 1, 0.5) for number in range(20))
    first = listed(summary, variants=variants, label=worst)
    everything = tuple(
        Listed(
            replace(
                first.capability,
                capability_id=f"cap-{rank:012x}",
                rank=rank,
                operations=(Tally(f"{rank}{worst}", 1),),
            ),
            TO_AUTHOR,
            (Tally(f"{rank}{worst[:60]}", 3),),
            ((date(2026, 1, 1 + rank % 28), 3),),
        )
        for rank in range(1, 301)
    )
    made = replace(
        summary,
        total=300,
        open_total=300,
        everything=everything,
        capabilities=tuple(each.capability for each in everything[:SHOWN]),
    )
    page = render_page(made)
    assert MOST_BYTES / 2 < len(page.encode()) <= MOST_BYTES
