"""`vocabgap glossary conflicts` and `resolve`: the questions that were raised, and their answers."""

from datetime import UTC
from typing import TYPE_CHECKING, Annotated

import typer

from vocabgap.cli.glossary_options import (
    SHOWN_DIGITS,
    ActorOption,
    FolderOption,
    MissionOption,
    NowOption,
    StrictnessOption,
    note_skipped,
    require_strictness,
    runtime_of,
)
from vocabgap.cli.options import ConfigOption
from vocabgap.cli.output import Output, output_of
from vocabgap.errors import InvalidInputError
from vocabgap.records.moments import iso
from vocabgap.text import visible

if TYPE_CHECKING:
    from vocabgap.glossary.open_questions import Raised
    from vocabgap.glossary.senses import SenseRef
    from vocabgap.glossary.session import Answer


def conflicts(
    context: typer.Context,
    mission: MissionOption = None,
    unresolved: Annotated[bool, typer.Option("--unresolved", help="Those that wait for an answer.")] = False,
    strictness: StrictnessOption = None,
    folder: FolderOption = None,
    config: ConfigOption = None,
) -> None:
    """List the questions that were raised, and whether they are answered."""
    from vocabgap.glossary.event_log import read_events  # noqa: PLC0415 - loads what only this needs
    from vocabgap.glossary.open_questions import raised, standing  # noqa: PLC0415

    output = output_of(context)
    asked = require_strictness(strictness)
    runtime = runtime_of(config, folder)
    read = read_events(runtime.logs)
    note_skipped(output, read.skipped)
    events = read.events
    found = [
        each
        for each in standing(raised(events), runtime)
        if mission in {None, each.mission_id}
        and (each.is_open or not unresolved)
        and asked in {None, each.effective_strictness}
    ]
    for each in found:
        output.event("conflict", **_fields(each))
    waiting = sum(each.is_open for each in found)
    output.event("result", conflicts=len(found), unresolved=waiting)
    if not found:
        output.text("No conflicts found" if events else "No events found: nothing was checked yet")
        output.text("Total: 0 conflict(s)")
        return
    if not output.as_json:
        from vocabgap.cli.output import table  # noqa: PLC0415 - loads rich

        headings = ("conflict", "term", "type", "severity", "status", "mission", "time")
        rows = [
            (
                each.conflict_id[:SHOWN_DIGITS],
                each.term,
                each.type,
                each.severity,
                each.status.value,
                each.mission_id or None,
                f"{each.timestamp.astimezone(UTC):%Y-%m-%d %H:%M}",
            )
            for each in found
        ]
        output.text(table(headings, rows, dates=("conflict", "type", "severity", "status", "time")))
    output.text(f"\nTotal: {len(found)} conflict(s)\nUnresolved: {waiting}")


def resolve(
    context: typer.Context,
    conflict: Annotated[
        str, typer.Argument(help="The conflict's identifier, or the beginning of it.", show_default=False)
    ],
    select: Annotated[
        int | None,
        typer.Option("--select", help="The number of the sense that is meant.", show_default=False),
    ] = None,
    define: Annotated[
        str | None, typer.Option("--define", help="What the term means instead.", show_default=False)
    ] = None,
    mission: MissionOption = None,
    actor: ActorOption = None,
    now: NowOption = None,
    folder: FolderOption = None,
    config: ConfigOption = None,
) -> None:
    """Answer a question that was put off; without options it is asked."""
    from vocabgap.glossary.event_log import read_events  # noqa: PLC0415 - loads what only this needs
    from vocabgap.glossary.open_questions import (  # noqa: PLC0415
        answer_later,
        raised,
        require_raised,
        standing,
    )
    from vocabgap.glossary.session import Defer, Define, Select  # noqa: PLC0415 - as above

    output = output_of(context)
    runtime = runtime_of(config, folder, actor, now)
    read = read_events(runtime.logs)
    note_skipped(output, read.skipped)
    question = require_raised(standing(raised(read.events), runtime), conflict, mission)
    if select is not None and define is not None:
        raise InvalidInputError("--select and --define are two answers", hint="give one of them")
    answer: Answer
    if select is not None:
        answer = Select(select - 1)
    elif define is not None:
        answer = Define(define)
    else:
        candidates = question.candidates(runtime.load(question.mission_id or None).glossary)
        asked = _ask(output, question, candidates)
        if asked is None:
            output.event("result", conflict_id=question.conflict_id, status=question.status)
            return
        answer = asked
    events = answer_later(runtime, question, answer)
    output.event("result", conflict_id=question.conflict_id, status="resolved" if events else question.status)
    term = visible(question.term)
    if isinstance(answer, Defer):
        output.text(f"Deferred: conflict {question.conflict_id} about '{term}' stays unresolved")
        return
    output.text(f"Conflict about '{term}' resolved successfully")


def _ask(output: Output, question: "Raised", candidates: "tuple[SenseRef, ...]") -> "Answer | None":
    """What somebody answers; none where what is answered already is to stay so."""
    from rich.text import Text  # noqa: PLC0415 - loads what only asking needs

    from vocabgap.cli.glossary_options import Prompt  # noqa: PLC0415

    prompt = Prompt()
    if not question.is_open:
        output.text(f"Conflict {question.conflict_id} is already resolved")
        if not prompt.agrees("Resolve it again?"):
            return None
    body = Text(f"What does '{visible(question.term)}' mean? {visible(question.context)}".rstrip())
    prompt.candidates(candidates, body)
    prompt.show(body)
    return prompt.choose_once(candidates)


def _fields(question: "Raised") -> dict[str, object]:
    return {
        "conflict_id": question.conflict_id,
        "term": question.term,
        "type": question.type,
        "severity": question.severity,
        "mission_id": question.mission_id,
        "timestamp": iso(question.timestamp),
        "status": question.status,
        "effective_strictness": question.effective_strictness,
    }
