"""All that is attacked, of the core and of each slice: verbs, and what reads files."""

from collections.abc import Iterator
from itertools import chain
from typing import Final

from faults import verbs
from faults.flips import Damaged, core_files
from faults.mutants import Reader, core_readers
from faults.verbs import Entrance, Verb, Writer
from slices import parts

_PARTS: Final = parts("faults")
VERBS: Final[tuple[Verb, ...]] = (*verbs.CORE, *chain.from_iterable(part.VERBS for part in _PARTS))
WRITERS: Final[tuple[Writer, ...]] = (
    *verbs.WRITERS,
    *chain.from_iterable(part.WRITERS for part in _PARTS),
)
ENTRANCES: Final[dict[str, Entrance]] = {
    **verbs.ENTRANCES,
    **{name: each for part in _PARTS for name, each in part.ENTRANCES.items()},
}


def readers() -> Iterator[Reader]:
    """Yield the readers of single files, each in its own folder."""
    yield from core_readers()
    for part in _PARTS:
        yield from part.readers()


def digested() -> list[Damaged]:
    """Write what keeps digests of its files, in the current folder."""
    return [*core_files(), *chain.from_iterable(part.digested() for part in _PARTS)]
