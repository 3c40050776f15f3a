"""Pages of several sizes, and a real browser to open them in, which is watched while it does."""

import json
import re
from collections.abc import Callable, Iterator
from functools import cache
from pathlib import Path
from typing import Any

import pytest
from msgspec.structs import replace
from playwright.sync_api import Browser, BrowserContext, ConsoleMessage, Page, Request, Route

from vocabgap.pipeline import Run
from vocabgap.reporting.capability import Capability, Cover, Recurring, Tally, Wording
from vocabgap.reporting.details import COVERED, HIDDEN, OPEN, SETTLED, Listed
from vocabgap.reporting.page import render_page
from vocabgap.reporting.summary import Summary
from vocabgap.reporting.terms import CapabilityTerms, CheckedTerms, OpenTerm, TermMeaning

PATIENCE = 10_000  # milliseconds
SHOWN = 10
_GROUPS = (OPEN, OPEN, OPEN, OPEN, OPEN, COVERED, OPEN, OPEN, SETTLED, HIDDEN)
_DATA = re.compile(r'<script type="application/json" id="run-data">(.*?)</script>', re.DOTALL)

# What a glossary says of the words: of one capability all, of another less, in whatever words people use.
_TERMS = CheckedTerms(
    "medium",
    (
        CapabilityTerms(
            "cap-000000000000",
            "lift <black> point",
            (TermMeaning("lift", "Raise the tones of <the> shadows & blacks " * 5, "team_domain"),),
        ),
        CapabilityTerms("cap-000000000001", "sky mask", (), ("mask",)),
    ),
    (
        OpenTerm(
            "0123abcd-1111-4222-8333-444455556666", "mask", "ambiguous", "medium", ("A region", "x" * 200)
        ),
        OpenTerm("4567abcd-1111-4222-8333-444455556666", "frob_nicator" * 8, "unresolved_critical", "high"),
    ),
)

Visit = Callable[..., Page]


@pytest.fixture
def visit(browser: Browser) -> Iterator[Visit]:
    """Opens a page in a window of its own.

    Nothing may stand in its console afterwards, and it may have asked for nothing but itself.
    """
    contexts: list[BrowserContext] = []
    noticed: list[str] = []

    def console(message: ConsoleMessage) -> None:
        noticed.append(f"console: {message.text}")

    def make(file: Path, *, fragment: str = "", address: str = "", **surroundings: object) -> Page:
        context = browser.new_context(**surroundings)  # type: ignore[arg-type]
        context.set_default_timeout(PATIENCE)
        contexts.append(context)
        own = address or file.as_uri()

        def requested(route: Route, request: Request) -> None:
            if request.url.partition("#")[0] != own:
                noticed.append(f"asked for {request.url}")
                route.abort()
            elif address:
                route.fulfill(path=file, content_type="text/html; charset=utf-8")
            else:
                route.continue_()

        context.route("**/*", requested)
        context.on("console", console)
        context.on("weberror", lambda error: noticed.append(f"error: {error.error}"))
        page = context.new_page()
        page.goto(f"{own}#{fragment}" if fragment else own)
        return page

    yield make
    for context in contexts:
        context.close()
    assert noticed == []


@pytest.fixture(scope="session")
def page_of(demo_run: Run, tmp_path_factory: pytest.TempPathFactory) -> Callable[[int], Path]:
    """Makes a page of so many capabilities, with something in every part of it."""

    @cache
    def make(number: int) -> Path:
        file = tmp_path_factory.mktemp("page") / "report.html"
        file.write_text(render_page(_of(number, demo_run.published.summary)), encoding="utf-8")
        return file

    return make


@pytest.fixture
def listed() -> Callable[[Path], list[dict[str, Any]]]:
    """Reads the capabilities of a page, with names where it has positions."""

    def read(file: Path) -> list[dict[str, Any]]:
        block = _DATA.search(file.read_text(encoding="utf-8"))
        assert block is not None
        run = json.loads(block[1])
        found = [dict(zip(run["columns"], row, strict=True)) for row in run["rows"]]
        for each in found:
            each["category"] = run["categories"][each["category"]]
            for column, names in (
                ("categories", run["categories"]),
                ("operations", run["operations"]),
                ("image_counts", run["images"]),
            ):
                each[column] = [names[place] for place in each[column][::2]]
        return found

    return read


def _of(number: int, demo: Summary) -> Summary:
    everything = tuple(_varied(place, demo.everything) for place in range(number))

    def of(group: str) -> tuple[Capability, ...]:
        return tuple(each.capability for each in everything if each.group == group)

    return replace(
        demo,
        everything=everything,
        total=number,
        capabilities=of(OPEN)[:SHOWN],
        open_total=len(of(OPEN)),
        covered=of(COVERED)[:SHOWN],
        covered_total=len(of(COVERED)),
        settled=of(SETTLED)[:SHOWN],
        settled_total=len(of(SETTLED)),
        hidden=len(of(HIDDEN)),
        terms=_TERMS,
        fewest=(2, 0),
    )


def _varied(place: int, demo: tuple[Listed, ...]) -> Listed:
    """One of the demo's capabilities, at another place and with what the demo has nothing of."""
    original = demo[place % len(demo)]
    lap = place // len(demo)
    item = original.capability
    group = _GROUPS[place % len(_GROUPS)]
    capability = replace(
        item,
        capability_id=f"cap-{place:012x}",
        rank=place + 1,
        rank_low=max(1, place - 3),
        rank_high=place + 1 + place % 7,
        label=f"{item.label} {lap}" if lap else item.label,
        status={SETTLED: "dismissed"}.get(group, item.status),
        # Halves between two decimals, which languages round in two ways.
        priority=round(item.priority, 3) if place % 3 else (2 * place + 1) % 8 / 8,
        repeats=place % 4,
        variants=_wordings(place, item),
        examples=item.examples[: 3 if lap == 0 else 1],
        covered_by=_covers(place, group),
        combinations=(Recurring(("exposure", "toneequal"), 1234), *item.combinations),
        decisions=("dismissed by ada on 2026-06-01: <b>rare</b>",) if group == SETTLED else (),
    )
    images = (
        *original.on_images,
        *(Tally(f"extra-{number:02}", 1) for number in range(14 if place == 0 else 0)),
    )
    told = ("Split off <masks>, which had 12 mentions, rank 3: 5 mentions of it",) if place % 2 else ()
    if place % 12 == 6:
        undated = replace(
            capability, first_seen=None, last_seen=None, trend=None, weekly=(0,) * len(item.weekly)
        )
        return Listed(undated, group, images, (), told)
    return Listed(capability, group, images, original.on_days, told)


def _wordings(place: int, item: Capability) -> tuple[Wording, ...]:
    many = (Wording(f"Straße nach {number}", 1, number / 40) for number in range(30 if place == 0 else 0))
    return (*item.variants[: 40 if place < 40 else 5], *many)


def _covers(place: int, group: str) -> tuple[Cover, ...]:
    covers = (
        Cover("tone_lifted_shadows", "base", 0.5, 0.125, ("lift", "shadow & <black>")),
        Cover("sky_soft", "sky", 0.4, 0.755, ("sky",)),
    )
    return covers if group == COVERED else covers[: place % 2]
