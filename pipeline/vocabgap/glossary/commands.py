"""`vocabgap glossary`: what words mean. Its terms are listed, imported, promoted and deprecated here."""

import sys
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from vocabgap.doors.cli.groups import Commands
from vocabgap.doors.cli.options import ConfigOption, TrustOption, with_options
from vocabgap.doors.cli.output import Output, lines_of, output_of
from vocabgap.errors import ExitCode, NotFoundError, alike
from vocabgap.glossary.asking import Prompt, conflicts, resolve, told
from vocabgap.glossary.options import (
    ActingOptions,
    GlossaryOptions,
    ScopeOption,
    existing_runtime,
    note_problems,
    require_choice,
    runtime_of,
)
from vocabgap.glossary.step_commands import check, resume
from vocabgap.model.moments import iso
from vocabgap.model.settings import VocabularyFields
from vocabgap.text import count, escape_unseen, visible

if TYPE_CHECKING:
    from collections.abc import Sequence

    from vocabgap.glossary.senses import TermSense

glossary = Commands(
    "glossary",
    "Say what words mean, and check that it is settled.\n\n"
    "A glossary is a folder with a file for each scope, `<scope>.yaml`, and the log of what people answered.",
)
glossary.command()(check)
glossary.command()(conflicts)
glossary.command()(resolve)
glossary.command()(resume)

# The names that people give to the columns of a list of terms.
_COLUMNS = VocabularyFields(
    name=("surface", "term", "name"), description=("definition", "meaning", "description")
)
_DEFINITION = 60  # characters of a definition in the list
_PREFIX = "glossary:"

TermArgument = Annotated[str, typer.Argument(help="The term, in any spelling.")]
DefinitionOption = Annotated[
    str | None, typer.Option(help="Its definition or the beginning, where there are several.")
]


@glossary.command("list")
@with_options(GlossaryOptions)
def list_terms(
    context: typer.Context,
    scope: ScopeOption = None,
    status: Annotated[str | None, typer.Option(help="active, draft or deprecated.")] = None,
) -> None:
    """List the senses of all terms."""
    from vocabgap.glossary.senses import SenseStatus

    output = output_of(context)
    runtime = runtime_of(context)
    require_choice("scope", scope, runtime.scopes.names)
    require_choice("status", status, SenseStatus)
    runtime.require_folder()
    loaded = runtime.load()
    note_problems(output, loaded)
    senses = [
        sense for sense in loaded.glossary if scope in {None, sense.scope} and status in {None, sense.status}
    ]
    for sense in senses:
        output.event("sense", **_fields(sense))
    output.event("result", senses=len(senses))
    if not senses:
        output.text("No terms found")
        return
    if not output.as_json:
        columns = (
            [each.surface.surface_text for each in senses],
            [each.scope for each in senses],
            [each.status.value for each in senses],
            [f"{each.confidence:.1f}" for each in senses],
            [each.definition for each in senses],
        )
        headings = ("term", "scope", "status", "confidence", "definition")
        output.text(lines_of(headings, columns, widest=_DEFINITION))
    output.text(f"\nTotal: {len(senses)} term(s)")


@glossary.command("show")
@with_options(GlossaryOptions)
def show_term(context: typer.Context, term: TermArgument) -> None:
    """Show all senses of a term, where each comes from, and who has said what of it."""
    output = output_of(context)
    runtime = existing_runtime(context)
    loaded = runtime.load()
    note_problems(output, loaded)
    name = term.removeprefix(_PREFIX)
    senses = loaded.glossary.history(name)
    if not senses:
        near = alike(name, {sense.surface.surface_text for sense in loaded.glossary}, 1)
        hint = f"did you mean '{near[0]}'?" if near else "`vocabgap glossary list` lists them"
        raise NotFoundError(f"term '{name}' was not found", hint=hint)
    answering = loaded.glossary.resolve(name)
    answers = runtime.files.answers(name)
    for sense in senses:
        provenance = sense.provenance
        output.event("sense", **_fields(sense), answers=sense in answering, provenance=provenance)
    for answer in answers:
        output.event("answer", answer=answer)
    output.event("result", senses=len(senses), answering=len(answering), answers=len(answers))
    output.text(visible(senses[0].surface.surface_text))
    for sense in senses:
        ruled_out = sense.is_active and sense not in answering
        status = f"{sense.status}, ruled out by another sense" if ruled_out else sense.status
        output.text(f"  [{sense.scope}] {visible(sense.definition)}")
        output.text(f"    {status}, confidence {sense.confidence:.1f}, {_origin(sense)}")
    for answer in answers:
        output.text(f"  {told(answer)}")


@glossary.command()
def validate(
    context: typer.Context,
    path: Annotated[Path, typer.Argument(help="A seed file, or a folder of them.")],
    config: ConfigOption = None,
    trust: TrustOption = False,
) -> None:
    """List what is wrong in seed files, and files of a folder that nothing reads; exit with 2 if any is."""
    from vocabgap.files.refusals import FileKind, file_kind
    from vocabgap.glossary.seeds import OTHER_ENDING, SEED_ENDING, read_seed, seed_scope, why_unread

    output = output_of(context)
    runtime = runtime_of(context)
    kind = file_kind(path)
    if kind is FileKind.NOTHING:
        raise NotFoundError(f"'{path}' does not exist", hint="name a seed file, or a folder of them")
    # A folder with the name of a seed file is none of seed files: it lies in the place of one.
    is_folder = kind is FileKind.FOLDER and seed_scope(path, runtime.scopes) is None
    endings = {SEED_ENDING, OTHER_ENDING}
    paths = sorted(each for each in path.iterdir() if each.suffix in endings) if is_folder else [path]
    files, unread = [], 0
    for each in paths:
        seed = read_seed(each)
        name = escape_unseen(str(each))
        if seed_scope(each, runtime.scopes) is None:
            output.note(f"{name}: nothing reads this file; {escape_unseen(why_unread(each, runtime.scopes))}")
            unread += is_folder
        files.append(
            {
                "path": str(each),
                "valid": not seed.problems,
                "term_count": len(seed.terms),
                "errors": list(map(str, seed.problems)),
            }
        )
        output.event("file", **files[-1])
        verdict = "valid" if not seed.problems else count(len(seed.problems), "error")
        output.text(f"{name}: {count(len(seed.terms), 'term')}, {verdict}")
        for problem in seed.problems:
            output.text(f"  {visible(str(problem))}")
    invalid = sum(not each["valid"] for each in files)
    output.event(
        "result", files=files, total_files=len(files), valid_files=len(files) - invalid, invalid_files=invalid
    )
    output.text(f"{count(len(files), 'file')}, {invalid:,} invalid")
    if invalid or unread:
        raise typer.Exit(ExitCode.INVALID_INPUT)


@glossary.command("import")
@with_options(GlossaryOptions)
def import_terms(
    context: typer.Context,
    source: Annotated[
        Path,
        typer.Argument(
            help="A vocabulary manifest, a CSV of terms and definitions, or another glossary's folder."
        ),
    ],
    scope: Annotated[
        str | None,
        typer.Option(
            help="The scope that all of it goes to; by default seed files keep theirs, and all else goes to"
            " that of people's own senses."
        ),
    ] = None,
) -> None:
    """Add the terms of a vocabulary, a table or another glossary."""
    from vocabgap.glossary.authoring import import_terms as imported

    output = output_of(context)
    runtime = runtime_of(context)
    outcome = imported(runtime, source, scope, read_entries=read_entries)
    for place, term in outcome.added:
        output.event("imported", scope=place, term=term)
    output.event(
        "result",
        added=len(outcome.added),
        present=outcome.present,
        drafts=outcome.drafts,
        passed_over=outcome.passed_over,
    )
    for passed_over in outcome.passed_over:
        output.note(f"not imported: {visible(passed_over)}")
    for name in outcome.drafts:
        output.note(f"a draft, since it has another meaning already: {visible(name)}")
    output.text(
        f"{escape_unseen(str(runtime.folder))}: {count(len(outcome.added), 'term')} added,"
        f" {outcome.present:,} there already"
    )


@glossary.command()
@with_options(ActingOptions)
def promote(
    context: typer.Context,
    term: TermArgument,
    scope: ScopeOption = None,
    definition: DefinitionOption = None,
    define: Annotated[
        str | None, typer.Option(help="What the term means, where no sense of it says so.")
    ] = None,
    replace: Annotated[
        bool | None,
        typer.Option(
            "--replace/--beside",
            help="Where the term means something else already: take its place, or stand beside it.",
        ),
    ] = None,
) -> None:
    """Let a draft, or a sense that was deprecated, answer what its term means."""
    from vocabgap.glossary.authoring import promote_sense

    output = output_of(context)
    runtime = existing_runtime(context)

    def is_replacing(rivals: "Sequence[TermSense]") -> bool | None:
        if replace is not None or output.as_json or not sys.stdin.isatty():
            return replace
        meanings = "; ".join(f"[{each.scope}] {visible(each.definition)}" for each in rivals)
        return Prompt().agrees(f"It means something else already: {meanings}. Take its place?") or None

    sense = promote_sense(runtime, term, scope, definition, is_replacing, define=define)
    overrides = runtime.files.overridden(sense.surface.surface_text)
    _tell_changed(output, sense, f"is active{overrides and f', in the place of {visible(overrides)}'}")


@glossary.command()
@with_options(ActingOptions)
def deprecate(
    context: typer.Context, term: TermArgument, scope: ScopeOption = None, definition: DefinitionOption = None
) -> None:
    """Let a sense count no more; drop a draft."""
    from vocabgap.glossary.authoring import deprecate_sense

    output = output_of(context)
    runtime = existing_runtime(context)
    _tell_changed(output, deprecate_sense(runtime, term, scope, definition), "is deprecated")


def read_entries(path: Path) -> list[tuple[str, str]]:
    """The entries of a vocabulary or a table, each with its name and what it means; a name may come twice."""
    from vocabgap.ranking.vocabulary import read_entries as read

    files = read(path, fields=_COLUMNS)
    return [(entry.name, entry.description) for _, _, placed in files for _, entry in placed]


def _tell_changed(output: Output, sense: "TermSense", change: str) -> None:
    term = f"{visible(sense.surface.surface_text)} [{sense.scope}]"
    output.result(f"{term} {change}: {visible(sense.definition)}", **_fields(sense))


def _fields(sense: "TermSense") -> dict[str, object]:
    return {
        "surface": sense.surface.surface_text,
        "scope": sense.scope,
        "definition": sense.definition,
        "status": sense.status,
        "confidence": sense.confidence,
    }


def _origin(sense: "TermSense") -> str:
    provenance = sense.provenance
    if provenance.timestamp is None:
        return "from its seed file, no date"
    return f"{visible(provenance.source)} by {visible(provenance.actor_id)} on {iso(provenance.timestamp)}"
