"""Extraction: which terms are found in a text, by which sign."""

import tracemalloc
from collections.abc import Iterable, Mapping
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from glossary.builders import sense
from vocabgap.glossary.conflicts import check, should_block
from vocabgap.glossary.extracting import Field, extract
from vocabgap.glossary.glossary import Glossary
from vocabgap.glossary.normal_form import KnownTerms, keys_of, term_key
from vocabgap.glossary.senses import SIGNS, Strictness, TermSource

Found = tuple[str, str, float]


def found(
    text: str, metadata: Mapping[str, Any] | None = None, known: Iterable[str] = ()
) -> list[Found]:
    found = extract([Field("description", text)], metadata or {}, KnownTerms(known))
    finds = [*found.terms, *found.drafts]
    return [(each.surface.surface_text, each.source, each.confidence) for each in finds]


def surfaces(text: str, known: Iterable[str] = ()) -> set[str]:
    return {surface for surface, _, _ in found(text, known=known)}


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("two Work Packages wait", {"work package"}), ("the work, package by package", set()),
        ("he likes to work. Package it", set()), ("work\npackages", {"work package"}),
        ("a photographer's mask", {"mask"}), ("masks", {"mask"}), ("a ma\u00adsk", {"mask"}),
        ("Skİ\u200b masks", {"ski mask"}), ("remasked", set()), ("a sky mask", {"sky mask"}),
        ("the sky and a mask", {"mask"}), ("written in c++ or c", {"c++"}),
    ],
)  # fmt: skip
def test_known_terms_of_several_words_in_any_spelling(text: str, expected: set[str]) -> None:
    assert surfaces(text, ["work package", "mask", "sky mask", "c++", "ski mask"]) == expected


@pytest.mark.parametrize(
    "text",
    [
        "The API gateway waits",
        "The **API** gateway waits",
        "The api Gateway waits",
        "the API-gateway waits",
        "our apiGateway, APIGateway and api_gateway, and all API gateways",
        'an API gateway, one "API gateway", that gateway/API gateway and API gateway',
        "API gateway by API gateway to the API gateway",
    ],
)
def test_the_longest_known_term_wins_over_every_sign_of_a_shorter_one(text: str) -> None:
    assert surfaces(text, ["api gateway"]) - {"gateway/api"} == {"api gateway"}


def test_variants_of_a_term_that_nobody_knows_are_one_find() -> None:
    assert surfaces('the work-package and the workPackage, a "work package" or work_package') == {
        "work package"
    }


@pytest.mark.parametrize(
    ("text", "known"),
    [
        ("it is in form, and for mat", ["inform", "format"]), ("log in and set up", ["login", "setup"]),
        ("the layers 2-4", ["24"]), ("he likes to work. Package it", ["workpackage"]),
        ("a network packager", ["work package"]), ("the remaskLayer", ["mask", "layer"]),
        ("work\n\npackage", ["work package"]), ("/srv/mask, a.mask, mask@x.org, --mask", ["mask"]),
    ],
)  # fmt: skip
def test_words_are_not_joined_that_are_none_of_a_term(text: str, known: list[str]) -> None:
    assert surfaces(text, known).isdisjoint(known)


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ('the "focus stack" here', {"focus stack"}),
        ("the “focus stack,” as they say", {"focus stack"}),
        ("the „Fokusstapel“ dort", {"fokusstapel"}),
        ("the ‘user’s mask’ of it", {"user’s mask"}),
        ("the 'focus stack' here", {"focus stack"}),
        ("call `lift` now", {"lift"}),
        ("la « pile » de", {"pile"}),
        ('"focus\nstack"', {"focus stack"}),
        ('"focus stacks"', {"focus stack"}),
        ('"wørk$päce"', {"wørk$päce"}),
        ('"alpha" needs a 5" pipe, then "gamma"', {"alpha", "gamma"}),
        ('a 24" and a 27" screen', set()),
        ("the users' mask and the dogs' bowl", set()),
        (
            "it isn't what the '90s and the editors' choice were, 'tis said, don't 'rock 'n' roll",
            set(),
        ),
        ('"" and "   " and "x" and "the" and "?!"', set()),
        ('one " alone and\n\nanother " there', set()),
        (f'"{"too long " * 20}"', set()),
    ],
)
def test_quotes_of_every_kind(text: str, expected: set[str]) -> None:
    quoted = {surface for surface, source, _ in found(text) if source == "quoted_phrase"}
    assert quoted == expected


@pytest.mark.parametrize(
    ("text", "source", "expected"),
    [
        ("WP is a part of the API and the CLI", "acronym", {"wp", "api", "cli"}),
        ("HTTP2, K8S and SHA256; all APIs", "acronym", {"http2", "k8s", "sha256", "api"}),
        ("ABCDEF is too long, A is too short", "acronym", set()),
        ("OR AND THE BUT IF SO GO ME NO. TODO: see CI/CD, OK?", "acronym", set()),
        ("the work_package of new_work", "casing_pattern", {"work_package", "new_work"}),
        ("__init__ and MAX_VALUE and step_2", "casing_pattern", {"__init__", "max_value", "step_2"}),
        ("workPackage, FocusStack, HTTPServer, layer2Mask, GitHub", "casing_pattern",
         {"workpackage", "focusstack", "httpserver", "layer2mask", "github"}),
        ("use kebab-case, step-2 and day-to-day", "casing_pattern", {"kebab-case", "step-2"}),
        ("the ending of mp3 and iso100", "casing_pattern", {"mp3", "iso100"}),
        ("We use the Focus Stack, and Lightroom on Monday. Then we rest.", "capitalised",
         {"focus stack", "lightroom"}),
    ],
)  # fmt: skip
def test_what_the_spelling_says(text: str, source: str, expected: set[str]) -> None:
    assert {surface for surface, sign, _ in found(text) if sign == source} == expected


def test_a_word_counts_in_all_fields_together() -> None:
    fields = [Field("first", "a mask and a mask"), Field("second", "one more mask")]
    (only,) = extract(fields, {}).terms
    assert (only.surface.surface_text, only.context) == ("mask", "first")


@pytest.mark.parametrize(
    "watched", ["workspace", {"workspace": 1}, {"workspace"}, frozenset({"workspace"}), None, 7]
)
def test_what_is_no_list_of_terms_means_nothing(watched: object) -> None:
    assert (
        found("", {"glossary_watch_terms": watched, "glossary_aliases": watched and [watched]})
        == []
    )


def test_alias_is_the_term_and_an_excluded_word_is_none() -> None:
    metadata = {"glossary_aliases": {"up": "lift"}, "glossary_exclude_terms": ["api", "Sky masks"]}
    text = 'An "up" of the API, and a "sky mask".'
    assert found(text, metadata, ["lift"]) == [("lift", "metadata_hint", 1.0)]


@pytest.mark.parametrize(
    ("signs", "expected"),
    [
        ([], {"lift"}),
        (["acronym"], {"lift", "api"}),
        ({"acronym"}, {"lift", "api", "mask"}),
        (None, {"lift", "api", "mask"}),
    ],
)
def test_list_of_signs_names_all_that_count(signs: object, expected: set[str]) -> None:
    metadata = {"glossary_signs": signs, "glossary_watch_terms": ["lift"]}
    assert {surface for surface, _, _ in found('the API of a "mask"', metadata)} == expected


def test_a_known_term_in_one_text_leaves_the_words_of_another_as_often_as_they_are() -> None:
    fields = [Field("first", "one SKY MASK"), Field("second", "a mask, the mask, one mask")]
    terms = extract(fields, {}, KnownTerms(["sky mask"])).terms
    assert [(each.surface.surface_text, each.source) for each in terms] == [
        ("sky mask", "known_term"),
        ("mask", "repeated_noun"),
    ]


@pytest.mark.parametrize(
    "mark", ['"', "'", "“", "‘", "«", "`", "''", " 'a", ' "a', "A", "a-", "_", "(", "\u200b"]
)
def test_marks_without_partners_hide_no_term(mark: str) -> None:
    assert "api gateway" in surfaces(f"API gateway. {mark * 50_000}", ["api gateway"])


@given(st.text(), st.lists(st.text(), max_size=3), st.booleans())
def test_finds_of_any_text_keep_the_rules(text: str, named: list[str], curly: bool) -> None:
    quoted = f" “{text}” " if curly else f' "{text}" `{text}` {text}'
    terms = extract([Field("text", quoted)], {"glossary_watch_terms": named}).terms
    for each in terms:
        assert each.surface.surface_text == each.surface.surface_text.lower().strip() != ""
        assert 0 < each.confidence <= 1
    assert len({term_key(each.surface.surface_text) for each in terms}) == len(terms)


WORDS = st.sampled_from(["sky", "mask", "masks", "lift", "a", "-", ".", "B", "c+"])


@given(
    st.lists(st.lists(WORDS, min_size=1, max_size=3).map(" ".join), max_size=6),
    st.lists(WORDS, max_size=12),
)
def test_known_terms_are_found_as_one_by_one(terms: list[str], words: list[str]) -> None:
    term_keys = {term_key(term) for term in terms}
    keys = [key for word in words for key in keys_of(word)]
    expected, place = [], 0
    while place < len(keys):  # at each place the longest term that begins there
        ends = [
            end for end in range(place + 1, len(keys) + 1) if "".join(keys[place:end]) in term_keys
        ]
        if ends:
            expected.append("".join(keys[place : max(ends)]))
        place = max(ends, default=place + 1)
    found = KnownTerms(terms).occurrences([keys])  # nothing parts them
    assert [term_key(each.term) for each in found] == expected


def test_encoded_data_is_no_term_and_takes_little_memory() -> None:
    data = "aB" * 5_000
    tracemalloc.start()

    assert found(f"{data} {'a-b' * 50}", known=[data]) == found(data) == []
    assert tracemalloc.get_traced_memory()[1] < 5_000_000
    tracemalloc.stop()


TEAMSPACE = "You enter the Teamspace. A member of a Teamspace stays."
# For each sign, a text with a find that only this sign has, and the most that the find may cause.
EXAMPLES = {
    TermSource.METADATA_HINT: ("", "ask"),
    TermSource.QUOTED_PHRASE: ('We call it "focus stack" here.', "ask"),
    TermSource.ACRONYM: ("We send it to the WPQ of today.", "ask"),
    TermSource.CASING_PATTERN: ("We send it to the layer_mask of today.", "ask"),
    TermSource.KNOWN_TERM: ("We lift it.", "block"),
    TermSource.COINED: (TEAMSPACE, "block"),
    TermSource.REPEATED_NOUN: ("a vignette, one vignette and another vignette", "ask"),
    TermSource.CAPITALISED: ("We met there with Ansel.", "draft"),
}


@pytest.mark.parametrize("sign", TermSource)
def test_finds_of_a_sign_cause_what_its_row_says_and_no_more(sign: TermSource) -> None:
    glossary = Glossary([sense("lift", "raises shadows"), sense("lift", "carries people")])
    hints = ["gobo"] if sign is TermSource.METADATA_HINT else []
    metadata = {"glossary_watch_terms": hints, "glossary_signs": [sign.value]}
    text, may = EXAMPLES[sign]

    found = extract([Field("prompt", text)], metadata, glossary.known)
    conflicts = check(found.terms, glossary, critical=True)

    (only,) = found.drafts if may == "draft" else found.terms
    assert (only.source, only.confidence) == (sign, SIGNS[sign])
    assert len(conflicts) == (may != "draft")
    severities = [each.severity for each in conflicts]
    assert should_block(Strictness.MEDIUM, severities) == (may == "block")
    assert should_block(Strictness.MAX, severities) == (may != "draft")


@pytest.mark.parametrize(
    "text",
    [
        "If the Case is open, see the Result. In that Case we keep the Result, and a Scope. A Scope ends.",
        "# The Foozle of it\n\n## In the Foozle\n\nin the Foozle\n----------\n",
        "- Foozle: we wait.\n- Foozle is ours.\n1. **Foozle**: we go to the Foozle. In the Foozle we are.\n",
        "| the Foozle | a Foozle of ours |\n|---|---|\n| in the Foozle | yes |\n",
        "We take the Foozle package, and then the Foozle client, for this Foozle server of ours.",
        "We wrote it with Foozle, and with Foozle we stay, as Foozle does it.",
        "We asked the Foozle. Nobody else does.",
        "We use the Foozle. A Foozle is a room for one team, and the Foozle is theirs.",
        "We use the Foozle. The Foozle refers to a room, and we use the Foozle.",
        "Use the `Foozle`.\n\n```\nwe enter the Foozle, and leave the Foozle.\n```\n",
        "---\ntitle: enter the Foozle, leave the Foozle.\n---\n",
        "Add the Foozle, To The List, And See A Foozle, For The Team",
        "We see it on the Monday. On that Monday, it was the Python. With a Python, we go.",
    ],
)  # fmt: skip
def test_names_that_prose_does_not_treat_as_words_of_its_own_are_not_critical(text: str) -> None:
    terms = extract([Field("prompt", text)], {}).terms
    assert not [each for each in terms if each.source == TermSource.COINED]


def test_a_coined_word_counts_in_all_fields_together_and_loses_to_an_alias() -> None:
    fields = [Field("first", "You enter the Teamspace."), Field("second", "no teamspaces")]

    (coined,) = extract(fields, {}).terms
    (known,) = extract(fields, {}, KnownTerms(["room"], {"teamspace": "room"})).terms

    assert (coined.source, coined.original) == (TermSource.COINED, "Teamspace")
    assert (known.source, known.surface.surface_text) == (TermSource.KNOWN_TERM, "room")


def test_an_alias_of_several_words_is_found_as_its_term() -> None:
    known = KnownTerms(["work package", "task"], {"task bundle": "work package", "tasks": "lift"})
    finds = extract([Field("prompt", "the task bundles, and a task")], {}, known).terms
    assert [each.surface.surface_text for each in finds] == ["task", "work package"]


def test_what_people_call_no_term_is_left_out_of_every_sign() -> None:
    text = f'{TEAMSPACE} The "focus stack" of Ansel.'
    without = frozenset(map(term_key, ["teamspace", "focus stack", "ansel", "gobo"]))
    assert len(surfaces(text) & {"teamspace", "focus stack"}) == 2
    found = extract([Field("prompt", text)], {"glossary_watch_terms": ["gobo"]}, no_terms=without)
    assert found == ([], [])


@pytest.mark.parametrize(
    ("text", "coined"),
    [
        ("Messages go to the Kafka, and consumers read the Kafka.", False),
        ("Edit the Dockerfile. Then build it with the Dockerfile.", False),
        ("Move it to the Holdpen. Cards leave the Holdpen. The Holdpen is sorted.", True),
        ("The user opens the Tasknest. A Tasknest can be archived.", True),
        ("Wait for the Holdpen. Without the holdpen, there is no Holdpen.", True),
    ],
)
def test_coined_word_is_used_more_often_or_otherwise_than_a_product(
    text: str, coined: bool
) -> None:
    assert any(source == "coined" for _, source, _ in found(text)) == coined
