"""What is left of a wording when the frame is taken off in which something is said to be missing."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from vocabgap.model.frames import label_of, need
from vocabgap.text import words

OPENINGS = [
    "no way to {}", "No tool for {}", "There is no command to {}", "there's no option that would {}",
    "I have no means to {}", "cannot {}", "can't {}", "can’t {}", "we couldn't {}", "unable to {}",
    "It isn't possible to {}", "impossible to {}", "I was unable to {}", "Could not find a way to {}",
    "couldn't find any tool to {}", "wanted to {}", "I want to be able to {}", "would need a way to {}",
    "needed {}", "missing: {}", "MISSING {}", "[missing_tool] {}", "missing data: {}", "feature request: {}",
    "[Feature Request] {}", "feat[harbour]: {}", "Lack of {}", "lack of support for {}", "403 when {}",
    "HTTP 403 Forbidden when I try to {}", "Request (low priority): {}", "add support for {}",
    "provide an endpoint to {}", "a tool to {}", "no {}", "There is no {}",
]  # fmt: skip
OWNERS = [
    "the layout editor has no {}", "map-bridge offers no way to {}", "the connector lacks {}",
    "ticket tool is missing the {}", "Harbour MCP doesn't support {}", "the sound server does not let me {}",
    "the desk tool cannot {}", "Harbour MCP: {}", "harbour-mcp: {}",
]  # fmt: skip
ENDINGS = [
    "{} is not exposed", "{} aren't supported yet", "{} not available in this version", "{} is missing",
    "{} unavailable from here", "{} isn't something it knows", "{} from here", "{} in this sandbox",
    "{}, but the tool refuses", "{} because the client wants it", "{}; did it by hand",
    "{} - had to leave it", "{} — had to leave it",
]  # fmt: skip
OBJECTS = ["trace a coastline", "coastline tracing", "tidal chart overlay", "echo on one voice"]

# Pieces of frames and needs, in any order.
PIECES = """
no way to of the missing: MISSING::: tool cannot wanted has isn't supported from here, but ; can't be
coastline trace_coastline traceCoastline `tide` GitHub HDR ??? [missing_tool] Harbour MCP: é
"""
pieces = st.lists(st.sampled_from(PIECES.split()), min_size=1, max_size=8).map(" ".join)


@pytest.mark.parametrize("frame", [*OPENINGS, *OWNERS, *ENDINGS])
def test_a_frame_is_taken_off(frame: str) -> None:
    assert [need(frame.format(wanted)) for wanted in OBJECTS] == OBJECTS


@pytest.mark.parametrize(
    ("wording", "left"),
    [
        ("feature request: add support for tidal charts", "tidal charts"),
        ("the map tool has no way to trace a coastline from here", "trace a coastline"),
        ("Missing: no option to trace a coastline; drew it by hand", "trace a coastline"),
        ("Harbour MCP: cannot trace a coastline", "trace a coastline"),
        # Lists of absences.
        ("No `tide_table` view, no per-day chart", "tide table view, per-day chart"),
        ("no tides and no swell", "tides and swell"),
        ("No tool traces a coastline", "traces a coastline"),
        ("No tool traces coastlines", "No tool traces coastlines"),
        ("no command aliases in the shell", "command aliases in the shell"),
        ("cannot trace a coastline, cannot shade the sea", "trace a coastline, shade the sea"),
        (
            "There is no way to trace a coastline and no way to shade the sea",
            "trace a coastline and shade the sea",
        ),
        ("without a tide table available", "tide table"),
        ("no chart without islands", "chart without islands"),
        ("  no  way\tto trace \n a coastline ", "trace a coastline"),
        ("No\u200bway to\u00a0trace a\u2060 coast\u00adline", "trace a coastline"),
        # The verb is part of the need, with its particle.
        ("colour speckles cannot be taken out", "colour speckles taken out"),
        ("layers can't be merged down by hand", "layers merged down"),
        ("coastlines couldn't be traced on old maps", "coastlines traced"),
        ("coastlines can’t be traced on old maps", "coastlines traced"),
    ],
)
def test_all_frames_of_a_wording_are_taken_off(wording: str, left: str) -> None:
    assert need(wording) == left


@pytest.mark.parametrize(
    "wording",
    [
        *OBJECTS,
        # What narrows a need.
        "shade the sea but not the islands", "shade the sea, but not the islands", "list tides since a date",
        "shaded sea with no islands",
        # A negation of the need.
        "do not notify at low tide", "never notify at low tide", "no longer notify at low tide",
        "no notificar en marea baja", "No hay forma de exportar mareas",
        "list harbours that have no tide table", "warn if a chart has no tides",
        "filter harbours that aren't charted", "harbours which can't be charted",
        "captains who cannot log in",
        # Nothing would be left.
        "no", "cannot", "missing", "Missing:", "no X", "wanted", "can't be", "MISSING::::", "???", "…", "- ;",
        "No such tool available:",
    ],
)  # fmt: skip
def test_a_wording_without_a_frame_or_without_a_need_stays_whole(wording: str) -> None:
    assert need(wording) == wording


@pytest.mark.parametrize(
    "message", ["Unknown tool: {}", "Error: {} is not a valid tool, try one of [a]."]
)
def test_the_need_of_a_message_about_an_unknown_tool_is_its_name(message: str) -> None:
    assert need(message.format("trace_coastline")) == "trace coastline"


@pytest.mark.parametrize(
    ("name", "left"),
    [
        ("trace_coastline", "trace coastline"), ("traceCoastline", "trace coastline"),
        ("`trace_coastline`", "trace coastline"), ("trace_coastline is not exposed", "trace coastline"),
        ("no `traceCoastline`", "trace coastline"), ("GitHub mirror", "GitHub mirror"),
        ("HDR to 3 dB", "HDR to 3 dB"), ("McDonald plot", "McDonald plot"),
    ],
)  # fmt: skip
def test_names_of_tools_are_written_as_words_and_no_others(name: str, left: str) -> None:
    assert need(name) == left


@given(st.text(min_size=1) | pieces)
def test_something_is_left_of_something(wording: str) -> None:
    assert need(wording)
    assert bool(words(need(wording))) == bool(words(wording))


@given(pieces)
def test_what_is_left_are_words_of_the_wording_in_their_order(wording: str) -> None:
    said = iter(words(wording))

    assert all(word in said for word in words(need(wording)))
    assert need(f" {wording}\n") == need(wording)


@pytest.mark.parametrize("length", range(1, 30))
def test_a_long_label_is_cut_between_words_and_as_late_as_possible(length: int) -> None:
    text = " ".join(["x" * length] * (160 // length))

    kept = label_of(text).removesuffix("…")

    assert len(kept) < 80 <= len(kept) + 1 + length + 1
    assert text.startswith(f"{kept} ")
    assert label_of("x" * 80) == "x" * 80


def test_a_label_of_one_long_word_is_cut_within_it() -> None:
    assert label_of("x" * 500) == "x" * 79 + "…"
    assert label_of(f"a {'x' * 500}") == f"a {'x' * 77}…"
