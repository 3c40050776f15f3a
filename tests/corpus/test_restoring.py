from collections.abc import Iterator
from typing import Any

import pytest

from vocabgap.corpus.backup_files import Batch, Mode, batches, record_faults, restore_into
from vocabgap.corpus.contracts import Code, RefusedError


class Taken:
    """Notes what is done to it, in order."""

    def __init__(self) -> None:
        self.done: list[str | Batch] = []

    def truncate(self) -> None:
        self.done.append("truncate")

    def upsert(self, batch: Batch) -> None:
        self.done.append(batch)


def record(number: int, **fields: object) -> dict[str, Any]:
    return {"id": f"r{number}", "embedding": [0.5], "metadata": {}, "document": "text", **fields}


def test_records_come_in_batches_of_500_in_order() -> None:
    made = list(batches(record(number) for number in range(1001)))
    assert [len(batch.ids) for batch in made] == [500, 500, 1]
    assert [name for batch in made for name in batch.ids] == [f"r{number}" for number in range(1001)]


def test_a_batch_tells_null_from_empty_text() -> None:
    (mixed,) = batches([record(0, document=None), record(1, document=""), record(2)])
    assert (mixed.documents, mixed.texts) == (("", "", "text"), (None, "", "text"))
    (none,) = batches([record(0, document=None)])
    assert (none.documents, none.texts) == (None, (None,))


def test_a_record_without_text_can_be_restored_and_one_without_the_field_cannot() -> None:
    assert record_faults(record(0, document=None)) == ()
    del (bad := record(0))["document"]
    assert [fault.key for fault in record_faults(bad)] == ["document"]


@pytest.mark.parametrize("mode", list(Mode))
@pytest.mark.parametrize("bad", [None, [], record(1, embedding=[]), record(1, extra=1), record(1, id="")])
def test_one_bad_record_keeps_all_from_being_written(mode: Mode, bad: object) -> None:
    target = Taken()
    with pytest.raises(RefusedError, match=r"record 2: .*nothing was written") as refused:
        restore_into(target, lambda: [record(0), bad], mode)
    assert (refused.value.code, target.done) == (Code.IMPORT_FAILED, [])


def test_replacing_empties_first_and_reads_the_records_anew() -> None:
    def read() -> Iterator[dict[str, Any]]:
        yield from (record(number) for number in range(3))

    target = Taken()
    assert restore_into(target, read, Mode.REPLACE) == 3
    assert target.done[0] == "truncate"
    assert len(target.done) == 2


def test_a_vector_is_handed_on_as_it_is() -> None:
    vector = [0.1, -3, 1e-300, 5]
    (batch,) = batches([record(0, embedding=vector)])
    assert batch.embeddings == (vector,)
