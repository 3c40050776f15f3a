from typing import Any

import polars as pl
import pytest

from builders.ranking import ranked, records
from vocabgap.clustering.grouping import cluster
from vocabgap.model.settings import DEFAULT_COVERED
from vocabgap.model.tables import CAPABILITIES
from vocabgap.ranking.capabilities import rank
from vocabgap.ranking.coverage import EntryIndex, covered, probably_covered
from vocabgap.ranking.vocabulary import Entry, Vocabulary

VOCABULARY = Vocabulary(
    (
        Entry("fog_density", "Density of fog over water.", ("fog", "weather"), ("haze",), "quay"),
        Entry("lamp_glow", "Glow around lamps.", ("lamp", "light"), ("bloom",), "quay"),
        Entry("star_trails", "Trails of stars.", ("night",), ("stack",), "sky"),
    )
)


def first(frame: pl.DataFrame) -> dict[str, Any]:
    found: dict[str, Any] = frame["covered_by"][0][0]
    return found


def test_without_a_vocabulary_nothing_covers_anything() -> None:
    frame = ranked([{}])

    assert frame["covered_by"].to_list() == [[]]
    assert covered(frame, Vocabulary())["covered_by"].to_list() == [[]]
    assert frame.select(probably_covered()).item() is False


def test_the_entry_that_covers_a_need_is_named_with_pack_score_and_terms() -> None:
    found = covered(ranked([{"missing_capability": "glow of lamps"}]), VOCABULARY)

    best = first(found)
    assert (best["entry"], best["pack"], best["terms"]) == ("lamp_glow", "quay", ["lamps", "glow"])
    assert best["score"] == best["explained"] >= DEFAULT_COVERED
    assert found.select(probably_covered()).item() is True


def test_only_what_the_entries_say_is_filled() -> None:
    frame = ranked([{}, {"missing_capability": "star trails"}])

    found = covered(frame, VOCABULARY)

    assert found.schema == CAPABILITIES.schema
    filled = ("covered_by", "variants")
    assert found.drop(filled).equals(frame.drop(filled))
    explained = [
        (each["wording"], each["entry"]) for variants in found["variants"] for each in variants
    ]
    assert ("star trails", "star_trails") in explained


def test_operations_bring_an_entry_forward_but_do_not_make_it_cover_the_need() -> None:
    rows = [{"missing_capability": "curtains of aurora", "operations_involved": ["Stack"]}]

    found = covered(ranked(rows), VOCABULARY)

    best = first(found)
    assert (best["entry"], best["explained"], best["terms"]) == ("star_trails", 0.0, ["stack"])
    assert best["score"] > 0.0
    assert found.select(probably_covered(0.01)).item() is False


def test_operations_of_entries_are_folded_as_those_of_records_are() -> None:
    vocabulary = Vocabulary(
        (Entry("glow", operations=("Tone Equalizer",)), Entry("fog", operations=("x",)))
    )
    rows = [{"missing_capability": "curtains", "operations_involved": ["toneequal"]}]

    assert first(covered(ranked(rows), vocabulary))["entry"] == "glow"


def test_an_entry_that_explains_a_few_wordings_does_not_cover_the_whole() -> None:
    few, most = (
        rank(frame, cluster(frame, threshold=1.0, embedder="none"))
        for frame in (
            records([{"missing_capability": f"glow of {what}"} for what in whats])
            for whats in (("lamps", "curtains", "curtains"), ("lamps", "lamps", "curtains"))
        )
    )

    assert few.height == most.height == 1
    for frame, mixed, is_covered in ((few, False, False), (most, False, True), (most, True, False)):
        marked = covered(frame, VOCABULARY).with_columns(mixed=pl.lit(mixed))
        assert marked.select(probably_covered()).item() is is_covered


def test_the_frame_of_a_wording_is_no_part_of_the_need() -> None:
    rows = [{"missing_capability": "there is no way to have a glow of lamps"}]
    found = covered(ranked(rows), VOCABULARY)

    assert found.select(probably_covered()).item() is True


def test_an_unknown_word_weighs_twice_the_rarest_and_a_misspelt_one_counts_in_part() -> None:
    index = EntryIndex(VOCABULARY.entries)
    known, unknown = (index.covering(need)[0] for need in ("lamp glow", "lamp glow xyzzy"))

    rarest, unused = index.rarity(1), 2 * index.rarity(0)
    share = 2 * rarest / (2 * rarest + unused)
    assert unknown.explained == pytest.approx(known.explained * share)
    assert index.alike("glow") == {"glow": 1.0}
    assert 0.3 <= index.alike("weathr")["weather"] < 0.6


def test_an_entry_named_like_an_operation_gains_three_times_what_others_gain() -> None:
    entries = [Entry("bloom", "Bloom.", (), ("bloom",)), Entry("glow", "Glow.", (), ("bloom",))]
    entries.append(Entry("star_trails", "Trails.", (), ("stack",)))

    namesake, other = EntryIndex(entries).covering("xyzzy", {"bloom": 1.0})

    assert (namesake.entry.name, other.entry.name) == ("bloom", "glow")
    assert namesake.score == pytest.approx(3 * other.score)
