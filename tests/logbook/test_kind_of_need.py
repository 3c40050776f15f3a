"""The category of a need that names none: mostly given, mostly right, and open where nothing tells."""

import json

import pytest

from builders import outside
from vocabgap.model.categories import likely_category as category
from vocabgap.model.record import CATEGORIES, LOG_NAME, UNCATEGORIZED, fold_category

GIVEN = 0.85  # share of the needs that get a category
RIGHT = 0.9  # share of these for which it is the agent's own


@pytest.mark.parametrize(
    ("texts", "operations", "found"),
    [
        (("crop to a circle",), (), "composition"),
        (("warm the light",), ("sharpen",), "detail"),  # an operation says more than a word
        (("lift the shadows of the face",), (), "local"),  # where it is done more than what
        ((None, "", "colour grading"), (), "color"),
        (("do it again", "sharpen it"), (), "detail"),
        (("sharpen the colours",), (), UNCATEGORIZED),  # one word for each of two
        (("undo the last step",), (), UNCATEGORIZED),
        ((), (), UNCATEGORIZED),
    ],
)
def test_what_tells_most_decides(
    texts: tuple[str | None, ...], operations: tuple[str, ...], found: str
) -> None:
    assert category(texts, operations) == found


def test_a_long_text_is_judged_by_its_beginning() -> None:
    assert category(("crop to a circle. " + "sharpen the grain " * 500,), ()) == "detail"
    assert (
        category(("crop to a circle. " + "as I said " * 500 + "sharpen the grain " * 500,), ())
        == "composition"
    )


def test_the_agents_own_category_is_mostly_found(pytestconfig: pytest.Config) -> None:
    judged = []
    for log in sorted(outside(pytestconfig, "chemigram/workspace").glob(f"*/{LOG_NAME}")):
        for line in log.read_text(encoding="utf-8").splitlines():
            record = json.loads(line)
            said = fold_category(record.get("intent_category", ""))
            if said in CATEGORIES - {UNCATEGORIZED}:
                texts = (record["missing_capability"], record["description"], record["intent"])
                judged.append((said, category(texts, record["operations_involved"])))

    given = [(said, found) for said, found in judged if found != UNCATEGORIZED]

    assert len(given) >= GIVEN * len(judged) > 400
    assert sum(said == found for said, found in given) >= RIGHT * len(given)
