"""Sets of operations that stand together, whatever else a record involves."""

from collections import Counter
from collections.abc import Iterable, Sequence
from heapq import heappop
from itertools import chain, combinations, count

import polars as pl
import pytest
from hypothesis import given
from hypothesis import strategies as st
from polars.testing import assert_frame_equal

from builders.ranking import records
from vocabgap.files.parts import Parts
from vocabgap.model.tables import COMBINATIONS
from vocabgap.ranking import combinations as mining
from vocabgap.ranking.combinations import recurring_sets

Held = tuple[str, ...]


def of_sessions(*operations: Iterable[str]) -> pl.DataFrame:
    """A record a list of operations, each of an image and a session of its own."""
    own = ({"session_id": f"s-{number}", "image_id": f"image-{number}"} for number in count())
    return records([{"operations_involved": [*names], **next(own)} for names in operations])


def counts_of(frame: pl.DataFrame) -> dict[Held, int]:
    return {tuple(names): often for names, often in frame.select("operations", "records").rows()}


def plainly(lists: Sequence[Iterable[str]]) -> tuple[dict[Held, int], Counter[Held]]:
    """The closed sets, and the records of any set, counted subset by subset."""
    held: Counter[Held] = Counter()
    for each in lists:
        names = sorted(set(each))
        held.update(
            chain.from_iterable(combinations(names, size) for size in range(1, len(names) + 1))
        )
    closed = {
        names: number
        for names, number in held.items()
        if len(names) > 1
        and number >= 3
        and not any(number == held[other] and set(names) < set(other) for other in held)
    }
    return closed, held


def test_a_pair_counts_wherever_it_stands_in_a_record() -> None:
    found = recurring_sets(of_sessions("ab", "abc", "abd", "e"))
    assert found.drop("lift_low").to_dicts() == [
        {"operations": ["a", "b"], "size": 2, "records": 3, "sessions": 3, "images": 3}
        | {"expected": 2.25, "lift": pytest.approx(4 / 3, abs=1e-6)}
    ]
    assert found.schema == COMBINATIONS.schema


@given(st.lists(st.sets(st.sampled_from("abcdef")), max_size=25))
def test_closed_sets_are_those_that_counting_every_subset_gives(lists: list[set[str]]) -> None:
    found = recurring_sets(of_sessions(*lists))
    closed, held = plainly(lists)
    assert counts_of(found) == closed
    named = sum(map(bool, lists))
    for row in found.iter_rows(named=True):
        names = row["operations"]
        by_chance = max(
            held[name,] * held[tuple(other for other in names if other != name)] / named
            for name in names
        )
        assert row["expected"] == pytest.approx(by_chance, abs=1e-6)
        assert row["lift"] == pytest.approx(row["records"] / by_chance, abs=1e-5)


def test_spellings_and_own_aliases_fold() -> None:
    lists = [["Tone Equalizer", "trim"], ["toneequal", "crop"], ["toneequalizer", " crop"]]
    aliases = dict.fromkeys(("tone equalizer", "toneequalizer"), "toneequal") | {"trim": "crop"}
    found = recurring_sets(of_sessions(*lists), operation_aliases=aliases)
    assert counts_of(found) == {("crop", "toneequal"): 3}


def test_one_session_that_says_it_over_and_over_does_not_decide() -> None:
    chatty = {"operations_involved": ["a", "b"], "session_id": "s"}
    assert recurring_sets(records([chatty] * 20)).is_empty()
    varied = [{**chatty, "operations_involved": ["a", "b", name]} for name in "cdefg"]
    assert recurring_sets(records(varied)).is_empty()
    others = [{**chatty, "session_id": name} for name in "tu"]
    (row,) = recurring_sets(records([chatty] * 20 + others)).to_dicts()
    assert (row["records"], row["sessions"]) == (3, 3)


def test_those_in_most_records_beyond_chance_come_first() -> None:
    often = [["a", "b"]] * 9 + [["a"]] * 6 + [["b"]] * 6
    rare = [["x", "y"]] * 3
    found = recurring_sets(of_sessions(*often, *rare, *[["z"]] * 30))
    assert found["operations"].to_list() == [["a", "b"], ["x", "y"]]
    assert found["lift"].to_list()[0] < found["lift"].to_list()[1]
    assert (found["lift_low"] < found["lift"]).all()


def test_order_and_parts_of_the_records_do_not_matter(monkeypatch: pytest.MonkeyPatch) -> None:
    frame = of_sessions(*["abc", "bcd", "acd", "abd", "ab"] * 4)
    frame = pl.concat([frame, frame.with_columns(session_id=pl.lit(" "))])  # no known session
    parts = Parts([*frame.iter_slices(3)])
    found = recurring_sets(frame)
    monkeypatch.setattr("vocabgap.files.parts.MOST_BYTES", 50)
    for same in (frame.reverse(), parts):
        assert_frame_equal(recurring_sets(same), found, check_exact=True)


def test_a_record_with_very_many_operations_is_left_out() -> None:
    many = [f"operation {number}" for number in range(21)]
    assert recurring_sets(of_sessions(*[many] * 5)).is_empty()
    assert counts_of(recurring_sets(of_sessions(*[many[1:]] * 5))) == {tuple(sorted(many[1:])): 5}


def test_of_too_many_sets_those_in_most_records_are_kept(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(mining, "MOST_SETS", 2)
    lists = [*["ab"] * 6, *["cd"] * 5, *["ef"] * 4, *["gh"] * 3]
    assert counts_of(recurring_sets(of_sessions(*lists))) == {("a", "b"): 6, ("c", "d"): 5}


def test_work_is_bounded(monkeypatch: pytest.MonkeyPatch) -> None:
    steps = count()
    monkeypatch.setattr(mining, "heappop", lambda queue: (next(steps), heappop(queue))[1])
    monkeypatch.setattr(mining, "_MOST_WORK", 50 * mining._STEP)
    names = [f"operation {number}" for number in range(20)]
    lists = [[*names[:place], *names[place + 1 :]] for place in range(20)]
    found = recurring_sets(of_sessions(*lists * 2))
    assert next(steps) <= 51
    assert all(often > 3 for often in counts_of(found).values())
