"""What comes near to a need: capabilities by their wordings, entries by what they explain of it."""

from pathlib import Path

import polars as pl
import pytest

import vocabgap as vg
from builders import gap, write_corpus
from vocabgap.listing.similar import SimilarIndex
from vocabgap.model.settings import ClusterSettings, Settings


@pytest.fixture
def known(tmp_path: Path) -> pl.DataFrame:
    """Capabilities of a run."""
    needs = ["sky mask", "mask the sky", "film grain", "grain of a film", "lens flare brush"]
    scanned = vg.scan(write_corpus(tmp_path, {"heron": [gap(need) for need in needs]}))
    return vg.rank(scanned.records, vg.cluster(scanned.records))


def test_a_capability_is_told_by_its_label_with_the_wording_that_is_nearest(known: pl.DataFrame) -> None:
    (found,) = vg.similar_gaps("masking the sky", capabilities=known)
    row = known.filter(capability_id=found.name).row(0, named=True)
    assert (found.kind, found.similarity, found.mentions) == ("capability", 1.0, row["mentions"])
    assert found.label == row["label"]
    assert found.wording in {"sky mask", "mask the sky"}
    assert found.status == row["status"]


def test_the_wording_is_not_taken_for_the_label(known: pl.DataFrame) -> None:
    renamed = known.with_columns(pl.lit("what somebody called it").alias("label"))
    (found,) = vg.similar_gaps("film grain", capabilities=renamed)
    assert (found.label, found.wording) == ("what somebody called it", "film grain")


def test_what_has_nothing_in_common_is_not_told(known: pl.DataFrame) -> None:
    assert vg.similar_gaps("export a slideshow", capabilities=known) == []


def test_entries_are_told_beside_capabilities(known: pl.DataFrame, tmp_path: Path) -> None:
    listed = tmp_path / "entries.json"
    listed.write_text('{"entries": [{"name": "grain_fine", "description": "Fine film grain"}]}', "utf-8")
    vocabulary = vg.load_vocabulary([listed])
    found = vg.similar_gaps("fine film grain", capabilities=known, vocabulary=vocabulary)
    assert {each.kind: each.wording is None for each in found} == {"capability": False, "entry": True}
    assert [each.similarity for each in found] == sorted((each.similarity for each in found), reverse=True)
    assert vg.similar_gaps("fine film grain", capabilities=known, vocabulary=vocabulary, limit=1) == found[:1]


def test_nothing_is_near_where_nothing_is_known(known: pl.DataFrame) -> None:
    assert vg.similar_gaps("film grain") == []
    assert vg.similar_gaps("film grain", capabilities=known.clear()) == []
    assert vg.similar_gaps("of the", capabilities=known) == []


def test_needs_are_compared_as_the_settings_have_it(known: pl.DataFrame, tmp_path: Path) -> None:
    cluster = ClusterSettings(synonyms={"lens flare": ("sun spot",)}, stop_words=("brush", "tool"))
    settings = Settings(cluster=cluster)
    (found,) = vg.similar_gaps("sun spot tool", capabilities=known, settings=settings)
    assert (found.label, found.similarity) == ("lens flare brush", 1.0)
    assert vg.similar_gaps("sun spot tool", capabilities=known) == []
    listed = tmp_path / "entries.json"
    listed.write_text('{"entries": [{"name": "flare", "description": "Lens flare"}]}', "utf-8")
    entries = vg.load_vocabulary([listed])
    assert vg.similar_gaps("lens flare tool", vocabulary=entries) == []
    (found,) = vg.similar_gaps("lens flare tool", vocabulary=entries, settings=settings)
    assert found.name == "flare"


def test_several_needs_are_compared_with_what_is_known_as_each_alone(known: pl.DataFrame) -> None:
    index = SimilarIndex(known, None, Settings())
    for need in ("masking the sky", "fine film grain", "export a slideshow", "of the", "lens flare"):
        assert index.nearest(need) == vg.similar_gaps(need, capabilities=known)


def test_settings_of_another_kind_are_refused() -> None:
    with pytest.raises(vg.VocabgapError, match="settings: expected a Settings"):
        vg.similar_gaps("film grain", settings={})  # type: ignore[arg-type]


@pytest.mark.parametrize("text", ["", " "])
def test_a_blank_need_is_refused(text: str) -> None:
    with pytest.raises(vg.VocabgapError, match="text: expected text that is not blank"):
        vg.similar_gaps(text)


def test_a_need_that_is_cut_within_a_character_is_refused() -> None:
    with pytest.raises(vg.VocabgapError, match="text: character 5 is half of a surrogate pair"):
        vg.similar_gaps("sky \ud800")
