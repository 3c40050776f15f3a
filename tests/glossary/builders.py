"""Builders of senses and events, shared by the tests of the glossary."""

from datetime import UTC, datetime, timedelta

from vocabgap.glossary.events import Actor, GlossarySenseUpdated, NewSense, UpdateType
from vocabgap.glossary.senses import Provenance, SenseStatus, TermSense, TermSurface

NOW = datetime(2026, 4, 1, 10, tzinfo=UTC)


def sense(
    term: str,
    definition: str,
    scope: str = "team_domain",
    *,
    confidence: float = 1.0,
    status: str = "active",
) -> TermSense:
    """Makes a sense: the term, what it means, and whatever else a test is about."""
    provenance = Provenance("user:ann", NOW, "seed_file")
    surface = TermSurface(term)
    return TermSense(surface, scope, definition, provenance, confidence, SenseStatus(status))


def update(
    term: str,
    definition: str,
    scope: str = "team_domain",
    *,
    status: str = "active",
    update_type: str = "create",
    source: str = "authored",
    minute: int = 0,
) -> GlossarySenseUpdated:
    """Makes an event that adds or changes a sense."""
    when = NOW + timedelta(minutes=minute)
    return GlossarySenseUpdated(
        term_surface=term,
        scope=scope,
        sense=NewSense(term, scope, definition, 1.0, SenseStatus(status)),
        actor=Actor("user:ann"),
        update_type=UpdateType(update_type),
        provenance=Provenance("user:ann", when, source),
        timestamp=when,
    )
