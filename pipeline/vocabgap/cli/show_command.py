"""`vocabgap show`: all that is known of an image, a session, a capability or a record."""

import os
import shlex
from datetime import datetime
from typing import TYPE_CHECKING, Annotated, Any

import typer

from vocabgap.cli.options import (
    CacheOption,
    ConfigOption,
    HiddenOption,
    RepositoriesOption,
    RootsArgument,
    RunOption,
    TenantsOption,
    VerifyHashOption,
    note_cache,
    note_unread,
)
from vocabgap.cli.output import Output, output_of
from vocabgap.errors import whole_number
from vocabgap.records.moments import iso, parse_now
from vocabgap.records.record import RATINGS
from vocabgap.settings.loading import resolve_settings
from vocabgap.settings.model import DEFAULT_LISTED
from vocabgap.text import count, escape_unseen, printable_name, shortened, visible

if TYPE_CHECKING:
    from vocabgap.gaplog.showing import Shown
    from vocabgap.reporting.capability import Capability

_WORDINGS = 25
_FIELDS = (
    "timestamp", "image_id", "session_id", "snapshot_hash", "missing_capability", "description", "intent",
    "workaround", "intent_category", "operations_involved", "vocabulary_used", "satisfaction", "notes",
    "tenant_id", "root_kind",
)  # fmt: skip


def show(
    context: typer.Context,
    name: Annotated[
        str,
        typer.Argument(
            help="An image, a session, a capability (identifier, label or wording) or a record.",
            show_default=False,
        ),
    ],
    roots: RootsArgument,
    kind: Annotated[
        str | None, typer.Option(help="What is meant: image, session, capability or record.")
    ] = None,
    limit: Annotated[int, typer.Option(help="Records to list; 0 lists all.")] = DEFAULT_LISTED,
    run: RunOption = None,
    tenant: TenantsOption = None,
    repo: RepositoriesOption = None,
    now: Annotated[
        str | None, typer.Option(help="The moment to count as the present; the clock's by default.")
    ] = None,
    hidden: HiddenOption = None,
    cache: CacheOption = None,
    verify_hash: VerifyHashOption = False,
    config: ConfigOption = None,
) -> None:
    """Show one image, session, capability or record with its evidence."""
    output = output_of(context)
    settings = resolve_settings(config, os.environ, {"--hidden": hidden}).settings
    moment = parse_now(now)
    most = whole_number("--limit", limit, hint="0 lists all")
    from vocabgap.gaplog.showing import show as show_named  # noqa: PLC0415 - loads Polars

    found = show_named(
        roots,
        printable_name(name),
        kind=kind,
        out=run,
        tenants=[*map(printable_name, tenant or ())],
        repositories=[*map(printable_name, repo or ())],
        now=moment,
        settings=settings,
        cache=cache,
        verify_hash=verify_hash,
        deciding="" if config is None else f"--config {shlex.quote(printable_name(str(config)))}",
    )
    _print(output, found, most)
    note_cache(output, found.cache)
    if found.scan is not None:
        note_unread(output, found.scan)
    for told in found.notes:
        output.note(escape_unseen(told))


def _print(output: Output, found: "Shown", limit: int) -> None:
    from vocabgap.cli.review_output import print_events  # noqa: PLC0415 - with the command

    listed = found.gaps.head(min(limit or found.gaps.height, found.gaps.height))
    print_events(output, listed)
    output.event(
        "result",
        kind=found.kind,
        name=found.name,
        listed=listed.height,
        totals=found.totals,
        left_out=found.left_out,
        belonging=found.belonging,
        capability=found.capability,
        told=found.lineage,
        commands=found.commands,
        places=found.places,
        superseded_by=found.superseded_by,
        supersedes=found.supersedes,
        run=None if found.run is None else printable_name(str(found.run)),
        notes=found.notes,
        cache=found.cache,
    )
    if output.as_json:
        return
    if found.kind == "record":
        output.text("\n".join(_record_lines(found)))
        return
    output.text(_heading(found) + "\n")
    if listed.height:
        output.text(_table(found, listed) + "\n")
    output.text("\n".join(_closing(found, listed.height)))


def _heading(found: "Shown") -> str:
    if found.capability is None:
        return f"{found.kind} {visible(found.name)}"
    return "\n".join(_capability_lines(found.capability, found.lineage))


def _capability_lines(capability: "Capability", told: tuple[str, ...]) -> list[str]:
    """The evidence for a capability, a line each."""
    from vocabgap.reporting.wording import day, interval, satisfaction, trend  # noqa: PLC0415 - loads Polars

    images, sessions = count(capability.images, "image"), count(capability.sessions, "session")
    spread = f"{capability.mentions:,} on {images} in {sessions}"
    lines = [
        f"{capability.capability_id}  {shortened(visible(capability.label))}",
        f"status: {capability.status}{', pinned' if capability.pinned else ''}",
        f"rank: {capability.rank:,}, with 90 % confidence {interval(capability)}",
        f"mentions: {spread}; {satisfaction(capability)}",
        f"seen: {day(capability.first_seen)} to {day(capability.last_seen)}; {trend(capability)}",
        f"category: {visible(capability.intent_category)}",
    ]
    if capability.operations:
        lines.append(f"operations: {_tallies(capability.operations)}")
    if capability.vocabulary_used:
        lines.append(f"entries used: {_tallies(capability.vocabulary_used)}")
    lines += [
        f"near: {visible(each.entry)} of {visible(each.pack)} explains {100 * each.explained:.0f} %"
        for each in capability.covered_by
    ]
    lines += [f"decided: {visible(each)}" for each in capability.decisions]
    lines += [f"lineage: {visible(each)}" for each in told]
    lines.append("worded:")
    for wording in capability.variants[:_WORDINGS]:
        lines.append(f"  {wording.mentions:,} × {shortened(visible(wording.wording))}")
    if len(capability.variants) > _WORDINGS:
        lines.append(f"  and {len(capability.variants) - _WORDINGS:,} more")
    return lines


def _tallies(found: tuple[Any, ...]) -> str:
    return ", ".join(f"{shortened(visible(each.name))} {each.mentions:,}" for each in found[:_WORDINGS])


def _table(found: "Shown", listed: Any) -> str:  # noqa: ANN401 - a frame; Polars is not loaded for its name
    from vocabgap.cli.review_output import records_table  # noqa: PLC0415 - with the command

    said = {"image": ("image",), "session": ("session",), "capability": ("capability",)}
    return records_table(listed, without=said[found.kind])


def _closing(found: "Shown", listed: int) -> list[str]:
    from vocabgap.cli.review_output import belonging_lines, left_line, totals_lines  # noqa: PLC0415 - with the command

    lines = totals_lines(found.totals) if found.totals.records else ["no record of these logs counts"]
    if found.left_out:
        lines.append("beside them: " + ", ".join(f"{n:,} {why}" for why, n in found.left_out.items()))
    if found.capability is None and found.run is not None and found.gaps.height:
        from vocabgap.cli.output import folder_told  # noqa: PLC0415 - loads Polars

        where = f"the run in {folder_told(found.run)}"
        lines += belonging_lines(found.belonging, found.gaps, where)
    if found.gaps.height > listed:
        lines.append(left_line(found.gaps.height - listed))
    return lines + _deciding(found)


def _deciding(found: "Shown") -> list[str]:
    if found.capability is None:
        return []
    if not found.commands:
        return ["to decide about it, publish it first: `vocabgap report ROOTS`"]
    return ["to decide about it:", *(f"  {each}" for each in found.commands)]


def _record_lines(found: "Shown") -> list[str]:

    row = found.gaps.row(0, named=True)
    lines = [f"record {found.name}"]
    for name in _FIELDS:
        value = row[name]
        if isinstance(value, list):
            value = ", ".join(map(str, value))
        elif isinstance(value, datetime):
            value = iso(value)
        told = "–" if value is None or value == "" else visible(str(value))
        lines.append(f"{name}: {told}" + (f" ({RATINGS[value]})" if name == "satisfaction" else ""))
    for place in found.places:
        offset = "" if place.byte_offset is None else f", byte {place.byte_offset:,}"
        where = escape_unseen(f"{place.repo_slug}/{place.source_path}:{place.line}")
        lines.append(f"line: {where}{offset}, {place.state}")
    lines += [f"superseded by: {each}" for each in found.superseded_by]
    lines += [f"supersedes: {each}" for each in found.supersedes]
    if row["capability_id"] is not None:
        lines.append(f"capability: {row['capability_id']} ({shortened(visible(row['capability']))})")
    return lines
