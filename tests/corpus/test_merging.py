from typing import Any

import pytest

from conforming.memory_store import MemoryVersion
from vocabgap.corpus.backups import Merged, classify, refuse_divergence
from vocabgap.corpus.chunks import frame_of, row_of
from vocabgap.corpus.contracts import Code, RefusedError

PIECE: dict[str, Any] = {"tenantId": "ada", "repoSlug": "lab", "source": "a", "name": "n", "type": "t"}


def live(*metadata: dict[str, Any]) -> MemoryVersion:
    rows = [row_of(f"live-{number}", each, "") for number, each in enumerate(metadata)]
    return MemoryVersion(frame_of(rows))


def outcomes(version: MemoryVersion, *incoming: tuple[str, dict[str, Any]]) -> list[Merged]:
    return [record.outcome for record in classify(version, incoming)]


def test_a_record_is_there_already_or_clashes_or_is_new() -> None:
    version = live(PIECE)
    found = outcomes(version, ("live-0", PIECE), ("other", PIECE), ("new", {**PIECE, "name": "m"}))
    assert found == [Merged.PRESENT, Merged.DIVERGENT, Merged.INSERTED]


@pytest.mark.parametrize("field", ["tenantId", "repoSlug", "source", "name", "type"])
def test_absent_null_and_text_name_different_chunks(field: str) -> None:
    absent = {key: value for key, value in PIECE.items() if key != field}
    forms = [
        absent,
        {**PIECE, field: None},
        {**PIECE, field: "null"},
        {**PIECE, field: 5},
        {**PIECE, field: "5"},
    ]
    for each in forms:
        others = [form for form in forms if form is not each]
        assert outcomes(live(*others), ("new", each)) == [Merged.INSERTED]
        assert outcomes(live(*forms), ("new", each)) == [Merged.DIVERGENT]


def test_a_divergence_is_refused_with_how_many_and_a_few_of_them() -> None:
    version = live(*({**PIECE, "name": f"n{number}"} for number in range(7)))
    records = [(f"new-{number}", {**PIECE, "name": f"n{number}"}) for number in range(7)]
    with pytest.raises(RefusedError, match="7 of the records") as refused:
        refuse_divergence(classify(version, records))
    assert refused.value.code == Code.DIVERGENCE
    assert refused.value.message.count(" there)") == 5
    assert "Nothing was written" in refused.value.message
    assert refused.value.details["divergent"] == 7


def test_what_is_new_or_there_already_is_not_refused() -> None:
    refuse_divergence(classify(live(PIECE), [("live-0", PIECE)]))
    assert classify(live(PIECE), []) == []
