"""Decisions about groups, which are named by their wordings."""

import random
from collections.abc import Sequence
from datetime import UTC, datetime, timedelta
from typing import Any

from vocabgap.decisions.record import Action, Decision, decide, subject

START = datetime(2026, 7, 1, 9, tzinfo=UTC)
ACTIONS = ("merge", "merge", "split", "split", "rename", "pin", "dismiss", "author", "undo")


def decided(
    action: Action | str,
    about: Sequence[str] = (),
    *,
    minute: int = 0,
    other: Sequence[str] = (),
    **said: Any,  # noqa: ANN401 - passed on to decide
) -> Decision:
    """Makes a decision about capabilities that are named by their wordings, so many minutes after nine."""
    return decide(
        Action(action),
        subject("cap-1", about[0], about) if about else None,
        actor=said.pop("actor", "ana"),
        time=START + timedelta(minutes=minute),
        other=subject("cap-2", other[0], other) if other else None,
        **said,
    )


def any_decision(rng: random.Random, groups: list[list[str]], made: list[Decision]) -> Decision:
    """A decision about some of the groups, each given by its wordings."""
    action, (one, other) = rng.choice(ACTIONS), rng.sample(groups, 2)
    rng.shuffle(one)
    minute = len(made)
    if action == "undo" and made:
        return decided("undo", minute=minute, undoes=rng.choice(made).decision_id)
    if action == "merge":
        return decided("merge", one, other=other, minute=minute)
    if action == "split" and len(one) > 1:
        leaving = one[-rng.randint(1, len(one) - 1) :]
        return decided("split", one[: -len(leaving)], wordings=leaving, minute=minute)
    details = {"rename": {"label": f"need {minute}"}, "author": {"entry": "an_entry"}}
    return decided(
        "pin" if action in {"split", "undo"} else action, one, minute=minute, **details.get(action, {})
    )
