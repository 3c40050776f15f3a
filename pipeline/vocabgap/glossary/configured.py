"""The runtime that settings mean."""

from collections.abc import Callable
from datetime import datetime

from vocabgap.errors import expanded
from vocabgap.glossary.events import Actor
from vocabgap.glossary.runtime import GlossaryRuntime
from vocabgap.glossary.scopes import DEFAULT_SCOPES, ScopeStack
from vocabgap.glossary.session import SERVICE, clock
from vocabgap.glossary.strictness import Strictness
from vocabgap.settings.model import DEFAULT_GLOSSARY, GlossarySettings


def configured_runtime(
    settings: GlossarySettings, *, actor: Actor = SERVICE, now: Callable[[], datetime] = clock
) -> GlossaryRuntime:
    """The runtime that settings mean.

    Args:
        settings: The settings.
        actor: Who answers questions.
        now: Gives the moment of an event; the clock's by default.

    Raises:
        InvalidInputError: The scopes are none.
    """
    return GlossaryRuntime(
        folder=expanded(settings.folder or DEFAULT_GLOSSARY),
        events=None if settings.events is None else expanded(settings.events),
        scopes=ScopeStack(settings.scopes or DEFAULT_SCOPES, settings.local, settings.authored),
        strictness=Strictness(settings.strictness),
        actor=actor,
        now=now,
    )
