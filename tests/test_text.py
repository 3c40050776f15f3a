import re
import sys
import unicodedata
from concurrent.futures import ThreadPoolExecutor
from itertools import product

import pytest
from hypothesis import example, given
from hypothesis import strategies as st
from snowballstemmer import stemmer

from vocabgap.text import can_be_seen, shortened, stem, surface, visible, without_message, words

lower_words = st.text("abcdefghijklmnopqrstuvwxyz", min_size=2, max_size=8)
phrases = st.lists(lower_words, min_size=1, max_size=5)
# Part of words and of emoji in several scripts, so they are let through there on purpose.
JOINERS = "\u200c\u200d"
SELECTORS = "\ufe0e\ufe0f"


@pytest.mark.parametrize(
    ("phrase", "expected"),
    [
        ("reed mask", ["reed", "mask"]),
        ("reed\u2014mask", ["reed", "mask"]),
        ("  reed\t\n mask ", ["reed", "mask"]),
        ("reed\u00a0mask", ["reed", "mask"]),
        ("reed, mask!", ["reed", "mask"]),
        ("HDRGlow", ["hdr", "glow"]),
        ("grabURLs", ["grab", "urls"]),
        ("\uff32eed \ufb01lter", ["reed", "filter"]),
        ("STRA\u1e9eE Stra\u00dfe", ["strasse", "strasse"]),
        ("caf\u00e9", ["caf\u00e9"]),
        ("cafe\u0301", ["caf\u00e9"]),
        ("heron\u2019s wing", ["herons", "wing"]),
        ("he\u00adron", ["heron"]),
        ("reed\u200bmask", ["reed", "mask"]),
        ("\ufeffre\u2060edMask\u200e", ["reed", "mask"]),
        ("reed\ufe0f mask\U000e0100", ["reed", "mask"]),
        ("reed\u3164mask", ["reed", "mask"]),
        ("", []),
        ("?! \u2026", []),
        ("\U0001f426", []),
    ],
)
def test_words_of_a_phrase(phrase: str, expected: list[str]) -> None:
    assert words(phrase) == expected


@given(st.text())
@example("e\u200b\u0301")
@example("\u0345\u0301")
def test_words_of_words_are_the_same_words(phrase: str) -> None:
    found = words(phrase)

    assert words(" ".join(found)) == found


@given(st.text())
def test_a_word_holds_no_white_space_punctuation_or_unseen_character(phrase: str) -> None:
    characters = "".join(words(phrase))

    assert {unicodedata.category(character)[0] for character in characters}.isdisjoint("PSZC")


@given(phrases)
def test_hyphens_snake_case_and_camel_case_are_the_same_as_spaces(parts: list[str]) -> None:
    camel = parts[0] + "".join(map(str.capitalize, parts[1:]))
    pascal = "".join(map(str.capitalize, parts))

    spellings = {surface(text) for text in ("-".join(parts), "_".join(parts), camel, pascal)}

    assert spellings == {surface(" ".join(parts))}


@given(st.text().filter(str.strip))
@example("???")
@example("\u200b")
@example("\ufeff\u2060")
@example("\U0001f426")
@example("\u2800")
@example("''")
def test_surface_of_text_that_is_not_blank_is_never_empty(phrase: str) -> None:
    found = surface(phrase)

    assert found.strip()
    assert found == " ".join(found.split())


@pytest.mark.parametrize(
    ("one", "other"),
    [
        ("glow without halo", "glow with halo"), ("no halo", "halo"),
        ("do not sharpen feathers", "do sharpen feathers"), ("don't sharpen feathers", "do sharpen feathers"),
        ("never clip the sky", "clip the sky"), ("\U0001f426", "\U0001f31e"),
        ("C++ reeds", "C reeds"), ("C++ reeds", "C# reeds"), ("chord of F#", "chord of F"),
        ("brightness +1", "brightness -1"), ("brightness +1", "brightness 1"), ("-0.5 EV", "0.5 EV"),
        ("noise < 40", "noise > 40"), ("noise <= 40", "noise < 40"), ("shrink by 5%", "shrink by 5"),
        ("reed != heron", "reed = heron"), ("prices in €", "prices in £"),
    ],
)  # fmt: skip
def test_a_negation_or_sign_that_carries_meaning_is_kept(one: str, other: str) -> None:
    assert surface(one) != surface(other)


@pytest.mark.parametrize(
    ("one", "other"),
    [
        ("soft reed masks", "soft reed mask"),
        ("softening the reeds", "softened the reed"),
        ("Don't clip", "dont clip"),
        ("  ?!  ?! ", "?! ?!"),
        ("brightness \u22121 EV", "Brightness -1EV"),
        ("noise \u2264 40", "noise<=40"),
        ("chord of F\u266f", "chord of f#"),
        ("\uff15\uff10\uff05", "50 %"),
        ("# reed-mask -> heron + 1/2 (x)", "reed mask heron 1 2 x"),
        ("reed 3-5, item #12, $HOME", "reed 3 5 item 12 home"),
    ],
)
def test_inflections_other_signs_and_spellings_of_a_sign_do_not_matter(
    one: str, other: str
) -> None:
    assert surface(one) == surface(other)


@pytest.mark.parametrize(
    "message",
    [
        "<tool_use_error>Error: No such tool available: {}</tool_use_error>",
        "No such tool available: {}. {} is disabled",
        "{} tool not found in available tools",
        "sh: 1: {}: not found",
        "bash: line 1: {}: command not found",
        "zsh: command not found: {}",
    ],
)
def test_a_message_about_an_unknown_tool_is_its_name(message: str) -> None:
    assert {without_message(message.format(name, name)) for name in ("trim_reed", "trimReed")} == {
        "trim reed"
    }
    assert surface(message.format("trim_reed", "trim_reed")) == surface("trim reed")


@pytest.mark.parametrize(
    "phrase",
    [
        "no tool to trim reeds", "no tool called for round trims", "unknown tool", "unknown toolbar",
        "tool not found", "unknown tool for trimming", "tool use not supported",
        "function calling not supported", "unsupported method chaining", "command palette not available",
        "could not find a tool to trim reeds", "call not found in history",
        "the reed tool does not exist yet", "No such tool available: ", "Unknown tool name:",
        "unknown tool call: ", "Tool call not found:",
    ],
)  # fmt: skip
def test_a_need_that_only_sounds_like_such_a_message_keeps_its_words(phrase: str) -> None:
    assert without_message(phrase) == phrase


def test_a_word_with_a_digit_is_its_own_stem() -> None:
    assert stem("mp3s") == "mp3s"


def test_threads_that_stem_words_at_once_do_not_disturb_each_other() -> None:
    made_up = [
        "".join(letters) + end
        for letters in product("bdglmnprst", "aeiou", "bdglmnprst")
        for end in ("ational", "nesses", "ingly")
    ]
    expected = stemmer("english").stemWords(made_up)
    stem.cache_clear()
    interval = sys.getswitchinterval()
    sys.setswitchinterval(1e-6)
    try:
        with ThreadPoolExecutor(4) as threads:
            assert list(threads.map(stem, made_up)) == expected
    finally:
        sys.setswitchinterval(interval)


def test_visible_covers_every_code_point() -> None:
    every = "".join(map(chr, range(sys.maxunicode + 1)))

    shown = visible(every)

    assert {unicodedata.category(character) for character in set(shown) - set(JOINERS)}.isdisjoint(
        {"Cc", "Cf", "Cs", "Co", "Cn", "Zl", "Zp"}
    )


@given(
    st.text(st.characters(codec=None))
    | st.text(f"{JOINERS}{SELECTORS}a1\u0646\u094d\u202e\U0001f33e\u20e3 ")
)
@example("\U0001f33e\u200d\u202e")
@example("one\u2028two\u2029three\x85four")
def test_visible_text_is_one_line_of_utf8_that_stays_as_it_is(value: str) -> None:
    shown = visible(value)

    assert visible(shown) == shown
    assert shown.splitlines() in ([], [shown])
    assert shown.encode("utf-8").decode("utf-8") == shown


@given(st.text(f"{JOINERS}{SELECTORS}a1\u0436\u4e00\u0646\u0928\u094d\U0001f33e\u20e3 "))
def test_a_joiner_or_selector_is_shown_where_it_joins_nothing(value: str) -> None:
    shown = f" {visible(value)} "

    assert not re.search(
        rf"[a1\u0436\u4e00\u20e3 ][{JOINERS}]|[{JOINERS}{SELECTORS}]{{3}}|[{JOINERS}]{{2}}", shown
    )
    assert not re.search(rf"\U0001f33e\ufe0f?[{JOINERS}](?!\U0001f33e)", shown)
    assert not re.search(rf"[^\U0001f33e1][{SELECTORS}]|1[{SELECTORS}](?!\u20e3)", shown)


@pytest.mark.parametrize(
    ("value", "shown"),
    [
        ("plain text, kept: caf\u00e9 \U0001f426", "plain text, kept: caf\u00e9 \U0001f426"),
        ("two\n  lines\tand a tab", "two lines and a tab"),
        ("\x1b[2J", "\\u001b[2J"),
        ("\u202edesrever", "\\u202edesrever"),
        ("\U000e0041", "\\U000e0041"),
        ("\ud83d", "\\ud83d"),
        ("ad\u200cmin", "ad\\u200cmin"),
        ("\u0430\u200d\u0431", "\u0430\\u200d\u0431"),
        ("grain\ufe0f\U000e0101", "grain\\ufe0f\\U000e0101"),
        ("gr\u034fain\u180b", "gr\\u034fain\\u180b"),
    ],
)
def test_visible_shows_escapes_for_what_cannot_be_seen(value: str, shown: str) -> None:
    assert visible(value) == shown


@pytest.mark.parametrize(
    "text",
    ["", " \t\n", "\u200b", "\u200b \u2060\ufeff", "\u200c\u200d", "\u00ad", "\u202e", "\u3164\u2800",
     "\U0001d159", "\ufe0f", "\u034f", "\u0301", "\x07", "\ud800"],
)  # fmt: skip
def test_text_of_which_nothing_can_be_seen(text: str) -> None:
    assert not can_be_seen(text)
    assert all(can_be_seen(text + seen) for seen in ("a", "7", "?", "→", "🌙", "空", "\U0001f469"))


@pytest.mark.parametrize(
    "value",
    [
        "\U0001f468\u200d\U0001f33e",
        "\U0001f468\U0001f3fd\u200d\U0001f33e",
        "\U0001f3f3\ufe0f\u200d\U0001f308",
        "1\ufe0f\u20e3 \u2764\ufe0f",
        "\u0646\u0645\u06cc\u200c\u062e\u0648\u0627\u0647\u0645",
        "\u0d28\u0d4d\u200d",
        "\u0915\u094d\u200d\u0937",
    ],
    ids=[
        "farmer",
        "skin tone",
        "rainbow flag",
        "keycap and heart",
        "Persian",
        "Malayalam",
        "Devanagari",
    ],
)
def test_visible_leaves_joiners_and_selectors_where_words_and_emoji_need_them(value: str) -> None:
    assert visible(value) == value


@pytest.mark.parametrize("sequence", ["\U0001f468\u200d\U0001f33e", "1\ufe0f\u20e3"])
def test_shortened_text_does_not_end_in_what_joins_nothing(sequence: str) -> None:
    message = shortened(f"grain {sequence} more", 6 + sequence.index(sequence[-1]))

    assert message == f"grain {sequence[0]}… (14 characters)"
    assert visible(message) == message


def test_a_text_of_at_most_500_characters_is_shown_whole() -> None:
    assert shortened("x" * 500) == "x" * 500
    assert shortened("x" * 501) == f"{'x' * 500}… (501 characters)"


def test_only_the_beginning_of_a_pasted_text_is_compared() -> None:
    start = "film grain " * 2_000

    assert surface(f"{start} and dust") == surface(f"{start} and scratches")
    assert len(words(start * 10)) < len(start)
    assert surface("x" * 20_001) == surface("x" * 20_000) != surface("x" * 19_999)


@pytest.mark.parametrize(
    ("character", "shown"),
    [("\u200b", r"\u200b"), ("\uffff", r"\uffff"), ("\U000e0001", r"\U000e0001")],
)
def test_an_unseen_character_is_shown_by_its_code(character: str, shown: str) -> None:
    assert visible(f"sky{character}mask") == f"sky{shown}mask"
