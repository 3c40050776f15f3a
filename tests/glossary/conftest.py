"""Builders of senses and events, shared by the tests of the glossary."""

from collections.abc import Callable
from datetime import UTC, datetime, timedelta

import pytest

from vocabgap.glossary.events import Actor, GlossarySenseUpdated, NewSense, UpdateType
from vocabgap.glossary.senses import Provenance, SenseStatus, TermSense, TermSurface

NOW = datetime(2026, 4, 1, 10, tzinfo=UTC)


@pytest.fixture
def sense() -> Callable[..., TermSense]:
    """Makes a sense: the term, what it means, and whatever else a test is about."""

    def make(
        term: str,
        definition: str,
        scope: str = "team_domain",
        *,
        confidence: float = 1.0,
        status: str = "active",
    ) -> TermSense:
        provenance = Provenance("user:ann", NOW, "seed_file")
        surface = TermSurface(term)
        return TermSense(surface, scope, definition, provenance, confidence, SenseStatus(status))

    return make


@pytest.fixture
def update() -> Callable[..., GlossarySenseUpdated]:
    """Makes an event that adds or changes a sense."""

    def make(
        term: str,
        definition: str,
        scope: str = "team_domain",
        *,
        status: str = "active",
        update_type: str = "create",
        source: str = "authored",
        minute: int = 0,
    ) -> GlossarySenseUpdated:
        when = NOW + timedelta(minutes=minute)
        return GlossarySenseUpdated(
            term_surface=term,
            scope=scope,
            new_sense=NewSense(term, scope, definition, 1.0, SenseStatus(status)),
            actor=Actor("user:ann"),
            update_type=UpdateType(update_type),
            provenance=Provenance("user:ann", when, source),
            timestamp=when,
        )

    return make
