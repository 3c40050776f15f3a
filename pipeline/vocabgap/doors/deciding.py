"""`decide`, `decisions` and `review`: people decide about capabilities and groups."""

import sys
from contextlib import nullcontext
from datetime import UTC, datetime
from enum import StrEnum
from typing import TYPE_CHECKING, Annotated, Final, Literal

import msgspec
from msgspec import Meta

from vocabgap.decisions.record import ReviewAnswer
from vocabgap.doors.verbs import (
    ACTOR,
    AS_OF,
    NOW,
    RUN,
    WHOSE,
    Answer,
    Event,
    OverRoots,
    Panel,
    Place,
    Request,
    Verbs,
    argument,
    filtered,
    option,
    selection_of,
    verb,
)
from vocabgap.errors import InvalidInputError, NotFoundError, VocabgapError, converted, expanded
from vocabgap.files.signals import end_reads
from vocabgap.model.moments import LAST, known_present, parse_now, parse_present
from vocabgap.model.settings import DEFAULT_QUESTIONS, DEFAULT_TOP
from vocabgap.text import printable_name

if TYPE_CHECKING:
    from collections.abc import Callable

    from vocabgap.clustering.questions import Question
    from vocabgap.decisions.deciding import Decisions
    from vocabgap.decisions.record import Decision
    from vocabgap.doors.cli.calls import Call

_CAPABILITY: Final = argument("Identifier, label or any wording.")
_WHY: Final = option("The reason.")
_SETTINGS: Final = ("--decisions",)


class Deciding(Request):
    """Base of requests that add a decision."""

    actor: Annotated[str | None, ACTOR] = None
    now: Annotated[str | None, NOW] = None
    why: Annotated[str, _WHY] = ""


class About(Deciding, kw_only=True):
    """A decision about a capability of a published run."""

    capability: Annotated[str, _CAPABILITY]
    run: Annotated[Place | None, RUN] = None


class Merge(About, kw_only=True):
    """The request of `decide merge`."""

    other: Annotated[str, _CAPABILITY]


@verb(Merge, settings=_SETTINGS)
def merge(call: "Call", request: Merge) -> Answer:
    """Say that two capabilities are one; it keeps the identifier of the first."""
    return _decide(call, request, lambda book: book.merge(request.capability, request.other, request.why))


class Split(About, kw_only=True):
    """The request of `decide split`."""

    wording: Annotated[tuple[str, ...], option("A wording that leaves.")]


@verb(Split, settings=_SETTINGS)
def split(call: "Call", request: Split) -> Answer:
    """Say that some wordings are another need than the rest."""
    return _decide(call, request, lambda book: book.split(request.capability, request.wording, request.why))


class Rename(About, kw_only=True):
    """The request of `decide rename`."""

    label: Annotated[str, argument("The new label.")]


@verb(Rename, settings=_SETTINGS)
def rename(call: "Call", request: Rename) -> Answer:
    """Give a capability a label of its own."""
    return _decide(call, request, lambda book: book.rename(request.capability, request.label, request.why))


@verb(About, settings=_SETTINGS)
def pin(call: "Call", request: About) -> Answer:
    """Rank a capability first, regardless of its counts and of entries that cover it."""
    return _decide(call, request, lambda book: book.pin(request.capability, request.why))


class Dismiss(About, kw_only=True):
    """The request of `decide dismiss`: the reason is required."""

    why: Annotated[str, _WHY]


@verb(Dismiss, settings=_SETTINGS)
def dismiss(call: "Call", request: Dismiss) -> Answer:
    """Say that a capability is not going to be authored, and why.

    The decision applies while its present wordings carry at least half of its mentions.
    """
    return _decide(call, request, lambda book: book.dismiss(request.capability, request.why))


class Author(About, kw_only=True):
    """The request of `decide author`."""

    entry: Annotated[str, option("The vocabulary entry.")]


@verb(Author, name="decide author", settings=_SETTINGS)
def author(call: "Call", request: Author) -> Answer:
    """Say which entry was authored for a capability; it regresses if it is mentioned again."""
    return _decide(call, request, lambda book: book.author(request.capability, request.entry, request.why))


@verb(About, settings=_SETTINGS)
def reopen(call: "Call", request: About) -> Answer:
    """Say that a capability is open after all."""
    return _decide(call, request, lambda book: book.reopen(request.capability, request.why))


class Undo(Deciding, kw_only=True):
    """The request of `decide undo`."""

    decision: Annotated[str, argument("Its identifier in `vocabgap decisions list`, or the beginning of it.")]


@verb(Undo, settings=_SETTINGS)
def undo(call: "Call", request: Undo) -> Answer:
    """Take a decision back, as if it had never been made.

    If a merge is undone, later decisions stay with one of the two capabilities: the one that had the wording
    they were named by, or the identifier.
    """
    return _decide(call, request, lambda book: book.undo(request.decision, request.why))


DECIDE: Final = Verbs(
    "decide",
    "Decide about the capabilities of a published run.\n\n"
    "A capability is named by its identifier or the beginning of it, by its label, or by a wording. "
    "The logs stay as they are: a decision is a line of a file, and every later run follows it.",
    (merge, split, rename, pin, dismiss, author, reopen, undo),
)


def _decide(call: "Call", request: Deciding, deciding: "Callable[[Decisions], Decision]") -> Answer:
    settings = call.settings
    moment = None if request.now is None else parse_now(request.now)
    from vocabgap.decisions.deciding import Decisions
    from vocabgap.reporting.published_run import telling_of_narrowing

    place = printable_name(str(expanded(settings.decisions.file)))
    named = request.run if isinstance(request, About) else None
    book = Decisions(
        named or settings.report.out,
        settings.decisions.file,
        actor=request.actor,
        now=moment,
        on_wait=call.output.telling_of_wait(place),
    )
    with telling_of_narrowing(named or settings.report.out) if isinstance(request, About) else nullcontext():
        decision = deciding(book)
    later = _later(book, decision)
    return Answer(
        events=[Event("decision", {"decision": decision})],
        result={"decision_id": decision.decision_id, "file": place},
        view="decide.txt.j2",
        shown={"decision": decision},
        notes=[
            f"{each.decision_id} ({_minute(each.time)}) has a later time and takes precedence; if a clock"
            " was wrong, undo that one, or give --now"
            for each in later
        ],
    )


def _later(book: "Decisions", decision: "Decision") -> "list[Decision]":
    """Return the last decision about the same capability, if it has a later moment."""
    about = [
        each
        for each in book.in_force()
        if each.capability and decision.capability
        if each.capability.capability_id == decision.capability.capability_id
    ]
    return [each for each in about[-1:] if each.place > decision.place]


class Standing(StrEnum):
    """The state of a decision."""

    IN_FORCE = "in force"
    OUTGROWN = "outgrown"
    UNDONE = "undone"
    UNDO = "undo"


class ListDecisions(Request):
    """The request of `decisions list`."""

    run: Annotated[Place | None, RUN] = None


@verb(ListDecisions, name="list", settings=_SETTINGS)
def list_decisions(call: "Call", request: ListDecisions) -> Answer:
    """List the decisions in the order in which they were made, with their state.

    Undone decisions are listed with who undid them and when. A decision about the status of a group no longer
    applies if the group has outgrown it: other wordings now have most of its mentions.
    """
    call.require_decisions()
    settings = call.settings
    from vocabgap.decisions.deciding import Decisions
    from vocabgap.decisions.replay import undoings

    book = Decisions(request.run or settings.report.out, settings.decisions.file)
    decisions = book.all()
    undone = undoings(decisions)
    outgrown = _outgrown(call, book, is_named=request.run is not None) if decisions else frozenset()
    standings = [_standing(each, undone, outgrown) for each in decisions]
    numbers = {kind: standings.count(kind) for kind in Standing}
    rows = [
        (each, standing, undone.get(each.decision_id))
        for each, standing in zip(decisions, standings, strict=True)
    ]
    return Answer(
        events=(
            Event(
                "decision",
                {
                    "decision": decision,
                    "in_force": standing is Standing.IN_FORCE,
                    "standing": standing,
                    "undone_by": undo and undo.decision_id,
                },
            )
            for decision, standing, undo in rows
        ),
        result={
            "decisions": len(decisions),
            "in_force": numbers[Standing.IN_FORCE],
            "outgrown": numbers[Standing.OUTGROWN],
            "undone": numbers[Standing.UNDONE],
            "undos": numbers[Standing.UNDO],
            "file": printable_name(str(book.file)),
        },
        view="decisions.txt.j2",
        shown=lambda: {
            "rows": [
                (each, _minute(each.time), standing, undo, undo and _minute(undo.time))
                for each, standing, undo in rows
            ]
        },
    )


DECISIONS: Final = Verbs("decisions", "Look at the decisions.", (list_decisions,))


def _outgrown(call: "Call", book: "Decisions", *, is_named: bool) -> frozenset[str]:
    """Return the decisions that the run has outgrown; a run that nobody named may be missing."""
    try:
        return book.outgrown()
    except VocabgapError as error:
        if is_named:
            raise
        if not isinstance(error, NotFoundError):
            call.note(f"the outgrown decisions are not known: {error.message}")
        return frozenset()


def _standing(decision: "Decision", undone: "dict[str, Decision]", outgrown: frozenset[str]) -> Standing:
    if decision.decision_id in undone:
        return Standing.UNDONE
    if decision.undoes is not None:
        return Standing.UNDO
    return Standing.OUTGROWN if decision.decision_id in outgrown else Standing.IN_FORCE


def _minute(moment: datetime) -> str:
    return f"{moment.astimezone(UTC):%Y-%m-%d %H:%M}"


_QUIT: Final = "quit"
_KEYS: Final = {"1": "same", "2": "different", "s": "skip", "q": _QUIT}
_PROMPT: Final = "[1] one need  [2] two needs  [s] skip  [q] quit: "
_LINE_HINT: Final = 'a line such as {"answer": "same"}; the other answers are different, skip and quit'


class ReviewRequest(OverRoots):
    """The request of `review`."""

    questions: Annotated[int, Meta(ge=0), option("How many questions to ask.", panel=Panel.SELECT)] = (
        DEFAULT_QUESTIONS
    )
    top: Annotated[
        int, Meta(ge=0), option("How many of the most mentioned groups count; 0 for all.", panel=Panel.SELECT)
    ] = DEFAULT_TOP
    actor: Annotated[str | None, ACTOR] = None
    now: Annotated[str | None, AS_OF] = None


@verb(filtered(ReviewRequest, *WHOSE), settings=("ingest", "cluster", "--decisions"))
def review(call: "Call", request: ReviewRequest) -> Answer:
    """Say which groups are one need and which are two; the most important question comes first.

    Each answer is a decision like those of `vocabgap decide`: it takes effect at once, can be
    undone, and moves the cut for similar groups. With --json each question is a line, and so is each answer:
    {"answer": "same"}, different, skip or quit.
    """
    output, settings, present = call.output, call.settings, parse_present(request.now)
    roots = call.roots(request.roots)
    if not output.as_json and not (sys.stdin and sys.stdin.isatty()):
        raise InvalidInputError(
            "a review asks questions, but standard input is not a terminal",
            hint="`vocabgap --json review …` asks and takes answers line by line",
        )
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
    ask = _read_answer if output.as_json else _ask_person
    asked, answered, answer = 0, 0, ""
    for question in under_review.questions(request.questions):
        output.event("question", number=asked + 1, question=question)
        if not output.as_json:
            shown = {"number": asked + 1, "most": request.questions, "question": question}
            output.text(rendered("review-question.txt.j2", shown))
        end_reads()
        answer = ask(question)
        if answer == _QUIT:
            break
        asked += 1
        if answer != "skip":
            waiting = output.telling_of_wait(place)
            decision = under_review.answer(question, file, waiting, is_one=answer == "same")
            answered += 1
            output.event("decision", decision=decision, shift=under_review.clusters.shift)
            output.text(f"{decision.reason}; `vocabgap decide undo {decision.decision_id}` takes it back\n")
    is_done = answer != _QUIT and asked < request.questions
    return Answer(
        result={"asked": asked, "answered": answered, "is_done": is_done, "file": place},
        view="review.txt.j2",
    )


def _ask_person(_: "Question") -> str:
    """Ask until a key of the prompt is typed; the end of the input quits."""
    while True:
        try:
            typed = input(_PROMPT).strip().casefold()
        except EOFError:
            return _QUIT
        except UnicodeDecodeError:
            typed = ""
        if typed in _KEYS:
            return _KEYS[typed]
        print("expected 1, 2, s or q")


class _Given(msgspec.Struct, forbid_unknown_fields=True):
    """A line that answers a question."""

    answer: Literal[ReviewAnswer, "quit"]
    question_id: str | None = None


def _read_answer(question: "Question") -> str:
    """Read the next line of standard input; the end of the input quits."""
    try:
        line = "" if sys.stdin is None else sys.stdin.readline()
        if not line.strip():
            return _QUIT
        given = msgspec.json.decode(line)
    except (msgspec.DecodeError, UnicodeError, RecursionError) as error:
        raise InvalidInputError(f"answer: expected a JSON object: {error}", hint=_LINE_HINT) from error
    answer = converted(given, _Given, "answer", hint=_LINE_HINT)
    if answer.question_id not in {None, question.question_id}:
        raise InvalidInputError(
            f"answer: question '{answer.question_id}' was not asked, but {question.question_id}",
            hint="answer each question before the next is asked",
        )
    return str(answer.answer)
