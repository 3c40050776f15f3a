"""`vocabgap report`: the main job."""

import os
from typing import Annotated

import typer

from vocabgap.cli.glossary_options import StrictnessOption, note_problems, require_strictness
from vocabgap.cli.narrowing import note_narrowing
from vocabgap.cli.options import (
    CacheOption,
    ConfigOption,
    DecisionsOption,
    EmbedderOption,
    HiddenOption,
    OptionalRootsArgument,
    RepositoriesOption,
    ShareOption,
    TenantsOption,
    ThresholdOption,
    VerifyHashOption,
    VocabularyOption,
    note_cache,
    note_embeddings,
    note_unread,
)
from vocabgap.cli.output import Output, output_of
from vocabgap.cli.ranking_output import TextFormat, print_run
from vocabgap.errors import InvalidInputError, NotFoundError, expanded
from vocabgap.records.moments import is_minutes, parse_moment, parse_now
from vocabgap.settings.loading import resolve_settings
from vocabgap.settings.model import (
    DEFAULT_MIN_IMAGES,
    DEFAULT_MIN_SESSIONS,
    DEFAULT_OUT,
    DEFAULT_TOP,
    RankBy,
    Settings,
    shared_from,
)
from vocabgap.text import escape_unseen, printable_name


def report(
    context: typer.Context,
    roots: OptionalRootsArgument = None,
    out: Annotated[
        str | None, typer.Option(help=f"Folder to publish the files in.  [default: {DEFAULT_OUT}]")
    ] = None,
    since: Annotated[
        str | None,
        typer.Option(
            help="Earliest moment: 2026-05-01, 2026-05-01T09:30:00Z, 2026-05, 7d, 2w, 24h or 30m (minutes)."
        ),
    ] = None,
    until: Annotated[str | None, typer.Option(help="Moment to stop before, written the same way.")] = None,
    image: Annotated[list[str] | None, typer.Option(help="Only this image; may be repeated.")] = None,
    category: Annotated[list[str] | None, typer.Option(help="Only this category; may be repeated.")] = None,
    module: Annotated[list[str] | None, typer.Option(help="Only this operation; may be repeated.")] = None,
    session: Annotated[list[str] | None, typer.Option(help="Only this session; may be repeated.")] = None,
    tenant: TenantsOption = None,
    repo: RepositoriesOption = None,
    threshold: ThresholdOption = None,
    embedder: EmbedderOption = None,
    vocabulary: VocabularyOption = None,
    top: Annotated[
        int | None, typer.Option(help=f"Capabilities to show; 0 shows all.  [default: {DEFAULT_TOP}]")
    ] = None,
    rank_by: Annotated[
        RankBy | None, typer.Option(help=f"What to count first.  [default: {RankBy.MENTIONS.value}]")
    ] = None,
    min_images: Annotated[
        int | None,
        typer.Option(
            help=f"Leave out of the report what is on fewer images.  [default: {DEFAULT_MIN_IMAGES}]"
        ),
    ] = None,
    min_sessions: Annotated[
        int | None,
        typer.Option(
            help=f"Leave out of the report what is in fewer sessions.  [default: {DEFAULT_MIN_SESSIONS}]"
        ),
    ] = None,
    text_format: Annotated[
        TextFormat, typer.Option("--format", help="How to print the ranking.")
    ] = TextFormat.TABLE,
    reclassify: Annotated[
        bool | None,
        typer.Option(
            "--reclassify",
            help="Give records without a category one, from their operations or their words.",
            show_default=False,
        ),
    ] = None,
    now: Annotated[
        str | None, typer.Option(help="The moment to count as the present; the clock's by default.")
    ] = None,
    decisions: DecisionsOption = None,
    glossary: Annotated[
        str | None,
        typer.Option(help="Folder of a glossary: nothing is published whose words it does not settle."),
    ] = None,
    strictness: StrictnessOption = None,
    resume: Annotated[
        str | None,
        typer.Option(help="Publish a report that waits under this token, without making it again."),
    ] = None,
    previous: Annotated[
        str | None,
        typer.Option(help="Folder of the run to compare with; the one that is replaced by default, or none."),
    ] = None,
    share: ShareOption = False,
    hidden: HiddenOption = None,
    cache: CacheOption = None,
    verify_hash: VerifyHashOption = False,
    config: ConfigOption = None,
    quiet: Annotated[bool, typer.Option("--quiet", "-q", help="Print nothing but errors.")] = False,
) -> None:
    """Rank what is missing, and publish the report."""
    output = output_of(context)
    output.quiet = quiet
    loaded = resolve_settings(
        config,
        os.environ,
        {
            "--out": (("report", "out"), out),
            "--threshold": (("cluster", "threshold"), threshold),
            "--embedder": (("cluster", "embedder"), embedder),
            "--vocabulary": (("vocabulary", "paths"), vocabulary or None),
            "--top": (("report", "top"), top),
            "--rank-by": (("rank", "by"), rank_by),
            "--min-images": (("rank", "min_images"), min_images),
            "--min-sessions": (("rank", "min_sessions"), min_sessions),
            "--decisions": (("decisions", "file"), decisions),
            "--hidden": (("ingest", "hidden"), hidden),
            "--glossary": (("glossary", "folder"), glossary),
            "--strictness": (("glossary", "strictness"), strictness),
            "--reclassify": (("categories", "reclassify"), reclassify),
        },
    )
    if resume is not None:
        _resume(output, loaded.settings, resume, out, strictness)
        return
    if not roots:
        raise InvalidInputError("Missing argument 'ROOTS...'.", hint="see `vocabgap report --help`")
    if decisions is not None and not os.path.lexists(expanded(decisions)):
        raise NotFoundError(f"decisions file '{decisions}' does not exist", hint="check --decisions")
    fewest = None
    if share:  # one image, where it is asked for, is refused; where it is the default nothing was asked for
        fewest = loaded.settings.rank.shared_from if min_images is None else shared_from(min_images)
    moment = parse_now(now)
    earliest = None if since is None else parse_moment(since, moment, name="--since")
    latest = None if until is None else parse_moment(until, moment, name="--until")
    # What follows loads Polars and SciPy; bad arguments are told without waiting for that.
    from vocabgap.ingest import Selection  # noqa: PLC0415
    from vocabgap.pipeline import STAGES, run  # noqa: PLC0415

    selection = Selection(
        since=earliest,
        until=latest,
        images=tuple(map(printable_name, image or ())),
        categories=tuple(map(printable_name, category or ())),
        modules=tuple(map(printable_name, module or ())),
        sessions=tuple(map(printable_name, session or ())),
        tenants=tuple(map(printable_name, tenant or ())),
        repositories=tuple(map(printable_name, repo or ())),
    )
    if loaded.settings.glossary.folder is not None:
        from vocabgap.glossary.runtime import configured_runtime  # noqa: PLC0415 - few reports have one

        note_problems(output, configured_runtime(loaded.settings.glossary).load())
    with output.progress(STAGES) as listener:
        made = run(
            roots,
            settings=loaded.settings,
            selection=selection,
            now=moment,
            config=loaded.path,
            cache=cache,
            verify_hash=verify_hash,
            previous=previous,
            share=fewest,
            on_stage=listener,
        )
    print_run(output, made, text_format)
    note_cache(output, made.scan.cache)
    note_embeddings(output, made.embeddings)
    note_unread(output, made.scan)
    note_narrowing(output, made, minutes=[text for text in (since, until) if text and is_minutes(text)])
    for decision in made.ruling.dormant:
        output.note(escape_unseen(f"nothing to decide about in these logs: {decision.told}"))
    outgrown = {*made.ranked["outgrown"].explode()}
    for decision in made.ruling.active:
        if decision.decision_id in outgrown:
            output.note(escape_unseen(f"holds no longer, for its group has outgrown it: {decision.told}"))


def _resume(output: Output, settings: Settings, token: str, out: str | None, strictness: str | None) -> None:
    """Publish a report that waits."""
    from vocabgap.glossary.report_check import publish_kept  # noqa: PLC0415 - loads Polars

    made = publish_kept(settings.glossary, token, out=out, strictness=require_strictness(strictness))
    place = printable_name(str(made.folder))
    output.event("result", folder=place, files=made.files)
    output.text(f"{escape_unseen(place)}: published, {made.summary.told}")
