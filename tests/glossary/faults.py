"""The part of the glossary in what is attacked."""

from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Final

from builders.command import vocabgap
from faults.flips import Damaged
from faults.mutants import Reader, contents
from faults.verbs import Entrance, Verb, Writer, did
from vocabgap.glossary.events import GlossarySenseUpdated, answers_of
from vocabgap.glossary.loading import read_events
from vocabgap.glossary.seeds import read_seed

SEED: Final = "terms:\n  - surface: lift\n    definition: {}\n"
_SEEDS: Final = b"""\
# words of the dark room
terms:
  - &lift
    surface: lift
    definition: Brighten the shadows without the lights.
    confidence: 0.9
    status: active
    synonyms_to_avoid: [raise, push]
  - surface: burn
    definition: >
      Darken a part.
  - surface: dodge
    definition: "Brighten a part."
"""


def disputed() -> None:
    """Write a glossary with two meanings of a word, and an open question about it."""
    folder = Path(".vocabgap", "glossary")
    folder.mkdir(parents=True)
    for scope, definition in (
        ("team_domain", "Brighten the shadows"),
        ("audience_domain", "Remove a stain"),
    ):
        (folder / f"{scope}.yaml").write_text(SEED.format(definition), encoding="utf-8")
    result = vocabgap(
        "glossary", "check", "--text", "Please lift it.", "--critical", "--mission", "retouch"
    )
    assert result.code == 4, result.err


def state() -> object:
    logs = read_events(Path(".vocabgap", "glossary", "events"))
    assert not logs.skipped, "an event is half there"
    return [
        (each.term_surface, each.sense.definition)
        for each in answers_of(each.event for each in logs.events)
    ]


def checked() -> object:
    """Return whether the step was checked; each of its events is a line of its own."""
    return "darken" in {getattr(event, "step_id", None) for event in _events()}


def kinds() -> object:
    return [type(event).__name__ for event in _events()]


def _events() -> list[object]:
    logs = read_events(Path(".vocabgap", "glossary", "events"))
    assert not logs.skipped, "an event is half there"
    for seed in Path(".vocabgap", "glossary").glob("*.yaml"):
        read_seed(seed)
    return [each.event for each in logs.events]


def _verb(*arguments: str, state: Callable[[], object] = kinds, lock: str = "writer.lock") -> Verb:
    lock = lock and f".vocabgap/glossary/events/{lock}"
    return Verb(f"glossary {arguments[0]}", ("glossary", *arguments), disputed, state, lock)


VERBS: Final = (
    _verb("resolve", "lift", "--select", "1", state=state),
    _verb("promote", "burn", "--define", "Darken a part"),
    _verb("deprecate", "lift", "--scope", "audience_domain"),
    _verb("check", "--text", "We burn it.", "--step", "darken", "--no-ask", state=checked, lock=""),
)


def promoted(text: str) -> str:
    """Promote a term whose name is the text."""
    did("glossary", "promote", text, "--define", "Darken a part")
    return text


def terms() -> list[str]:
    """Return the surfaces of the terms that were promoted."""
    return [each.term_surface for each in _events() if isinstance(each, GlossarySenseUpdated)]


_LIST: Final = ("glossary", "list")
_RESOLVE: Final = ("glossary", "resolve", "lift", "--select", "1")
_CHECK: Final = ("glossary", "check", "--text")
ENTRANCES: Final = {
    "seeds": Entrance(".vocabgap/glossary/team_domain.yaml", "yaml", _LIST, disputed),
    "events of glossaries": Entrance(
        ".vocabgap/glossary/events/some.jsonl", "jsonl", _LIST, disputed
    ),
    "events that are added to": Entrance(
        ".vocabgap/glossary/events/some.jsonl", "jsonl", _RESOLVE, disputed
    ),
    "specifications": Entrance("spec.md", "md", ("glossary", "check", "spec.md"), disputed),
    "texts of steps": Entrance("", "md", (*_CHECK, "-", "--no-ask"), disputed),
}
WRITERS: Final = (Writer("glossary promote", disputed, promoted, terms, 3),)
READING: Final = (
    ("glossary", "list"), ("glossary", "conflicts"), ("glossary", "validate"),
    ("glossary", "check", "--text", "Please lift it.", "--critical"), ("glossary", "check", "."),
)  # fmt: skip


def readers() -> Iterator[Reader]:
    """Yield the readers of a seed and of a log of events."""
    seed = Path("team_domain.yaml")
    yield Reader("seeds", seed, (_SEEDS,), lambda: read_seed(seed))
    disputed()
    (log,) = Path(".vocabgap/glossary/events").glob("*.jsonl")
    one = Path("events/one.jsonl")
    yield Reader("events of glossaries", one, contents(str(log)), lambda: read_events(one.parent))


def digested() -> Iterator[Damaged]:
    """Yield nothing: no file of a glossary has a digest."""
    yield from ()
