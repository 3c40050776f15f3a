from pathlib import Path

import polars as pl

from builders import gap, write_corpus
from builders.reporting import evidence_of, publish
from vocabgap.model.settings import AliasSettings, Settings
from vocabgap.pipeline import Run


def published(tmp_path: Path, *operations: list[str], **arguments: object) -> Run:
    """A run over an image and a session a list of operations."""
    images = {
        f"image-{number}": [gap("sky mask", operations_involved=names, session_id=f"s-{number}")]
        for number, names in enumerate(operations)
    }
    return publish(tmp_path, write_corpus(tmp_path, images), **arguments)


def combinations_of(made: Run) -> pl.DataFrame:
    return pl.read_parquet(made.published.folder / "combinations.parquet")


def test_a_pair_is_told_where_no_two_records_name_just_the_same(tmp_path: Path) -> None:
    others = [["grain", "lens"], ["grain", "spots"], ["lens"], ["spots"]] * 4
    text = evidence_of(published(tmp_path, *(["blur", "crop", name] for name in "abcde"), *others))
    assert "| blur + crop | 5 | 5 | 1.2 | 4.2 |" in text
    assert "If a session repeats the same operations, they count once." in text


def test_what_is_no_more_than_chance_is_in_the_table_alone(tmp_path: Path) -> None:
    made = published(tmp_path, *[["a", "b"], ["a"], ["b"], ["c"]] * 5)
    assert combinations_of(made)["operations"].to_list() == [["a", "b"]]
    assert "No operations are used together in clearly more records than by chance" in evidence_of(
        made
    )
    assert made.published.summary.beyond_chance == ()


def test_own_aliases_of_a_run_fold_in_its_sets(tmp_path: Path) -> None:
    settings = Settings(aliases=AliasSettings(operations={"trim": "crop"}))
    made = published(
        tmp_path, ["trim", "blur"], ["crop", "blur"], ["trim", "blur"], settings=settings
    )
    assert combinations_of(made)["operations"].to_list() == [["blur", "crop"]]


def test_records_with_very_many_operations_are_said_to_be_left_out(tmp_path: Path) -> None:
    many = [f"operation {number}" for number in range(200)]
    text = evidence_of(published(tmp_path, many, many, many))
    assert "3 records with more than 20 operations are left out." in text
