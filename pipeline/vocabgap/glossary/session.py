"""A session: what the middlewares of one run share, beside the step itself."""

from collections.abc import Callable, Iterable, Iterator, Mapping
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass, field
from datetime import UTC, datetime
from pathlib import Path
from typing import Any, Final, NamedTuple

from vocabgap.errors import VocabgapError
from vocabgap.glossary.checkpoints import StepCheckpoint
from vocabgap.glossary.context import Ask, ExecutionContext
from vocabgap.glossary.event_log import CHANGING
from vocabgap.glossary.events import Actor, ActorType, GlossaryEvent, in_mission
from vocabgap.glossary.glossary import Glossary
from vocabgap.glossary.loading import append_changes, append_events, changing, identified

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
        reload: Gives the glossary as it is in its files by now; none where nobody else changes it.
        actor: Who answers.
        now: Gives the moment of an event.
        checkpoint: What the step goes on from; none where it begins anew.
        ask: Asks a person; none where there is nobody to be asked.
        confirm: Asks whether a step goes on with other inputs; it does not where there is nobody.
        recorded: All events of this run, in their order.
        unlogged: Those among them that no log holds.
    """

    glossary: Glossary
    events: Path | None = None
    reload: Callable[[], Glossary] | None = None
    actor: Actor = SERVICE
    now: Callable[[], datetime] = clock
    checkpoint: StepCheckpoint | None = None
    ask: Ask | None = None
    confirm: Confirm | None = None
    recorded: list[GlossaryEvent] = field(default_factory=list)
    unlogged: list[GlossaryEvent] = field(default_factory=list)

    def record(self, context: ExecutionContext, events: Iterable[GlossaryEvent]) -> list[GlossaryEvent]:
        """Log events and let the glossary follow them.

        What cannot be logged counts in this run all the same, and is told in the notes of the step: nothing
        that was to be stopped goes on because a disk is full.
        """
        made = [in_mission(identified(event), context.mission_id) for event in events]
        append = append_changes if any(isinstance(each, CHANGING) for each in made) else append_events
        if self.events is not None:
            try:
                made = append(self.events, context.mission_id, made)
            except VocabgapError as error:
                context.notes.append(f"not logged: {error.message}")
                self.unlogged += made
        self.recorded += made
        self.glossary = self.glossary.applied(made)
        return made

    @contextmanager
    def alone(self, context: ExecutionContext) -> Iterator[None]:
        """Have the glossary as it is by now, and nobody else change it, while an answer becomes part of it.

        A person may have thought about it for an hour. Where that cannot be had, the answer counts beside
        what others have said meanwhile, and the notes of the step tell so.
        """
        with ExitStack() as held:
            if self.events is not None and self.reload is not None:
                try:
                    held.enter_context(changing(self.events))
                    self.glossary = self.reload().applied(self.unlogged)
                except VocabgapError as error:
                    context.notes.append(f"what others have said meanwhile was not read: {error.message}")
            yield
