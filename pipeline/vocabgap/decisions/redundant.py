"""What need not be decided, since it is so already, and what would leave two capabilities with one name."""

from collections.abc import Mapping, Sequence
from typing import Final

from vocabgap.decisions.record import Action, Decision
from vocabgap.errors import InvalidInputError
from vocabgap.text import shortened, surface, visible

_OF_STATUS: Final = (Action.DISMISS, Action.AUTHOR, Action.REOPEN)


def require_change(
    made: Decision, active: Sequence[Decision], *, label: str, is_settled: bool, is_regressed: bool
) -> None:
    """Refuse a decision that would change nothing.

    Args:
        made: The decision that somebody makes.
        active: The decisions in force, in order; those about the same capability count.
        label: What the run calls the capability.
        is_settled: Whether it is dismissed, authored or regressed in the run.
        is_regressed: Whether it is regressed, so that to author it again says something.

    Raises:
        InvalidInputError: What is decided is so already.
    """
    about = [each for each in active if _about(each) == _about(made)]
    last = next((each for each in reversed(about) if each.action in _OF_STATUS), None)
    named = next((each.label for each in reversed(about) if each.label), label)
    problem = ""
    if made.action is Action.REOPEN and (last.action is Action.REOPEN if last else not is_settled):
        problem = "is open: there is nothing to reopen"
    elif made.action is Action.PIN and any(each.action is Action.PIN for each in about):
        problem = "is pinned already"
    elif made.action is Action.RENAME and made.label == named:
        problem = "is called that already"
    elif last is not None and last.action is made.action:
        if made.action is Action.DISMISS and last.reason == made.reason:
            problem = "was dismissed before, for the same reason"
        elif made.action is Action.AUTHOR and last.entry == made.entry and not is_regressed:
            problem = f"was authored before, as '{shortened(visible(last.entry or ''))}'"
    if problem:
        raise InvalidInputError(
            f"'{shortened(visible(named))}' {problem}",
            hint="`vocabgap decisions list` has what was decided; nothing was added to it",
        )


def require_own_label(made: Decision, active: Sequence[Decision], labels: Mapping[str, str]) -> None:
    """Refuse a label that another capability has: whoever says it afterwards might mean either.

    Args:
        made: The decision that somebody makes.
        active: The decisions in force, in order.
        labels: Capability to what the run calls it.

    Raises:
        InvalidInputError: Another capability is called that, and is not merged into anything.
    """
    if made.label is None:
        return
    called = dict(labels)
    for each in active:
        if each.label is not None:
            called[_about(each)] = each.label
    merged = {each.other.capability_id for each in active if each.other is not None}
    wanted = surface(made.label)
    for capability_id, label in called.items():
        if capability_id not in merged and capability_id != _about(made) and surface(label) == wanted:
            raise InvalidInputError(
                f"another capability is called '{shortened(visible(label))}': {capability_id}",
                hint="choose another label, or say with `vocabgap decide merge` that the two are one",
            )


def _about(decision: Decision) -> str:
    return "" if decision.capability is None else decision.capability.capability_id
