import polars as pl
import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from vocabgap.errors import InvalidInputError
from vocabgap.model.record import PHRASE_FIELDS
from vocabgap.model.tables import (
    CAPABILITIES,
    CLUSTERS,
    FILES,
    GAPS,
    GROUPS,
    HISTORY,
    IDENTITIES,
    LINEAGE,
    LINKAGE,
    LISTED,
    RECORDS,
    REJECTS,
    VERDICTS,
    WORDINGS,
    Table,
    phrase,
)

TABLES = [
    RECORDS, GAPS, REJECTS, FILES, WORDINGS, CLUSTERS, LINKAGE, CAPABILITIES, VERDICTS, IDENTITIES, GROUPS,
    LINEAGE, LISTED, HISTORY,
]  # fmt: skip
every_table = pytest.mark.parametrize("table", TABLES, ids=lambda table: table.name)


def phrase_of(**fields: str | None) -> str | None:
    frame = pl.DataFrame([fields], schema=dict.fromkeys(PHRASE_FIELDS, pl.String))
    found: str | None = frame.select(phrase()).item()
    return found


@every_table
def test_an_empty_frame_passes_its_own_table(table: Table) -> None:
    empty = table.empty()

    table.require(empty.with_columns(pl.lit(1).alias("mine")))

    assert empty.height == 0
    assert empty.columns == table.names
    assert len(set(table.names)) == len(table.columns)
    assert all(column.meaning.strip() for column in table.columns)


@pytest.mark.parametrize(
    ("frame", "message"),
    [
        (RECORDS.empty().drop("notes"), "column 'notes' is missing, expected String"),
        (RECORDS.empty().cast({"line": pl.String}), "'line' has dtype String, expected Int64"),
    ],
)
def test_require_names_the_frame_the_column_and_what_is_expected(
    frame: pl.DataFrame, message: str
) -> None:
    with pytest.raises(InvalidInputError, match=f"frame 'records': .*{message}"):
        RECORDS.require(frame)
    RECORDS.require(frame, ["workaround"])


@pytest.mark.parametrize(
    ("missing_capability", "description", "expected"),
    [
        ("reed mask", "soften the reeds", "reed mask"),
        (None, "soften the reeds", "soften the reeds"),
        (" \t", "  calm\n", "calm"),
        ("", "\u00a0\u2003", None),
        (None, None, None),
    ],
)
def test_phrase_is_the_first_text_that_is_not_blank(
    missing_capability: str | None, description: str | None, expected: str | None
) -> None:
    found = phrase_of(missing_capability=missing_capability, description=description)

    assert found == expected


@given(st.text())
@example("\x1c\x1d\x1e\x1f")
@example("\x85\u2028\u3000")
def test_phrase_trims_what_python_takes_as_white_space(text: str) -> None:
    found = phrase_of(missing_capability=text, description="calm")

    assert found == (text.strip() or "calm")
