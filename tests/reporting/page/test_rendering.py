"""The page as it is without its script: what is in it, and what can never be."""

import re
from collections.abc import Callable
from datetime import date
from pathlib import Path

import pytest
from msgspec.structs import replace

from builders import write_corpus
from builders.page import Read, listed, read
from builders.reporting import publish
from vocabgap.model.capability import Asker, Cover, Tally, Wording
from vocabgap.model.selection import Selection
from vocabgap.pipeline import Run
from vocabgap.reporting import page as rendering
from vocabgap.reporting.listed import COVERED, OPEN, SETTLED, SHOWN, Listed
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
    assert [each.attributes.get("type") for each in seen.all("script")] == ["application/json", None]
    assert f"<script>{script()}</script>" in page
    assert f"<style>{style()}</style>" in page
    assert len(seen.all("style")) == 1


def test_no_element_has_code_or_style_or_leads_away(seen: Read) -> None:
    for element in seen.elements:
        assert not any(
            name.startswith("on") or name in {"style", "src", "action"} for name in element.attributes
        )
        href = element.attributes.get("href")
        assert href is None or href.startswith("#")
    assert not {"img", "iframe", "object", "embed", "link", "base"} & {each.tag for each in seen.elements}


def test_every_identifier_is_there_once_and_every_link_leads_to_one(seen: Read) -> None:
    identifiers = seen.identifiers()
    assert len(identifiers) == len(set(identifiers))
    links = {
        str(each.attributes["href"]).removeprefix("#") for each in seen.all("a") if "href" in each.attributes
    }
    assert links <= set(identifiers)


def test_every_part_has_a_heading_and_is_in_a_landmark(seen: Read) -> None:
    assert {each.tag for each in seen.elements} >= {"header", "nav", "main", "footer"}
    sections = [each for each in seen.all("section") if each.within[-1] == "main"]
    named = [each.attributes["aria-labelledby"] for each in sections]
    assert named == [f"{name}-title" for name in (
        "list", "map", "evidence", "one-need", "two-needs", "categories", "operations", "account", "how",
    )]  # fmt: skip
    assert set(named) <= set(seen.identifiers())


def test_every_heading_of_a_table_says_what_it_heads(seen: Read) -> None:
    headings = seen.all("th")
    assert headings
    assert {each.attributes.get("scope") for each in headings} == {"col", "row"}


def test_headline_is_that_of_the_markdown(demo_run: Run, seen: Read) -> None:
    markdown = (demo_run.published.folder / "report.md").read_text(encoding="utf-8")
    for paragraph in markdown.split("\n\n")[1:4]:
        plain = re.sub(r"[*`\\]", "", paragraph)
        assert plain in re.sub(r" (?=[,.:;)])", "", seen.text)


def test_first_capabilities_stand_in_the_table_with_their_evidence(summary: Summary, seen: Read) -> None:
    identifiers = [item.capability_id for item in summary.capabilities]
    rows = [each.attributes["data-id"] for each in seen.all("tr") if "data-id" in each.attributes]
    articles = [each.attributes["id"] for each in seen.all("article")]
    assert rows == articles == identifiers


def test_evidence_names_everything_that_leads_back(summary: Summary, seen: Read) -> None:
    for item in summary.capabilities:
        for example in item.examples:
            assert f"{example.source_path}:{example.line}" in seen.text
            assert example.image_id in seen.text
        for variant in item.variants:
            assert " ".join(variant.wording.split()) in seen.text


def test_account_says_where_every_line_went(summary: Summary, seen: Read) -> None:
    account = summary.account
    assert account is not None
    for name, number in (("counted", account.counted), ("duplicates", account.duplicates)):
        assert re.search(rf"{name} {number:,} ", seen.text)
    for reject in account.examples:
        assert f"{reject.source_path}:{reject.line}" in seen.text


def test_command_that_makes_it_again_is_quoted(summary: Summary, seen: Read) -> None:
    assert summary.command in seen.text


def test_empty_corpus_is_a_page_that_says_so(tmp_path: Path) -> None:
    seen = read(of(publish(tmp_path, write_corpus(tmp_path, {"heron": []}), allow_empty=True)))
    assert "Nothing is missing here" in seen.text
    assert (seen.data["rows"], seen.data["commands"], seen.data["filters"]) == ([], [], [])
    assert "The commands under" not in seen.text
    assert seen.all("article") == []


def test_narrowing_is_said(demo: Path, tmp_path: Path) -> None:
    made = publish(tmp_path, demo, selection=Selection(images=("fjord-dawn-0412",)))
    assert "Narrowed to image fjord-dawn-0412." in read(of(made)).text


def test_ranking_alone_is_a_page_without_account(summary: Summary) -> None:
    bare = replace(summary, account=None, images=None, named_by=(), command="")
    seen = read(render_page(bare))
    assert "account" not in seen.identifiers()
    assert "Make this report again" not in seen.text


def test_markup_in_a_log_is_text(summary: Summary) -> None:
    hostile = "<img src=x onerror=alert(1)>&lt;\"'`\x1b]8;;http://x\x07\u202e"
    made = listed(summary, label=hostile, variants=(Wording(hostile, 1, 1.0),), decisions=(hostile,))
    item = made.capability

    seen = read(render_page(replace(summary, capabilities=(item,), everything=(made,))))

    assert seen.all("img") == []
    assert "<img src=x onerror=alert(1)>&lt;\"'`\\u001b]8;;http://x\\u0007\\u202e" in seen.text


def grouped(summary: Summary, number: int) -> Summary:
    """A summary of so many covered and so many settled capabilities."""
    cover = (Cover("sky_soft", "base", 0.5, 0.75, ("sky",)), Cover("sky_hard", "base", 0.6, 0.25, ("hard",)))
    covered = tuple(
        listed(summary, capability_id=f"cap-{place:012x}", group=COVERED, covered_by=cover)
        for place in range(number)
    )
    settled = tuple(
        listed(
            summary,
            capability_id=f"cap-{number + place:012x}",
            group=SETTLED,
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


def test_lists_without_a_script_are_not_endless(summary: Summary) -> None:
    seen = read(render_page(grouped(summary, SHOWN + 1)))
    assert len(seen.all("article")) == 2 * SHOWN
    assert f"The first {SHOWN} of {SHOWN + 1}. Where scripts run, the ranking above has them all" in seen.text
    assert len(seen.data["rows"]) == 2 * (SHOWN + 1)


def test_statuses_and_names_are_no_markup_either(summary: Summary) -> None:
    made = listed(summary, status="<i>", intent_category="<u>")
    seen = read(render_page(replace(summary, capabilities=(made.capability,), everything=(made,))))
    assert not {"i", "u"} & {each.tag for each in seen.elements}


def test_ten_capabilities_are_a_small_page(summary: Summary) -> None:
    kept = {item.capability_id for item in summary.capabilities}
    everything = tuple(each for each in summary.everything if each.capability.capability_id in kept)
    page = render_page(replace(summary, total=len(everything), everything=everything))
    assert (len(everything), len(page.encode()) < 155_000) == (10, True)


def test_elements_stand_where_they_may(seen: Read) -> None:
    def parents(tag: str) -> set[str]:
        return {element.within[-1] for element in seen.all(tag)}

    assert parents("tr") == {"thead", "tbody"}
    assert parents("li") == {"ul"}
    assert parents("dt") == parents("dd") == {"div"}


def test_what_is_known_of_a_capability_alone_is_in_its_panel(summary: Summary) -> None:
    askers = (Asker("reeve", "coast", 5), Asker("pilot", "<town>", 2))
    made = listed(
        summary,
        next_ahead=0.25,
        asked_by=askers,
        outgrown=("dec-000000000001", "dec-000000000002"),
    )
    whole = replace(summary, capabilities=(made.capability,), everything=(made,), askers=askers)
    seen = read(render_page(whole))
    assert "Could be overtaken by the next in 25 % of samples" in seen.text
    assert "Asked for by 2 tenants in 2 repositories, most often in 'coast' of 'reeve' (5)" in seen.text
    assert "Decisions that hold no longer dec-000000000001, dec-000000000002" in seen.text


def test_a_pin_is_a_pin_on_the_page(summary: Summary) -> None:
    made = listed(summary, rank_low=4, rank_high=24, pinned_by="<ana>", unpinned_rank=9)
    seen = read(render_page(replace(summary, capabilities=(made.capability,), everything=(made,))))
    assert "Rank pinned by <ana>; by mentions rank 9, 4 to 24" in seen.text
    assert "Rank, with 90 % confidence" not in seen.text
    assert "stands first because <ana> pinned it" in seen.text


def test_without_trends_there_is_no_column_of_them(summary: Summary) -> None:
    def said(stale_days: int | None, **changed: object) -> tuple[str, str]:
        made = listed(summary, **changed)
        whole = replace(summary, capabilities=(made.capability,), everything=(made,), stale_days=stale_days)
        return read(render_page(whole)).text, render_markdown(whole)

    for text in said(367, trend=None, weekly=()):
        assert "The newest record is 367 days old" in text
        assert "The bars count" not in text
        assert text.count("Trend") == text.count("Trends compare")
    for text in said(None):
        assert "Trend" in text


def test_filters_that_fit_nothing_are_not_offered(summary: Summary) -> None:
    def offered(made: Listed) -> set[str]:
        whole = replace(summary, capabilities=(made.capability,), everything=(made,))
        seen = read(render_page(whole))
        assert "filters" in seen.data
        return {*seen.data["filters"]}

    bare = listed(summary, operations=(), status="")
    full = listed(summary, on_images=(Tally("heron", 3),), on_days=((date(2026, 3, 1), 3),))
    assert offered(bare) == {"group", "category"}
    assert offered(full) == {"group", "status", "category", "operation", "image", "days"}


def test_lists_that_the_ranking_has_in_part_say_so(summary: Summary) -> None:
    made = replace(grouped(summary, SHOWN + 1), covered_total=20_000)
    text = read(render_page(made)).text
    assert f"the ranking above has the first {SHOWN + 1}, under “Probably covered” of its lists" in text


def test_without_records_nothing_is_said_of_operations_together(summary: Summary) -> None:
    assert "No two records name" in read(render_page(replace(summary, combinations=()))).text
    unknown = read(render_page(replace(summary, combinations=None))).text
    assert "recur together" not in unknown
    assert "recur together" not in render_markdown(replace(summary, combinations=None))


def test_texts_name_the_numbers_that_are_used(summary: Summary, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(rendering._ENVIRONMENT.globals, "draws", 777)
    monkeypatch.setattr(rendering, "_ENVIRONMENT", rendering._ENVIRONMENT.overlay())  # no cached templates
    assert "It comes from 777 random samples of the images" in read(render_page(summary)).text


def test_a_page_of_thousands_of_the_worst_is_not_too_large(summary: Summary) -> None:
    worst = '<&>\u2028"' * 60
    variants = tuple(Wording(f"{number}{worst}", 1, 0.5) for number in range(30))
    first = listed(summary, variants=variants, label=worst)
    everything = tuple(
        Listed(
            replace(
                first.capability,
                capability_id=f"cap-{rank:012x}",
                rank=rank,
                operations=(Tally(f"{rank}{worst}", 1),),
            ),
            OPEN,
            (Tally(f"{rank}{worst[:60]}", 3),),
            ((date(2026, 1, 1 + rank % 28), 3),),
        )
        for rank in range(1, 5_001)
    )
    made = replace(
        summary,
        total=5_000,
        open_total=5_000,
        everything=everything,
        capabilities=tuple(each.capability for each in everything[:SHOWN]),
    )
    assert len(render_page(made).encode()) <= MOST_BYTES


def test_the_part_without_a_script_has_so_many_wordings(summary: Summary) -> None:
    made = listed(
        summary, variants=tuple(Wording(f"wording-{number:03}", 1, 0.5) for number in range(400)), examples=()
    )
    whole = replace(summary, capabilities=(made.capability,), everything=(made,))
    seen = read(render_page(whole))
    assert "wording-099" in seen.text
    assert "wording-100" not in seen.text
    assert "300 other wordings are in capabilities.parquet" in seen.text
