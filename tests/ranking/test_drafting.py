"""A draft says what records say, and nothing else."""

import re
from collections.abc import Mapping, Sequence
from typing import Any

import msgspec
import polars as pl
import pytest

from builders.ranking import day, ranked, records
from vocabgap.clustering.grouping import cluster
from vocabgap.model.tables import GAPS, RECORDS
from vocabgap.ranking.capabilities import rank
from vocabgap.ranking.drafting import Draft, draft
from vocabgap.ranking.vocabulary import Entry, Form, Vocabulary
from vocabgap.text import stem, words

Row = Mapping[str, Any]

VOCABULARY = Vocabulary(
    (
        Entry("fog_density", "Density of fog.", ("Fog", "weather"), ("haze",), "quay"),
        Entry("lamp_glow", "Glow around lamps.", ("lamps",), ("bloom", "blur"), "quay"),
    )
)


def drafted(
    rows: Sequence[Row], vocabulary: Vocabulary | None = None, *, counted: bool = True
) -> Draft:
    """The draft of the first capability of some records."""
    frame = ranked(rows)
    wanted = frame["capability_id"][0]
    message = {"capability_id": wanted, "counted": counted}
    gaps = records(rows).with_columns(
        pl.lit(message.get(column.name), column.dtype).alias(column.name)
        for column in GAPS.columns
        if column not in RECORDS.columns
    )
    return draft(wanted, frame, gaps=gaps.select(GAPS.names), vocabulary=vocabulary)


def test_an_entry_has_the_name_description_tags_and_operations_that_records_tell() -> None:
    rows: list[Row] = [
        {"description": "Fog is too dense", "intent_category": "Tonal"},
        {"description": "fog is too dense.", "intent_category": "tone"},
        {"description": "Too grey", "operations_involved": ["haze", "bloom"]},
        {"operations_involved": ["haze", "crop"]},
        {"operations_involved": ["haze"]},
    ]

    made = drafted([{"missing_capability": "fog lifter", **row} for row in rows]).entry

    assert (made.name, made.description) == ("fog_lifter", "Fog lifter.")
    assert (made.tags, made.touches) == (("tone", "fog", "lifter"), ("haze",))


@pytest.mark.parametrize(
    ("wordings", "description"),
    [
        (["sky mask"] * 4 + ["dusk matte"], "Sky mask."),
        (["sky mask"] * 3 + ["dusk matte"], "Sky mask – use it for: dusk matte."),
        (
            ["sky mask"] * 3 + ["dusk matte, with it"],
            "Sky mask – use it for: dusk matte.",
        ),
        (["sky mask"] * 3 + ["dusk, with a matte"], "Sky mask – use it for: dusk, with a matte."),
        (["sky mask"] * 3 + ["I want to blur dusk"] * 2, "Sky mask – use it for: blur dusk."),
        (
            ["sky mask"] * 3 + ["my dusk is not matte", "dusk matte"],
            "Sky mask – use it for: dusk matte.",
        ),
    ],
)
def test_a_description_quotes_what_the_label_does_not_cover(
    wordings: Sequence[str], description: str
) -> None:
    frame = records([{"missing_capability": wording} for wording in wordings])
    (name,) = (capabilities := rank(frame, cluster(frame, threshold=1.0)))["capability_id"]

    made = draft(name, capabilities, vocabulary=Vocabulary())

    assert made.entry.description == description
    assert made.check.passes


def test_of_a_vocabulary_only_its_own_tags_are_taken() -> None:
    assert drafted([{"missing_capability": "fog lifter"}], VOCABULARY).entry.tags == ("Fog",)


def test_intents_are_examples_without_the_request_the_most_frequent_first_and_once_each() -> None:
    asked = ["Less fog, please", " ", None, "more light", "I want more  light", "More light."]
    asked += ["the photographer asked for lamp glow", "can you see it?", "as I like it"]

    made = drafted([{"intent": intent} for intent in (*asked, "wanted lamp glow")])

    assert made.examples == ("More light.", "Less fog.")


def test_three_sessions_of_different_images_are_to_be_tested_unsatisfied_ones_first() -> None:
    rows: list[Row] = [
        {"session_id": "s1", "image_id": "a", "satisfaction": 1, "timestamp": day(9)},
        {"session_id": "s2", "image_id": "b", "satisfaction": -1, "timestamp": day(1)},
        {"session_id": "s2", "image_id": "a", "satisfaction": -1, "timestamp": day(1)},
        {"session_id": "s3", "image_id": "b", "satisfaction": -1, "timestamp": day(1)},
        {"session_id": None, "image_id": "c", "timestamp": day(2), "workaround": "a brush"},
        {"session_id": "s4", "image_id": "d", "timestamp": day(3)},
    ]

    made = drafted(rows).checklist

    assert [re.findall(r"jsonl:(\d)(?: \(session (s\d)\))?", each)[0] for each in made] == [
        ("2", "s2"),
        ("5", ""),
        ("6", "s4"),
    ]


def test_a_check_leads_back_to_the_line_and_says_what_to_ask_and_what_was_done_instead() -> None:
    (check,) = drafted(
        [{"intent": "lift it", "workaround": "a brush", "session_id": "s1"}]
    ).checklist

    assert check == (
        "photos/quay-01/vocabulary_gaps.jsonl:1 (session s1): ask again: “lift it”;"
        " the workaround should not be needed: “a brush”"
    )


def test_without_gaps_the_examples_of_the_capability_are_what_is_known() -> None:
    frame = ranked([{"intent": "lift it", "session_id": "s1", "description": "Too dark"}])

    made = draft("lamp glow", frame)

    assert (made.examples, made.entry.description) == (("Lift it.",), "Lamp glow.")
    assert "(session s1)" in made.checklist[0]


def test_nothing_is_said_that_no_record_says() -> None:
    rows = [
        {
            "missing_capability": "soften lamp glow", "description": "glow is harsh",
            "intent": "softer lamps", "intent_category": "local", "operations_involved": ["bloom"],
        }
    ]  # fmt: skip

    made = drafted(rows, VOCABULARY)

    said = {
        stem(word)
        for text in ("soften lamp glow", "glow is harsh", "softer lamps", "local", "bloom")
        for word in words(text)
    }
    message = msgspec.to_builtins([msgspec.structs.replace(made.entry, check=""), made.examples])
    assert {
        stem(word)
        for word in words(re.sub(r"\b(name|description|tags|touches|check)\b", " ", str(message)))
    } <= said


def test_text_of_logs_is_made_visible() -> None:
    made = drafted(
        [{"description": "a\x1b[31mb\u202ec\nd", "intent": "e\x07", "workaround": "\x9b"}]
    )

    shown = str(msgspec.to_builtins(made))
    assert not re.search("[\x00-\x1f\x7f-\x9f\u202e]", shown)


def test_a_draft_tells_of_all_mentions_also_if_none_counts_any_more() -> None:
    frame = ranked([{"description": "Too dark"}]).with_columns(mentions=pl.lit(0, pl.Int64))

    made = draft("lamp glow", frame)

    assert made.check.mentions == 1
    assert made.draft.startswith("made from 1 gap record:")


def test_what_a_skill_quotes_is_no_markup() -> None:
    made = drafted([{"intent": "<b>lift</b> *it* [now](x)"}])

    text = msgspec.structs.replace(made, form=Form.SKILL).text()

    assert "\\<b\\>Lift" in text or "\\<b\\>lift" in text
    assert "*it*" not in text.replace("\\*", "")
    assert "[now]" not in text


def test_a_draft_has_at_most_ten_examples() -> None:
    fish = (
        "carp",
        "eel",
        "pike",
        "perch",
        "tench",
        "bream",
        "roach",
        "rudd",
        "chub",
        "dace",
        "zander",
    )

    made = drafted([{"intent": f"less {name} in the reeds"} for name in fish])

    assert len(made.examples) == 10
