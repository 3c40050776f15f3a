"""None A workspace of which reports are made, and about which people decide."""

from collections.abc import Sequence
from datetime import UTC, datetime, timedelta
from typing import Any

from vocabgap.decisions.record import Action, Decision, decide, subject

START = datetime(2026, 7, 1, 9, tzinfo=UTC)


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
