"""`vocabgap review`: is this one need, or two? Each answer is a decision."""

import sys
from itertools import zip_longest
from typing import TYPE_CHECKING, Annotated, Final, Literal

import msgspec
import typer

from vocabgap.decisions.record import ReviewAnswer
from vocabgap.doors.cli.options import (
    ActorOption,
    DecisionsOption,
    EmbedderOption,
    PresentOption,
    Reading,
    RootsArgument,
    ThresholdOption,
    missing_decisions,
    note_embeddings,
    note_scan,
    reading_arguments,
    roots_of,
    settings_of,
    with_options,
)
from vocabgap.doors.cli.output import PROGRAM, Output, output_of, table
from vocabgap.doors.verbs import Panel
from vocabgap.errors import InvalidInputError, converted, expanded, whole_number
from vocabgap.files.signals import end_reads
from vocabgap.model.moments import LAST, known_present, parse_present
from vocabgap.model.settings import DEFAULT_QUESTIONS, DEFAULT_TOP
from vocabgap.text import count, escape_unseen, printable_name

if TYPE_CHECKING:
    from vocabgap.clustering.questions import Question

_MOST_WORDINGS: Final = 8  # of a side
_QUIT: Final = "quit"
_KEYS: Final = {"1": "same", "2": "different", "s": "skip", "q": _QUIT}
_PROMPT: Final = "[1] one need  [2] two needs  [s] skip  [q] leave: "

_LINE_HINT: Final = 'a line such as {"answer": "same"}; different, skip and quit are the others'


class _Given(msgspec.Struct, forbid_unknown_fields=True):
    """A line that answers a question."""

    answer: Literal[ReviewAnswer, "quit"]
    question_id: str | None = None


@with_options(Reading)
def review(
    context: typer.Context,
    roots: RootsArgument = None,
    questions: Annotated[int, Panel.SELECT.option(help="How many questions to ask.")] = DEFAULT_QUESTIONS,
    top: Annotated[
        int, Panel.SELECT.option(help="How many of the most mentioned groups count; 0 for all.")
    ] = DEFAULT_TOP,
    threshold: ThresholdOption = None,
    embedder: EmbedderOption = None,
    decisions: DecisionsOption = None,
    actor: ActorOption = None,
    now: PresentOption = None,
) -> None:
    """Say which groups are one need and which are two; what would change most is asked first.

    Each answer is a decision, as `vocabgap decide` makes them: it takes effect at once, can be
    undone, and moves the cut for what is like it. With --json each question is a line, and each answer one:
    {"answer": "same"}, different, skip or quit.
    """
    output = output_of(context)
    settings = settings_of(context).settings
    present = parse_present(now)
    roots = roots_of(context, settings)
    most, top = whole_number("--questions", questions), whole_number("--top", top)
    if not output.as_json and not (sys.stdin and sys.stdin.isatty()):
        raise InvalidInputError(
            "a review asks questions, and here is no terminal",
            hint=f"`{PROGRAM} --json review …` asks and takes answers line by line",
        )
    if missing := missing_decisions(decisions):
        output.note(escape_unseen(f"{missing}: the first answer makes it"))
    # What follows loads Polars.
    from vocabgap.decisions.record import read_decisions
    from vocabgap.decisions.reviewing import Review, capabilities_of
    from vocabgap.model.selection import Selection
    from vocabgap.pipeline import analyse

    reading = reading_arguments(context)
    analysis = analyse(
        roots,
        settings=settings,
        selection=Selection(tenants=(*reading["tenants"],), repositories=(*reading["repositories"],)),
        now=present,
    )
    note_scan(output, analysis.scan)
    note_embeddings(output, analysis.embeddings)
    file = expanded(settings.decisions.file)
    place = printable_name(str(file))

    under_review = Review(
        analysis.clusters,
        read_decisions(file),
        top=top,
        actor=actor,
        now=None if now is None or present == LAST else known_present(present),
        capabilities=capabilities_of(analysis.lineage.groups),
    )
    ask = _read_answer if output.as_json else _ask_person
    asked, answered, answer = 0, 0, ""
    for question in under_review.questions(most):
        output.event("question", number=asked + 1, question=question)
        _show(output, f"Question {asked + 1:,} of {most:,}", question)
        end_reads()
        answer = ask(question)
        if answer == _QUIT:
            break
        asked += 1
        if answer != "skip":
            decision = under_review.answer(
                question, file, output.telling_of_wait(place), is_one=answer == "same"
            )
            answered += 1
            output.event("decision", decision=decision, shift=under_review.clusters.shift)
            undo = f"{PROGRAM} decide undo {decision.decision_id}"
            output.text(f"{decision.reason}; `{undo}` takes it back\n")
    is_done = answer != _QUIT and asked < most
    ending = "; there is no more to ask" if is_done else ""
    follows = f"\n{escape_unseen(place)}: the next `{PROGRAM} report` follows it" if answered else ""
    output.result(
        f"{count(asked, 'question')}, {answered:,} answered{ending}{follows}",
        asked=asked,
        answered=answered,
        is_done=is_done,
        file=place,
    )


def _show(output: Output, title: str, question: "Question") -> None:
    """The two sides beside each other, as much of them as a person reads."""
    sides = [
        [*side[:_MOST_WORDINGS], *[f"and {len(side) - _MOST_WORDINGS:,} more"] * (len(side) > _MOST_WORDINGS)]
        for side in (question.left, question.right)
    ]
    mentions = (question.left_mentions, question.right_mentions)
    headings = [f"{number}: {count(each, 'mention')}" for number, each in enumerate(mentions, start=1)]
    output.text(f"{title}: one need or two?\n")
    output.text(table(headings, list(zip_longest(*sides, fillvalue=""))))
    output.text(f"\n{question.why}")


def _ask_person(_: "Question") -> str:
    """What somebody types; the end of what is typed leaves."""
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


def _read_answer(question: "Question") -> str:
    """The next line of stdin; the end of it leaves."""
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
