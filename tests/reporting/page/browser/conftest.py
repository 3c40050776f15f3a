"""Pages of several sizes, and a real browser to open them in, which is watched while it does."""

import json
import shutil
from collections import defaultdict
from collections.abc import Callable, Iterator, Mapping
from datetime import UTC, datetime
from functools import cache
from math import cos, sin
from pathlib import Path

import pytest
from msgspec.structs import replace
from playwright.sync_api import Browser, Page, Request, Route, sync_playwright

from builders.reporting import NOW
from vocabgap.model.capability import Capability, Cover, Covered, Recurring, Tally, Wording
from vocabgap.pipeline import Run
from vocabgap.reporting.listed import (
    DECIDED,
    HIDDEN,
    TO_AUTHOR,
    Choices,
    Listed,
    Past,
)
from vocabgap.reporting.map import MOST_PLACES
from vocabgap.reporting.overviews import Place
from vocabgap.reporting.page import render_page
from vocabgap.reporting.summary import Summary

BROWSERS = ("chromium", "chromium-browser", "google-chrome")
QUIET = (
    "--headless", "--no-sandbox", "--disable-gpu", "--disable-quic", "--no-first-run",
    "--disable-background-networking", "--disable-component-update", "--disable-sync",
)  # fmt: skip
PATIENCE = 10_000  # milliseconds
LISTED = 10
COVERED = 5  # of ten
_GROUPS = (*(TO_AUTHOR,) * 8, DECIDED, HIDDEN)

_RUNS = (*(datetime(2026, 6, day, tzinfo=UTC) for day in (10, 17, 24)), NOW)
Visit = Callable[..., Page]
# What a test may have changed of a window that stays changed whatever page is opened in it.
_LOOK = """[innerWidth, innerHeight].concat([
    'print', '(prefers-color-scheme: dark)', '(forced-colors: active)', '(prefers-reduced-motion: reduce)',
].map((query) => matchMedia(query).matches))"""
_MEDIA = {"color_scheme": "light", "forced_colors": "none", "reduced_motion": "no-preference"}


class Window:
    """A window that one test uses after another: what its page says, and what it asks for, is noticed."""

    def __init__(self, browser: Browser, surroundings: Mapping[str, object]) -> None:
        self.noticed: list[str] = []
        self._file, self._own, self._served = Path(), "", False
        self._context = browser.new_context(**surroundings)  # type: ignore[arg-type]
        self._context.set_default_timeout(PATIENCE)
        self._context.route("**/*", self._requested)
        self._context.on("console", lambda message: self.noticed.append(f"console: {message.text}"))
        self._context.on("weberror", lambda error: self.noticed.append(f"error: {error.error}"))
        self._page = self._context.new_page()
        self._media = {name: surroundings.get(name, usual) for name, usual in _MEDIA.items()}
        self._look = self._page.evaluate(_LOOK)

    def open(self, file: Path, fragment: str, address: str) -> Page:
        """Opens a page, as a file or as if it came from an address."""
        self._file, self._own, self._served = file, address or file.as_uri(), bool(address)
        self._page.goto(f"{self._own}#{fragment}" if fragment else self._own)
        return self._page

    def leave(self) -> bool:
        """Ends the page; says whether the next one would find the window as this one did."""
        for other in self._context.pages[1:]:
            other.close()
        self._page.evaluate("try { localStorage.clear(); } catch { /* a test has blocked it */ }")
        self._page.goto("about:blank")
        self._page.mouse.move(0, 0)
        if self._changed():
            self._page.set_viewport_size({"width": self._look[0], "height": self._look[1]})
            self._page.emulate_media(media="null", **self._media)  # type: ignore[arg-type]
        if self._changed():
            self._context.close()
            return False
        return True

    def _changed(self) -> bool:
        return bool(self._page.evaluate(_LOOK) != self._look)

    def _requested(self, route: Route, request: Request) -> None:
        if request.url.partition("#")[0] != self._own:
            self.noticed.append(f"asked for {request.url}")
            route.abort()
        elif self._served:
            route.fulfill(path=self._file, content_type="text/html; charset=utf-8")
        else:
            route.continue_()


@pytest.fixture(scope="package")
def browser() -> Iterator[Browser]:
    """One Chromium for all files of this folder, which is a package for its sake; none is ever downloaded.

    It has an event loop, and as long as that runs no test can have one of its own.
    """
    program = next((path for path in map(shutil.which, BROWSERS) if path), None)
    if program is None:
        pytest.skip(
            "no Chromium on PATH: install Debian's package 'chromium' to test the page in a browser"
        )
    with sync_playwright() as playwright:
        chromium = playwright.chromium.launch(executable_path=program, args=QUIET)
        yield chromium
        chromium.close()


@pytest.fixture(scope="package")
def windows() -> dict[str, list[Window]]:
    """Windows that no test uses at the moment, by their surroundings."""
    return defaultdict(list)


@pytest.fixture
def visit(browser: Browser, windows: dict[str, list[Window]]) -> Iterator[Visit]:
    """Opens a page, newly loaded, in a window that is as it was when it was made.

    Nothing may stand in its console afterwards, and it may have asked for nothing but itself.
    """
    used: list[tuple[list[Window], Window]] = []

    def make(file: Path, *, fragment: str = "", address: str = "", **surroundings: object) -> Page:
        unused = windows[json.dumps(surroundings, sort_keys=True)]
        window = unused.pop() if unused else Window(browser, surroundings)
        used.append((unused, window))
        return window.open(file, fragment, address)

    yield make
    unused_again = [(unused, window) for unused, window in used if window.leave()]
    noticed = [each for _, window in used for each in window.noticed]
    assert noticed == []
    for unused, window in unused_again:
        unused.append(window)


@pytest.fixture(scope="session")
def page_of(demo_run: Run, tmp_path_factory: pytest.TempPathFactory) -> Callable[..., Path]:
    """Makes a page of so many capabilities, with something in every part of it."""

    @cache
    def make(number: int) -> Path:
        file = tmp_path_factory.mktemp("page") / "report.html"
        summary = _of(number, demo_run.published.summary)
        file.write_text(render_page(summary), encoding="utf-8")
        return file

    return make


def _of(number: int, demo: Summary) -> Summary:
    everything = tuple(_varied(place, demo.everything) for place in range(number))

    def of(group: str) -> tuple[Capability, ...]:
        return tuple(each.capability for each in everything if each.group == group)

    return replace(
        demo,
        everything=everything,
        total=number,
        capabilities=of(TO_AUTHOR)[:LISTED],
        open_total=len(of(TO_AUTHOR)),
        settled=of(DECIDED)[:LISTED],
        settled_total=len(of(DECIDED)),
        hidden=len(of(HIDDEN)),
        places=tuple(
            Place(f"cap-{place:012x}", sin(place), cos(3 * place), (f"cap-{place // 2:012x}",))
            for place in range(min(number, MOST_PLACES))
        ),
        fewest={"images": 2, "sessions": 0},
    )


def _varied(place: int, demo: tuple[Listed, ...]) -> Listed:
    """One of the demo's capabilities, at another place and with what the demo has nothing of."""
    original = demo[place % len(demo)]
    lap = place // len(demo)
    item = original.capability
    group = _GROUPS[place % len(_GROUPS)]
    more = [Tally(f"extra-{number:02}", 1) for number in range(14 if place == 0 else 0)]
    images = (*original.on_images, *more)
    capability = replace(
        item,
        images=len(images),
        capability_id=f"cap-{place:012x}",
        rank=place + 1,
        rank_low=max(1, place - 3),
        rank_high=place + 1 + place % 7,
        label=f"{item.label} {lap}" if lap else item.label,
        status={DECIDED: "dismissed"}.get(group, item.status),
        repeats=place % 4,
        seen=place % 3,
        variants=_wordings(place, item),
        examples=item.examples[: 3 if lap == 0 else 1],
        covered_by=_covers(place),
        covered=(Covered("tone_lifted_shadows", item.mentions, ("lift",)),)
        * (place % 10 == COVERED),
        combinations=(Recurring(("exposure", "toneequal"), 1234), *item.combinations),
        decisions=("dismissed by ada on 2026-06-01: <b>rare</b>",) if group == DECIDED else (),
    )
    split = {
        "relation": "split",
        "label": item.label,
        "previous_label": "<masks>",
        "previous_mentions": 12,
        "previous_rank": 3,
        "shared_mentions": 5,
        "decided": None,
    }
    message = (split,) if place % 2 else ()
    if place % 12 == 6:
        undated = replace(
            capability, first_seen=None, last_seen=None, trend=None, weekly=(0,) * len(item.weekly)
        )
        return Listed(undated, group, images, (), message)
    # As it was in the runs before; the last of these has not seen all.
    runs = (_RUNS[0], *_RUNS[2:]) if place % 4 == 1 else _RUNS
    history = tuple(
        Past(moment, place + 1 + (place * ago) % 5, item.mentions - ago, status=capability.status)
        for ago, moment in enumerate(reversed(runs))
    )
    return Listed(
        capability,
        group,
        images,
        original.on_days,
        message,
        history[::-1],
        _choices(place, capability),
    )


def _choices(place: int, item: Capability) -> Choices | None:
    """The two next ones, and two parts of the wordings; none of rare ones."""
    if place >= 40:
        return None
    near = ((f"cap-{place ^ 1:012x}", 0.4), (f"cap-{place + 2:012x}", 0.2))
    parts = [numbers for numbers in ((1, 2), (3,)) if numbers[-1] < len(item.variants)]
    return Choices(item.capability_id, near, tuple(parts))


def _wordings(place: int, item: Capability) -> tuple[Wording, ...]:
    many = (
        Wording(f"Straße nach {number}", 1, number / 40)
        for number in range(30 if place == 0 else 0)
    )
    return (*item.variants[: 40 if place < 40 else 5], *many)


def _covers(place: int) -> tuple[Cover, ...]:
    covers = (
        Cover("tone_lifted_shadows", "base", 0.5, 0.125, ("lift", "shadow & <black>")),
        Cover("sky_soft", "sky", 0.4, 0.755, ("sky",)),
    )
    return covers if place % 10 == COVERED else covers[: place % 2]
