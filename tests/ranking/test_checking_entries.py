"""The check of an entry says what a report says once the vocabulary has the entry."""

from collections.abc import Mapping
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import polars as pl
import pytest
from hypothesis import given
from hypothesis import strategies as st

from builders.ranking import ranked
from vocabgap.clustering.grouping import cluster
from vocabgap.ingest.scanning import scan
from vocabgap.model.capability import Tally
from vocabgap.model.settings import DEFAULT_COVERED
from vocabgap.ranking.capabilities import rank
from vocabgap.ranking.coverage import Check, Checks, covered, probably_covered
from vocabgap.ranking.drafting import draft
from vocabgap.ranking.vocabulary import Entry, Form, Vocabulary, load_vocabulary

NEEDS = [{"missing_capability": text} for text in ["lamp glow"] * 4 + ["fog bank", "tide table"]]
GLOW = Entry("lamp_glow", "Glow around lamps.")


def check(entry: Entry, *vocabulary: Entry) -> Check:
    """The check of an entry for the first need of the records."""
    frame = ranked(NEEDS)
    return Checks(frame, Vocabulary(vocabulary), DEFAULT_COVERED, {}).check(entry, frame.head(1))


def test_an_entry_that_covers_its_need_and_no_other_passes() -> None:
    assert check(GLOW) == Check(4, 4, (), (), (), None, passes=True)


def test_an_entry_that_misses_its_need_fails_and_names_the_wording() -> None:
    found = check(Entry("harbour", "Boats at the quay."))

    assert found == Check(0, 4, (), ("lamp glow",), (), None, passes=False)
    assert found.sentences("harbour", "of 'lamp glow'") == [
        "harbour covers 0 of 4 mentions of 'lamp glow'.",
        "Not covered: lamp glow.",
        "It fails: it must cover 80 % and take no other need.",
    ]


def test_an_entry_that_would_cover_another_need_takes_it_unless_it_exists_already() -> None:
    wide = Entry("lamp_glow", "Glow of a lamp in a fog bank.")

    assert check(wide).takes == (Tally("fog bank", 1),)
    assert check(wide).passes is False
    assert check(wide, Entry("fog_bank", "A bank of fog.")).takes == ()


def test_a_need_that_the_entry_of_this_name_covers_already_is_not_taken() -> None:
    wide = Entry("lamp_glow", "Glow of a lamp in a fog bank.")

    assert check(replace(wide, description=f"{wide.description} More."), wide).takes == ()


@pytest.mark.parametrize(
    ("status", "takes"), [("authored", ()), ("pinned", (Tally("fog bank", 1),))]
)
def test_a_settled_need_is_not_taken(status: str, takes: tuple[Tally, ...]) -> None:
    frame = ranked(NEEDS)
    status_of = pl.when(label="fog bank").then(pl.lit(status)).otherwise("status")
    decided = frame.with_columns(status_of.cast(frame.schema["status"]).alias("status"))

    checks = Checks(decided, Vocabulary(), DEFAULT_COVERED, {})

    assert (
        checks.check(Entry("lamp_glow", "Glow of a lamp in a fog bank."), decided.head(1)).takes
        == takes
    )


def test_beside_a_copy_under_another_name_it_is_told_which_entry_covers_the_mentions() -> None:
    found = check(Entry("shine", "Glow around lamps. Warm."), GLOW)

    assert (found.covers, found.already, found.missed) == (0, (Tally("lamp_glow", 4),), ())
    assert found.near == "lamp_glow"
    assert "4 of 4 are covered already by lamp_glow." in found.sentences("shine", "of it")


def test_a_wording_that_ends_with_a_stop_gets_no_second_one() -> None:
    found = Check(0, 1, (), ("lamp glow…..",), (), None, passes=False)

    assert "Not covered: lamp glow…." in found.sentences("fog", "of it")


def test_a_word_that_an_entry_writes_as_one_takes_the_need_that_has_two() -> None:
    assert check(Entry("lamp_glow_timetable", "Lamp glow; tidetable.")).takes == (
        Tally("tide table", 1),
    )


def test_an_existing_entry_that_explains_the_name_is_near_but_not_one_that_it_replaces() -> None:
    assert check(Entry("glowing_lamp", "Lamp with a glow."), GLOW).near == "lamp_glow"
    assert check(GLOW, GLOW).near is None


WORDS = [
    "lamp", "lamps", "glow", "glowing", "fog", "bank", "tide", "table", "tidetable", "the", "no", "90",
    "4k", "harbour", "harbor", "map",
]  # fmt: skip
PHRASES = st.lists(st.sampled_from(WORDS), min_size=1, max_size=5).map(" ".join)
ENTRIES = st.builds(
    Entry,
    PHRASES.map(lambda text: text.replace(" ", "_")),
    PHRASES,
    st.tuples(PHRASES),
    st.tuples(st.sampled_from(WORDS)),
)


@pytest.fixture(scope="module")
def odd_needs() -> pl.DataFrame:
    """Needs of few words, some of them in frames, or only of words that do not count."""
    drawn = np.random.default_rng(7)
    texts = [" ".join(drawn.choice(WORDS, drawn.integers(1, 6))) for _ in range(60)]
    wordings = [*texts, *(f"no tool to {text}" for text in texts[:20]), "90", "the", "no"]
    return ranked([{"missing_capability": text} for text in wordings])


@given(entry=ENTRIES, vocabulary=st.lists(ENTRIES, max_size=3, unique_by=lambda entry: entry.name))
def test_an_entry_is_compared_as_if_with_all_needs(
    odd_needs: pl.DataFrame, entry: Entry, vocabulary: list[Entry]
) -> None:
    others = [each for each in vocabulary if each.name != entry.name]
    after = covered(odd_needs, Vocabulary((*others, entry)))
    before = covered(odd_needs, Vocabulary(tuple(vocabulary)))

    found = Checks(odd_needs, Vocabulary(tuple(vocabulary)), DEFAULT_COVERED, {}).check(
        entry, odd_needs.head(1)
    )

    name = odd_needs["capability_id"][0]
    assert (found.covers, found.takes) == said(after, before, name, entry.name, only_by_it=True)


@pytest.fixture(scope="module")
def frame(demo: Path) -> pl.DataFrame:
    """The needs of the demo, compared with its vocabulary."""
    records = scan(demo).records
    capabilities = rank(records, cluster(records, embedder="none"))
    return covered(capabilities, load_vocabulary(demo / "vocabulary.json"))


@pytest.mark.parametrize("form", Form)
def test_the_next_report_says_of_the_saved_draft_what_its_check_said(
    tmp_path: Path, demo: Path, frame: pl.DataFrame, form: Form
) -> None:
    known = demo / "vocabulary.json"
    saved = tmp_path / ("SKILL.md" if form is Form.SKILL else "draft.yaml")

    for name in frame["capability_id"][:8]:
        made = draft(name, frame, vocabulary=load_vocabulary(known), form=form)
        saved.write_text(made.text())
        after = covered(frame, load_vocabulary([known, saved]))

        assert said(after, frame, name, made.entry.name) == (made.check.covers, made.check.takes)


def said(
    after: pl.DataFrame, before: pl.DataFrame, name: str, entry: str, *, only_by_it: bool = False
) -> tuple[int, tuple[Tally, ...]]:
    """What a report with the entry says: its mentions, and the needs that exist only since then."""

    def is_covered(variant: Mapping[str, Any]) -> bool:
        return bool(variant["entry"] == entry and variant["explained"] >= DEFAULT_COVERED)

    own = after.filter(capability_id=name)["variants"].item()
    new = after.filter(
        probably_covered(),
        ~before.select(probably_covered()).to_series(),
        pl.col("capability_id") != name,
    )
    taken = (
        Tally(row["label"], row["mentions"])
        for row in new.iter_rows(named=True)
        if not only_by_it or any(map(is_covered, row["variants"]))
    )
    return sum(each["mentions"] for each in own if is_covered(each)), tuple(taken)
