"""The rules that tell what is no gap: the built-in ones, and somebody's own beside them."""

import pytest

from vocabgap.errors import InvalidInputError
from vocabgap.model.sources import rules_in_force


def names(**own: list[str]) -> list[str]:
    return [rule.name for rule in rules_in_force(own)]


def texts(name: str, **own: list[str]) -> set[str]:
    """The phrases of one rule, each behind `if failed:` where it is asked only there."""
    rule = next(rule for rule in rules_in_force(own) if rule.name == name)
    return {
        each.text + "?" * each.if_failed for phrases in rule.phrases.values() for each in phrases
    }


def test_an_empty_list_switches_a_rule_off_and_an_own_rule_comes_last() -> None:
    assert names(duplicate_ticket=["see the other ticket"])[-1] == "duplicate_ticket"
    assert names(outage=[], refusal=[]) == [
        "placeholder", "transient", "architecture", "credentials", "not_enabled", "permission",
    ]  # fmt: skip


def test_phrases_under_the_name_of_a_built_in_rule_come_beside_its_own() -> None:
    assert texts("outage", outage=["tile-server asleep"]) - texts("outage") == {
        "tile-server asleep"
    }


def test_only_what_is_not_granted_is_a_finding_of_its_own() -> None:
    own = {"ticket": ["other ticket"], "permission": ["ask Ada first"]}
    kinds = {rule.name: rule.why_not for rule in rules_in_force(own)}
    found = [kinds[name] for name in ("ticket", "refusal", "permission")]
    assert found == ["not_a_gap", "not_a_gap", "not_granted"]


def test_a_phrase_may_be_asked_only_where_something_failed() -> None:
    own = ["if failed: Out-of-paper", "no (blue|) ink"]
    assert texts("mine", mine=own) == {"Out-of-paper?", "no (blue|) ink"}


@pytest.mark.parametrize(
    ("phrase", "clause", "fits"),
    [
        ("no (blue|dark red|) ink", " no dark red ink ", True),
        ("no (blue|dark red|) ink", " no ink left ", True),
        ("no (blue|dark red|) ink", " no red ink ", False),
        ("ink * refused", " ink was at once refused ", True),
        ("ink * refused", " ink one two three four five six refused ", False),
        ("ink (|) 3*4", " ink 3 or 4 ", True),
    ],
)
def test_a_phrase_has_alternatives_and_a_star(phrase: str, clause: str, fits: bool) -> None:
    (phrases,) = rules_in_force({"mine": [phrase]})[-1].phrases.values()
    assert (phrases[0].pattern.search(clause) is not None) == fits


@pytest.mark.parametrize(
    ("message", "problem"),
    [
        (["..."], r"\[not_a_gap\] mine: '...' has no word"),
        (["if failed: !"], r"\[not_a_gap\] mine: 'if failed: !' has no word"),
        (["* (|a) *"], r"'\* \(\|a\) \*' has no word"),
        (["a * b * c * d"], "has more than 2 stars"),
        (["re:("], r"'re:\(' is not a regular expression: unclosed group"),
        (["re:(?<=x)y"], "is not a regular expression: look-around, .* is not supported"),
        (["re:a{1000}{1000}"], "is not a regular expression: Compiled regex exceeds size limit"),
        (["re:x*"], "matches every record"),
    ],
)
def test_what_tells_nothing_is_refused(message: list[str], problem: str) -> None:
    with pytest.raises(InvalidInputError, match=problem):
        rules_in_force({"mine": message})
