"""`review`: screens about the largest groups, in a terminal."""

import re
import sys
from typing import TYPE_CHECKING, Annotated, Final

from msgspec import Meta

from vocabgap.doors.verbs import (
    ACTOR,
    AS_OF,
    WHOSE,
    Answer,
    OverRoots,
    Panel,
    filtered,
    option,
    selection_of,
    verb,
)
from vocabgap.errors import InvalidInputError, StateError, expanded
from vocabgap.files.signals import end_reads
from vocabgap.model.moments import LAST, known_present, parse_present
from vocabgap.model.settings import DEFAULT_SCREENS, DEFAULT_TOP
from vocabgap.text import count, printable_name

if TYPE_CHECKING:
    from vocabgap.clustering.screens import Screen
    from vocabgap.decisions.record import Decision
    from vocabgap.doors.cli.calls import Call

_TICK: Final = re.compile(r"[0-9]+|-[a-z]")
_LETTERS: Final = "abcdef"


class ReviewRequest(OverRoots):
    """The request of `review`."""

    screens: Annotated[int, Meta(ge=0), option("Number of screens at most.", panel=Panel.SELECT)] = (
        DEFAULT_SCREENS
    )
    top: Annotated[
        int, Meta(ge=0), option("Number of the largest groups that matter; 0 for all.", panel=Panel.SELECT)
    ] = DEFAULT_TOP
    actor: Annotated[str | None, ACTOR] = None
    now: Annotated[str | None, AS_OF] = None


@verb(filtered(ReviewRequest, *WHOSE), settings=("ingest", "cluster", "--decisions"))
def review(call: "Call", request: ReviewRequest) -> Answer:
    """Tick which groups are the same need, and which wordings are another need.

    The screen that may change most comes first. Each answer is saved at once as decisions, as with
    `vocabgap decide`.
    """
    output, settings, present = call.output, call.settings, parse_present(request.now)
    roots = call.roots(request.roots)
    if output.as_json or not (sys.stdin and sys.stdin.isatty()):
        raise InvalidInputError(
            "a review needs a terminal", hint="programs can call vocabgap.review in Python"
        )
    from vocabgap.clustering.screens import Answer as Ticks
    from vocabgap.decisions.record import read_decisions
    from vocabgap.decisions.reviewing import Review, capabilities_of
    from vocabgap.doors.cli.views import rendered
    from vocabgap.pipeline import analyse

    analysis = analyse(roots, settings=settings, selection=selection_of(request), now=present)
    call.note_unread(analysis.scan)
    call.note_embeddings(analysis.embeddings)
    file = expanded(settings.decisions.file)
    place = printable_name(str(file))
    under_review = Review(
        analysis.clusters,
        read_decisions(file),
        top=request.top,
        actor=request.actor,
        now=None if request.now is None or present == LAST else known_present(present),
        capabilities=capabilities_of(analysis.lineage.groups),
    )
    shown, decisions = 0, list["Decision"]()
    for screen in under_review.screens(request.screens):
        shown += 1
        output.text(
            rendered("review-screen.txt.j2", {"number": shown, "screen": screen, "letters": _LETTERS}) + "\n"
        )
        end_reads()
        ticks = _ask_person(screen)
        if ticks is None:
            break
        try:
            made = under_review.answer(screen, Ticks(*ticks), file, output.telling_of_wait(place))
        except StateError as error:
            output.text(f"{error}\n")
            continue
        decisions += made
        output.text(f"{count(len(made), 'decision')} saved\n")
    return Answer(result={"screens": shown, "decisions": len(decisions), "file": place}, view="review.txt.j2")


def _ask_person(screen: "Screen") -> tuple[list[int], list[int]] | None:
    """Return the ticked neighbours and wordings; None to quit, also at the end of the input."""
    while True:
        try:
            typed = input("> ").strip().casefold()
        except EOFError:
            return None
        except UnicodeDecodeError:
            typed = "?"
        if typed == "q":
            return None
        ticks = typed.split()
        same = [int(tick) - 1 for tick in ticks if tick.isdecimal()]
        apart = [_LETTERS.find(tick[1:]) for tick in ticks if tick.startswith("-")]
        if (
            all(map(_TICK.fullmatch, ticks))
            and all(0 <= place < len(screen.neighbours) for place in same)
            and all(0 <= place < len(screen.parts) for place in apart)
        ):
            return same, apart
        print("type numbers and letters of this screen, for example `1 3 -b`, or `q` to quit")
