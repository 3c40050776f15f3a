"""A session: what the middlewares of one run share, beside the step itself."""

from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass
from datetime import UTC, datetime
from pathlib import Path
from typing import Any, Final, NamedTuple

from vocabgap.errors import VocabgapError
from vocabgap.glossary.checkpoints import StepCheckpoint
from vocabgap.glossary.context import ExecutionContext
from vocabgap.glossary.events import Actor, ActorType, GlossaryEvent, in_mission
from vocabgap.glossary.glossary import Glossary
from vocabgap.glossary.logging_events import append_events, identified
from vocabgap.glossary.questions import Ask

SERVICE: Final = Actor("system:vocabgap", ActorType.SERVICE, "vocabgap")


class ChangedInputs(NamedTuple):
    """That a step is given something else than when it was stopped.

    Attributes:
        old: The first digits of the hash of its inputs then.
        new: Those of its inputs now.
        changes: What is different, by key, as `input_diff` has it; empty where the inputs were not kept.
    """

    old: str
    new: str
    changes: Mapping[str, tuple[Any, Any]]


Confirm = Callable[[ChangedInputs], bool]


def clock() -> datetime:
    """The moment it is, in UTC."""
    return datetime.now(UTC)


@dataclass
class Session:
    """What the middlewares of one run share.

    Attributes:
        glossary: What terms mean; it follows what is recorded.
        events: The folder of the event logs; without one nothing is kept.
        actor: Who answers.
        now: Gives the moment of an event.
        checkpoint: What the step goes on from; none where it begins anew.
        ask: Asks a person; none where there is nobody to be asked.
        confirm: Asks whether a step goes on with other inputs; it does not where there is nobody.
        recorded: All events of this run, in their order.
    """

    glossary: Glossary
    events: Path | None
    actor: Actor
    now: Callable[[], datetime]
    checkpoint: StepCheckpoint | None
    ask: Ask | None
    confirm: Confirm | None
    recorded: list[GlossaryEvent]

    def record(self, context: ExecutionContext, events: Iterable[GlossaryEvent]) -> list[GlossaryEvent]:
        """Log events and let the glossary follow them.

        What cannot be logged counts in this run all the same, and is told in the notes of the step: nothing
        that was to be stopped goes on because a disk is full.
        """
        made = [in_mission(identified(event), context.mission_id) for event in events]
        if self.events is not None:
            try:
                append_events(self.events, context.mission_id, made)
            except VocabgapError as error:
                context.notes.append(f"not logged: {error.message}")
        self.recorded += made
        self.glossary = self.glossary.applied(made)
        return made
