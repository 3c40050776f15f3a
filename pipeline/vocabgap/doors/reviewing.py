"""`review`: screens about the largest groups, in a terminal."""

import re
import sys
from typing import TYPE_CHECKING, Annotated, Any, Final

from msgspec import Meta

from vocabgap.doors.verbs import (
    ACTOR,
    AS_OF,
    WHOSE,
    Answer,
    OverRoots,
    Panel,
    SelectionAt,
    filtered,
    option,
    verb,
)
from vocabgap.errors import Hint, InvalidInputError, expanded
from vocabgap.files.signals import end_reads
from vocabgap.model.moments import LAST, known_present, parse_present
from vocabgap.model.settings import DEFAULT_SCREENS, DEFAULT_TOP
from vocabgap.text import count, printable_name, surface, visible

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path

    from vocabgap.clustering.screens import Answer as Ticks
    from vocabgap.clustering.screens import Neighbour, Screen
    from vocabgap.decisions.record import Decision
    from vocabgap.decisions.reviewing import Review
    from vocabgap.doors.cli.calls import Call
    from vocabgap.ingest.scanning import Scan

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
def review(call: "Call", request: ReviewRequest, selection_at: SelectionAt) -> Answer:
    """Tick groups of the same need, and wordings of another.

    The screen that may change most comes first. Each answer is saved at once as decisions, as with
    `vocabgap decide`.
    """
    output, settings, present = call.output, call.settings, parse_present(request.now)
    roots, selection = call.roots(request.roots), selection_at()
    if output.as_json or not (sys.stdin and sys.stdin.isatty()):
        raise InvalidInputError(
            "a review needs a terminal", hint="programs can call vocabgap.review in Python"
        )
    from vocabgap.clustering.screens import WORTH_ASKING
    from vocabgap.decisions.record import read_decisions
    from vocabgap.decisions.reviewing import Review
    from vocabgap.model.tables import PRESENT
    from vocabgap.pipeline import analyse

    analysis = analyse(roots, settings=settings, selection=selection, now=present)
    call.note_unread(analysis.scan)
    call.note_embeddings(analysis.embeddings)
    file = expanded(settings.decisions.file)
    present_groups = analysis.lineage.groups.filter(run=PRESENT)
    under_review = Review(
        analysis.clusters,
        read_decisions(file),
        top=request.top,
        actor=request.actor,
        now=None if request.now is None or present == LAST else known_present(present),
        capabilities=dict(present_groups.select("surface", "capability_id").iter_rows()),
    )
    dialogue = _Dialogue(call, under_review, analysis.scan, file)
    dialogue.run(request.screens)
    whose = list(selection.words())
    repeated = Hint("{}", (("report", *map(str, roots), *whose),), tuple(call.flags))
    return Answer(
        result={
            "screens": len(dialogue.answered),
            "decisions": sum(len(decisions) for _, decisions in dialogue.answered),
            "file": dialogue.place,
        },
        view="review.txt.j2",
        shown={
            "left": len(under_review.left(screen for screen, _ in dialogue.answered)),
            "least": WORTH_ASKING,
            "top": request.top,
            "next": call.completed(repeated),
        },
    )


class _Dialogue:
    """Screens and answers at a terminal; each answer is saved at once."""

    def __init__(self, call: "Call", under_review: "Review", scan: "Scan", file: "Path") -> None:
        self.place = printable_name(str(file))
        self.answered: list[tuple[Screen, tuple[Decision, ...]]] = []  # without decisions if skipped
        self._output = call.output
        self._review = under_review
        self._scan = scan
        self._unit = call.settings.unit(scan.sources)
        self._file = file

    def run(self, most: int) -> None:
        """Show up to `most` screens, until the person quits."""
        again: Screen | None = None
        while len(self.answered) < most:
            screen = again or self._review.next_screen([each for each, _ in self.answered])
            if screen is None:
                return
            values = {"screen": screen, "number": len(self.answered) + 1, "letters": _LETTERS}
            rank, _ = self._review.clusters.standing(screen.wordings[0])
            self._show("review-screen.txt.j2", {**values, "rank": rank, "otherwise": _otherwise})
            typed = self._answer(screen)
            if typed == "q":
                return
            again = self._back() if typed == "u" else None

    def _back(self) -> "Screen | None":
        """Undo the answer to the screen before, and return that screen."""
        if not self.answered:
            self._output.text("this is the first screen")
            return None
        screen, decisions = self.answered.pop()
        undos = self._saved(lambda: self._review.undo(decisions))
        self._output.text(f"undid {count(len(undos), 'decision')}")
        return screen

    def _answer(self, screen: "Screen") -> str:
        """Ask until the screen is answered, and save the answer; return `u` or `q` to go back or quit."""
        from vocabgap.decisions.replay import ContradictionError

        while True:
            typed = _typed()
            if typed in {"u", "q"}:
                return typed
            if typed == "s":
                self.answered.append((screen, ()))
                return typed
            if asked := re.fullmatch(r"e ?([0-9]{0,3})", typed):
                self._show_examples(screen, asked[1])
                continue
            if typed == "?":
                self._show("review-help.txt.j2", {})
                continue
            ticks = _ticks(typed, screen)
            if ticks is None:
                self._output.text("type numbers and letters of this screen, such as 1 3 -b; ? shows help")
                continue
            try:
                self._save(screen, ticks)
            except ContradictionError as error:
                self._output.text(f"{visible(error.message)}\nnothing was saved; answer without this tick")
                continue
            return typed

    def _save(self, screen: "Screen", ticks: "Ticks") -> None:
        """Save an answer, and say what it changes."""
        before = self._review.clusters
        decisions = self._saved(lambda: self._review.decisions(screen, ticks))
        after = self._review.clusters
        self.answered.append((screen, decisions))
        kept = screen.staying(ticks.apart)[0]
        values = {
            "merged": [screen.neighbours[place] for place in ticks.same],
            "parts": [screen.parts[place] for place in ticks.apart],
            "before": before.standing(kept),
            "after": after.standing(kept),
            "standing": after.standing,
            "undone": self._review.undone(decisions),
        }
        self._show("review-change.txt.j2", values)

    def _saved(self, decided: "Callable[[], tuple[Decision, ...]]") -> "tuple[Decision, ...]":
        return self._review.saved(decided, self._file, self._output.telling_of_wait(self.place))

    def _show_examples(self, screen: "Screen", number: str) -> None:
        """Show some records of the group of the screen, or of a group on it with a number."""
        from vocabgap.model.tables import counted, phrase

        if number and not 0 < int(number) <= len(screen.neighbours):
            self._output.text(f"this screen has no group {number}")
            return
        group = screen.neighbours[int(number) - 1] if number else screen
        own = phrase().is_in(group.wordings)
        gaps = self._scan.lines.each(lambda part: counted(part).filter(own))
        newest = gaps.sort("timestamp", "record_id", descending=True, nulls_last=True)
        records = newest.unique("image_id", keep="first", maintain_order=True).head(3)
        shown = {"label": group.label, "records": records.to_dicts(), "unit": self._unit}
        self._show("review-examples.txt.j2", shown)

    def _show(self, view: str, values: "dict[str, Any]") -> None:
        from vocabgap.doors.views import rendered

        self._output.text(rendered(view, values))


def _typed() -> str:
    """Return what the person typed; `q` at the end of the input, `?` for bytes that are no text."""
    end_reads()
    try:
        return input("1 3 -b, Enter, s, u, e, q or ?: ").strip().casefold()
    except EOFError:
        return "q"
    except UnicodeDecodeError:
        return "?"


def _ticks(typed: str, screen: "Screen") -> "Ticks | None":
    """Return the ticked neighbours and parts; None if the screen does not have one of them."""
    from vocabgap.clustering.screens import Answer as Ticks

    same, apart = set[int](), set[int]()
    words = typed.replace(",", " ").split()
    for word in words:
        tick = re.fullmatch(r"([0-9]{1,3})(?:-([0-9]{1,3}))?|-([a-z]+)", word)
        if tick is None:
            return None
        first, last, letters = tick.groups()
        if first:
            low, high = sorted((int(first), int(last or first)))
            same |= {*range(low - 1, high)}
        apart |= {_LETTERS.find(letter) for letter in letters or ""}
    is_there = same <= {*range(len(screen.neighbours))} and apart <= {*range(len(screen.parts))}
    return Ticks(sorted(same), sorted(apart)) if is_there and bool(words) == bool(typed) else None


def _otherwise(group: "Screen | Neighbour") -> str:
    """Return the most used wording without some word of the label; empty if there is none."""
    words = {*surface(group.label).split()}
    return next((each for each in group.wordings if not words <= {*surface(each).split()}), "")
