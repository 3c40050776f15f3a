"""The page as it is without its script: what is in it, and what can never be."""

from collections.abc import Iterator
from datetime import date
from pathlib import Path

import pytest
from msgspec.structs import replace

from builders import write_corpus
from builders.page import Read, listed, read
from builders.reporting import publish
from vocabgap.model.capability import Asker, Tally, Wording
from vocabgap.pipeline import Run
from vocabgap.reporting.listed import TO_AUTHOR, Listed
from vocabgap.reporting.page import MOST_BYTES, render_page, script, style
from vocabgap.reporting.summary import Summary


@pytest.fixture(scope="session")
def page(demo_run: Run) -> str:
    return of(demo_run)


@pytest.fixture(scope="session")
def seen(page: str) -> Read:
    return read(page)


def of(made: Run) -> str:
    return (made.published.folder / "report.html").read_text(encoding="utf-8")


def alone(summary: Summary, **changed: object) -> Summary:
    """A summary of one capability."""
    made = listed(summary, **changed)
    return replace(summary, capabilities=(made.capability,), everything=(made,), doubts=None)


def test_page_is_a_document_in_english_with_its_policy_first(page: str, seen: Read) -> None:
    assert page.startswith("<!DOCTYPE html>\n")
    assert page.endswith("</html>\n")
    assert [each.attributes for each in seen.all("html")] == [{"lang": "en"}]
    first, second, *_ = (each for each in seen.elements if each.within == ("html", "head"))
    assert first.attributes == {"charset": "utf-8"}
    assert second.attributes["http-equiv"] == "Content-Security-Policy"


def test_one_script_runs_one_style_is_used_and_nothing_else(page: str, seen: Read) -> None:
    assert [each.attributes.get("type") for each in seen.all("script")] == [
        "application/json",
        None,
    ]
    assert f"<script>{script()}</script>" in page
    assert f"<style>{style()}</style>" in page
    assert len(seen.all("style")) == 1
    names = {name for each in seen.elements for name in each.attributes}
    assert not {name for name in names if name.startswith("on")} | names & {
        "style",
        "src",
        "action",
    }
    assert not {"img", "iframe", "object", "embed", "link", "base"} & {
        each.tag for each in seen.elements
    }


def test_every_identifier_is_there_once_and_every_link_leads_to_one(seen: Read) -> None:
    identifiers = seen.identifiers()
    assert len(identifiers) == len(set(identifiers))
    links = [str(each.attributes["href"]) for each in seen.all("a")]
    assert {link.removeprefix("#") for link in links} <= set(identifiers)


def test_parts_are_in_landmarks_and_headings_say_what_they_head(seen: Read) -> None:
    assert {each.tag for each in seen.elements} >= {"header", "nav", "main", "footer"}
    assert {each.attributes.get("scope") for each in seen.all("th")} == {"col", "row"}


def test_plain_table_has_the_first_ten_with_their_evidence(demo_run: Run, seen: Read) -> None:
    rows = [dict(zip(seen.data["columns"], row, strict=True)) for row in seen.data["rows"][:10]]
    assert len(seen.all("tbody")) == len(rows) == 10
    for row in rows:
        assert f"{row['rank']} {row['label']} {row['mentions']} " in seen.text
        for text in (row["quote"], *row["beside"], row["workarounds"][0][0], row["variants"][0][0]):
            assert text in seen.text
    assert demo_run.published.summary.answer is not None
    assert demo_run.published.summary.answer.note in seen.text


def test_empty_corpus_is_a_page_that_says_so(tmp_path: Path) -> None:
    seen = read(of(publish(tmp_path, write_corpus(tmp_path, {"heron": []}), allow_empty=True)))
    assert "No record in these logs counts" in seen.text
    assert (seen.data["rows"], seen.data["map"], seen.all("table")) == ([], [], [])


def test_markup_in_a_log_is_text(summary: Summary) -> None:
    hostile = "<img src=x onerror=alert(1)>&lt;\"'`\x1b]8;;http://x\x07\u202e"
    variants = (Wording(hostile, 1, 1.0), Wording(f"{hostile}2", 1, 1.0))
    seen = read(render_page(alone(summary, label=hostile, variants=variants)))
    assert seen.all("img") == []
    shown = "<img src=x onerror=alert(1)>&lt;\"'`\\u001b]8;;http://x\\u0007\\u202e"
    assert seen.text.count(shown) >= 4  # answer, label and wordings
    assert seen.data["rows"][0][seen.data["columns"].index("label")] == shown


def facts(seen: Read) -> dict[str, str]:
    """The facts about the first capability."""
    texts = iter(seen.data["rows"][0][seen.data["columns"].index("facts")])
    return {seen.data["labels"][label]: text for label, text in zip(texts, texts, strict=True)}


def test_facts_about_one_capability_say_who_asked(summary: Summary) -> None:
    askers = (Asker("reeve", "coast", 5), Asker("pilot", "<town>", 2))
    seen = read(render_page(replace(alone(summary, asked_by=askers), askers=askers)))
    asked = "by 2 tenants in 2 repositories, most often in 'coast' of 'reeve' (5)"
    assert facts(seen)["Asked for"] == asked


def test_without_trends_no_trend_is_told(summary: Summary) -> None:
    stale = read(render_page(replace(alone(summary, trend=None, weekly=()), stale_days=367)))
    assert "The newest record is 367 days old" in stale.text
    assert "Trend" not in facts(stale)
    assert "Trend" in facts(read(render_page(alone(summary))))


def worst(summary: Summary, text: str) -> Iterator[Listed]:
    """Many capabilities with long texts of characters that take more bytes on a page."""
    variants = tuple(Wording(f"{number}{text}", 1, 0.5) for number in range(20))
    first = listed(summary, variants=variants, label=text).capability
    for rank in range(1, 301):
        operations = (Tally(f"{rank}{text}", 1),)
        item = replace(first, capability_id=f"cap-{rank:012x}", rank=rank, operations=operations)
        on_images = (Tally(f"{rank}{text[:60]}", 3),)
        yield Listed(item, TO_AUTHOR, on_images, ((date(2026, 1, 1 + rank % 28), 3),))


def test_a_page_of_hundreds_of_the_worst_is_not_too_large(summary: Summary) -> None:
    everything = tuple(worst(summary, '<&>\u2028"' * 60))
    capabilities = tuple(each.capability for each in everything[:10])
    made = replace(
        summary, total=300, open_total=300, everything=everything, capabilities=capabilities
    )
    assert MOST_BYTES / 2 < len(render_page(made).encode()) <= MOST_BYTES
