"""The commands of `vocabgap glossary` that list terms and questions, and change terms."""

from collections.abc import Iterable
from functools import partial
from pathlib import Path
from typing import Annotated, Any, Final

import msgspec

from vocabgap.doors.cli.calls import Call
from vocabgap.doors.verbs import ACTOR, NOW, Answer, Event, Request, argument, option, verb
from vocabgap.errors import ExitCode, Hint, InvalidInputError, NotFoundError, StateError
from vocabgap.files.refusals import FileKind, file_kind
from vocabgap.glossary.events import Actor, GlossarySenseUpdated
from vocabgap.glossary.extension import FOLDER, GlossarySettings
from vocabgap.glossary.glossary import Glossary, added, with_status
from vocabgap.glossary.loading import changing, files_in, read_events, skipped_lines
from vocabgap.glossary.normal_form import definition_key, normal_form
from vocabgap.glossary.questions import SHOWN_DIGITS, OpenQuestion, as_they_stand, questions_of
from vocabgap.glossary.runtime import GlossaryRuntime, configured_runtime
from vocabgap.glossary.seeds import OTHER_ENDING, SEED_ENDING, read_seed, seed_scope, why_unread, with_clashes
from vocabgap.glossary.senses import SenseStatus, Strictness, TermSense
from vocabgap.glossary.session import clock
from vocabgap.model.loading import login
from vocabgap.model.moments import parse_now
from vocabgap.text import visible

_LISTED: Final = Hint("{} lists them", (("glossary", "list"),), FOLDER)
_TERM: Final = argument("The term, in any spelling.")
_SCOPE: Final = option("Only senses of this scope.")
MISSION: Final = option("Only questions of this mission.")


class Acting(Request):
    """Base of requests that change the glossary or check a step."""

    actor: Annotated[str | None, ACTOR] = None
    now: Annotated[str | None, NOW] = None


def runtime_of(call: Call, request: Request, *, exists: bool = True) -> GlossaryRuntime:
    """Return the runtime of the glossary that the options name; with `exists`, require its folder."""
    now = getattr(request, "now", None)
    name = getattr(request, "actor", None) or login() or "cli"
    runtime = configured_runtime(
        call.settings.of(GlossarySettings),
        actor=Actor(f"user:{name}", display_name=name),
        now=clock if now is None else partial(parse_now, now),
    )
    if exists:
        runtime.require_folder()
    return runtime


def note_all(call: Call, notes: Iterable[str]) -> None:
    """Show notes about problems that do not stop the command."""
    for note in notes:
        call.output.note(visible(note))


class ListTerms(Request):
    """The request of `list`."""

    scope: Annotated[str | None, _SCOPE] = None
    status: Annotated[str | None, option("Only active, draft or deprecated senses.")] = None


@verb(ListTerms, name="list", settings=FOLDER)
def list_terms(call: Call, request: ListTerms) -> Answer:
    """List the senses of all terms."""
    runtime = runtime_of(call, request, exists=False)
    choices = {"scope": runtime.scopes.names, "status": tuple(SenseStatus)}
    for name, expected in choices.items():
        if (value := getattr(request, name)) not in {None, *expected}:
            hint = f"expected one of {', '.join(expected)}"
            raise InvalidInputError(f"Invalid {name} '{value}'", hint=hint)
    runtime.require_folder()
    loaded = runtime.load()
    note_all(call, loaded.problems)
    senses = [
        sense
        for sense in loaded.glossary
        if request.scope in {None, sense.scope} and request.status in {None, sense.status}
    ]
    return Answer(
        result={"senses": len(senses), "versions": loaded.glossary.scope_refs},
        events=(Event("sense", _fields(sense)) for sense in senses),
        view="glossary-list.txt.j2",
        shown={"listed": senses},
    )


class ShowTerm(Request):
    """The request of `show`."""

    term: Annotated[str, _TERM]


@verb(ShowTerm, name="show", settings=FOLDER)
def show_term(call: Call, request: ShowTerm) -> Answer:
    """Show all senses of a term with their sources, and people's answers about the term."""
    runtime = runtime_of(call, request)
    loaded = runtime.load()
    note_all(call, loaded.problems)
    name = request.term.removeprefix("glossary:")
    senses = loaded.glossary.history(name)
    if not senses:
        terms = (sense.surface.surface_text for sense in loaded.glossary)
        from vocabgap.model.lookup import did_you_mean  # noqa: PLC0415 - loads Polars

        raise NotFoundError(f"term '{name}' was not found", hint=did_you_mean(name, terms) or _LISTED)
    answering = loaded.glossary.resolve(name)
    answers = runtime.files.answers(name)
    described = [_fields(it) | {"answers": it in answering, "provenance": it.provenance} for it in senses]
    return Answer(
        result={"senses": len(senses), "answering": len(answering), "answers": len(answers)},
        events=[Event("sense", fields) for fields in described]
        + [Event("answer", {"answer": event}) for event in answers],
        view="glossary-show.txt.j2",
        shown={"listed": described, "given": answers},
    )


class Validate(Request):
    """The request of `validate`."""

    path: Annotated[Path, argument("A seed file or pack, or a folder of them.")]


@verb(Validate, settings=())
def validate(call: Call, request: Validate) -> Answer:
    """List the problems of seed files and packs, and unread files; exit with 2 if there are any."""
    path, scopes = request.path, runtime_of(call, request, exists=False).scopes
    kind = file_kind(path)
    if kind is FileKind.NOTHING:
        raise NotFoundError(f"'{path}' does not exist", hint="name a seed file, or a folder of them")
    # A folder may have the name of a seed file.
    is_folder = kind is FileKind.FOLDER and seed_scope(path, scopes) is None
    paths = files_in(path, SEED_ENDING, OTHER_ENDING) if is_folder else [path]
    seeds = with_clashes([read_seed(file) for file in paths])
    unread = [file for file in paths if seed_scope(file, scopes) is None]
    for file in unread:
        call.note(f"{file}: this file is not read; {why_unread(file, scopes)}")
    files = [
        {
            "path": str(seed.path),
            "valid": not seed.problems,
            "term_count": len(seed.terms),
            "errors": list(map(str, seed.problems)),
        }
        for seed in seeds
    ]
    invalid = sum(bool(seed.problems) for seed in seeds)
    return Answer(
        result={
            "files": files,
            "total_files": len(files),
            "valid_files": len(files) - invalid,
            "invalid_files": invalid,
        },
        events=(Event("file", fields) for fields in files),
        view="glossary-validate.txt.j2",
        exit_code=ExitCode.INVALID_INPUT if invalid or (unread and is_folder) else ExitCode.DONE,
    )


class Deprecate(Acting, kw_only=True):
    """The request of `deprecate`."""

    term: Annotated[str, _TERM]
    scope: Annotated[str | None, _SCOPE] = None
    definition: Annotated[str | None, option("The beginning of its definition, if it has several.")] = None


class Promote(Deprecate, kw_only=True):
    """The request of `promote`."""

    define: Annotated[str | None, option("A new definition of the term.")] = None
    replace: Annotated[
        bool | None, option("Replace another meaning, or keep both.", "--replace/--beside")
    ] = None


@verb(Promote, settings=FOLDER)
def promote(call: Call, request: Promote) -> Answer:
    """Activate a draft or a deprecated sense."""
    runtime = runtime_of(call, request)
    with changing(runtime.logs):
        glossary = runtime.load().glossary
        facts: dict[str, Any] = {"actor": runtime.actor, "now": runtime.now()}
        sense, definition = None, request.define
        if definition is None:
            sense = require_sense(glossary, request, likely=SenseStatus.DRAFT)
            definition = sense.definition
            if sense.is_placeholder:
                message = f"'{sense.surface}' has no definition yet"
                raise StateError(message, hint="define it with --define TEXT")
        rivals = glossary.rivals(request.term, definition)
        if rivals and request.replace is None:
            rival = rivals[0]
            message = f"'{rival.surface}' already has another meaning in {rival.scope}: {rival.definition}"
            hint = "replace it with --replace, or keep both with --beside; the term is then ambiguous"
            raise StateError(message, hint=hint)
        if sense is None:
            facts |= {"scope": request.scope, "replacing": bool(request.replace)}
            event = added(glossary, normal_form(request.term), definition, **facts)
        else:
            replaced = rivals if request.replace else ()
            event = with_status(sense, SenseStatus.ACTIVE, replacing=replaced, **facts)
        return _changed(runtime, event)


@verb(Deprecate, settings=FOLDER)
def deprecate(call: Call, request: Deprecate) -> Answer:
    """Deprecate a sense or a draft."""
    runtime = runtime_of(call, request)
    with changing(runtime.logs):
        sense = require_sense(runtime.load().glossary, request, likely=SenseStatus.ACTIVE)
        event = with_status(sense, SenseStatus.DEPRECATED, actor=runtime.actor, now=runtime.now())
        return _changed(runtime, event)


def _changed(runtime: GlossaryRuntime, event: GlossarySenseUpdated) -> Answer:
    runtime.files.append_changes("", [event])
    return Answer(result=msgspec.structs.asdict(event.sense), view="glossary-changed.txt.j2")


def require_sense(glossary: Glossary, request: Deprecate, *, likely: SenseStatus) -> TermSense:
    """Return the only sense that a request names; without a definition, prefer the likely status."""
    begins = definition_key(request.definition or "")
    senses = [
        sense
        for sense in glossary.history(request.term)
        if request.scope in {None, sense.scope} and definition_key(sense.definition).startswith(begins)
    ]
    of_status = [sense for sense in senses if sense.status == likely]
    if request.definition is None and len(of_status) == 1:
        return of_status[0]
    if not senses:
        raise NotFoundError(f"there is no such sense of '{request.term}'", hint=_LISTED)
    if len(senses) > 1:
        listed = "; ".join(f"[{sense.scope}] {sense.definition}" for sense in senses)
        hint = "give --scope, or --definition with its beginning"
        raise InvalidInputError(f"'{request.term}' has {len(senses)} senses: {listed}", hint=hint)
    return senses[0]


def _fields(sense: TermSense) -> dict[str, object]:
    return msgspec.structs.asdict(sense.ref) | {"status": sense.status}


class Conflicts(Request):
    """The request of `conflicts`."""

    mission: Annotated[str | None, MISSION] = None
    unresolved: Annotated[bool, option("Only open questions.", "--unresolved")] = False
    strictness: Annotated[Strictness | None, option("Only questions of this strictness.")] = None


@verb(Conflicts, settings=FOLDER)
def conflicts(call: Call, request: Conflicts) -> Answer:
    """List the questions, open and answered."""
    runtime = runtime_of(call, request, exists=False)
    questions, events = standing_questions(runtime, call)
    matches = [
        question
        for question in questions
        if request.mission in {None, question.mission_id}
        and (question.is_open or not request.unresolved)
        and request.strictness in {None, question.effective_strictness}
    ]
    shown = [name for name in OpenQuestion.__struct_fields__ if name not in {"options", "senses", "usage"}]
    return Answer(
        result={"conflicts": len(matches), "unresolved": sum(question.is_open for question in matches)},
        events=(Event("conflict", {name: getattr(question, name) for name in shown}) for question in matches),
        view="glossary-conflicts.txt.j2",
        shown={"listed": matches, "events": events, "digits": SHOWN_DIGITS},
    )


def standing_questions(runtime: GlossaryRuntime, call: Call | None) -> tuple[list[OpenQuestion], int]:
    """Return the questions with their current status, and the number of logged events."""
    read = read_events(runtime.logs)
    if call is not None:
        note_all(call, skipped_lines(read.skipped))
    questions = questions_of(logged.event for logged in read.events)
    return as_they_stand(questions, lambda mission: runtime.load(mission).glossary), len(read.events)
