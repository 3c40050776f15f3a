"""The rules that tell what is no gap: the built-in ones, and somebody's own beside them."""

import pytest

from vocabgap.errors import InvalidInputError
from vocabgap.model.sources import rules_in_force


def names(**own: list[str]) -> list[str]:
    return [rule.name for rule in rules_in_force(own)]


def test_an_empty_list_switches_a_rule_off_and_an_own_rule_comes_last() -> None:
    assert names(duplicate_ticket=["see the other ticket"])[-1] == "duplicate_ticket"
    assert names(outage=[]) == ["transient", "permission", "architecture"]


def test_phrases_under_the_name_of_a_built_in_rule_come_beside_its_own() -> None:
    outage = {rule.name: rule.phrases for rule in rules_in_force({"outage": ["tile-server asleep"]})}[
        "outage"
    ]
    assert "service is down" in outage
    assert outage[-1] == "tile server asleep"


def test_a_phrase_may_be_asked_only_where_something_failed() -> None:
    rule = rules_in_force({"mine": ["if failed: Out-of-paper", "no ink"]})[-1]
    assert (rule.phrases, rule.if_failed) == (("no ink",), ("out of paper",))
    assert rules_in_force({"mine": rule.expressions})[-1] == rule


@pytest.mark.parametrize(
    ("told", "problem"),
    [
        (["..."], r"\[not_a_gap\] mine: '...' has no word"),
        (["if failed: !"], r"\[not_a_gap\] mine: 'if failed: !' has no word"),
        (["re:("], r"'re:\(' is not a regular expression: unclosed group"),
        (["re:(?<=x)y"], "is not a regular expression: look-around, .* is not supported"),
        (["re:a{1000}{1000}"], "is not a regular expression: Compiled regex exceeds size limit"),
        (["re:x*"], "matches every record"),
    ],
)
def test_what_tells_nothing_is_refused(told: list[str], problem: str) -> None:
    with pytest.raises(InvalidInputError, match=problem):
        rules_in_force({"mine": told})
