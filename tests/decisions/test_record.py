from datetime import UTC, datetime, timedelta, timezone
from typing import Any

import msgspec
import pytest

from builders.decisions import decided
from vocabgap.decisions.record import Action, decide, subject
from vocabgap.errors import InvalidInputError

NOON = datetime(2026, 7, 1, 12, tzinfo=UTC)


@pytest.mark.parametrize("other", [{"minute": 1}, {"actor": "bo"}, {"reason": "because"}])
def test_another_decision_has_another_identifier(other: dict[str, Any]) -> None:
    pin, another = decided("pin", ["sky mask"]), decided("pin", ["sky mask"], **other)
    assert pin.decision_id != another.decision_id


def test_the_moment_is_kept_in_utc() -> None:
    kathmandu = timezone(timedelta(hours=5, minutes=45))
    made = decide(
        Action.UNDO, actor="ana", time=NOON.astimezone(kathmandu), undoes="dec-000000000000"
    )

    assert b'"time":"2026-07-01T12:00:00Z"' in msgspec.json.encode(made)


@pytest.mark.parametrize(
    ("action", "missing"),
    [("merge", "other"), ("split", "wordings"), ("rename", "label"), ("author", "entry")],
)
def test_what_an_action_needs_is_named(action: str, missing: str) -> None:
    with pytest.raises(InvalidInputError, match=f"{action} needs field '{missing}'"):
        decided(action, ["sky mask"])


@pytest.mark.parametrize("actor", [" ", "\u200b"])
def test_somebody_has_to_decide(actor: str) -> None:
    with pytest.raises(InvalidInputError, match="the actor is empty"):
        decided("pin", ["sky mask"], actor=actor)


def test_a_subject_keeps_the_first_wording_of_a_surface() -> None:
    about = subject("cap-1", "sky masks", ["sky masks", "mask the sky", "sky mask", "Mask-the-Sky"])

    assert about.wordings == ("sky masks", "mask the sky")


def test_a_subject_keeps_the_first_wordings_or_all() -> None:
    asked = [f"need{number}" for number in range(25)]

    assert subject("cap-1", "a name of its own", asked).wordings == tuple(asked[:20])
    assert subject("cap-1", "a name of its own", asked, None).wordings == tuple(asked)


def test_a_decision_says_itself_in_one_visible_line() -> None:
    made = decided(
        "split", ["sky mask"], wordings=["horizon\nmask", "sea mask"], reason="not\x1b the sky"
    )

    assert made.summary == (
        f"2026-07-01 ana split 'horizon mask' and 1 more wording off 'sky mask': not\\u001b the sky"
        f" ({made.decision_id})"
    )


@pytest.mark.parametrize("name", ["actor", "reason"])
def test_text_that_no_file_can_hold_is_refused_by_its_name(name: str) -> None:
    with pytest.raises(InvalidInputError, match=f"{name}: character 4 is half of a surrogate pair"):
        decided("pin", ["sky mask"], **{name: "caf\udce9"})  # type: ignore[arg-type]
