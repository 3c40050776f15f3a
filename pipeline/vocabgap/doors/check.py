"""`check`: list the bad lines of the logs."""

from collections import Counter
from collections.abc import Iterable, Mapping
from datetime import datetime
from itertools import chain, pairwise
from typing import TYPE_CHECKING, Annotated, Any, Final

from vocabgap.doors.verbs import WHOSE, Answer, Event, OverRoots, Panel, filtered, option, selection_of, verb
from vocabgap.errors import ExitCode, InvalidInputError, StateError
from vocabgap.model.moments import parse_moment, parse_now
from vocabgap.text import count

if TYPE_CHECKING:
    from pathlib import Path

    import polars as pl

    from vocabgap.doors.cli.calls import Call
    from vocabgap.ingest.baseline import KnownLine
    from vocabgap.ingest.scanning import Scan

_BASELINE: Final = "baseline"
_SINCE: Final = "since"


class Check(OverRoots):
    """What `check` takes."""

    repairs: Annotated[
        bool,
        option("List the repairs of lines that were kept, in logs but not in corpora.", panel=Panel.WRITE),
    ] = False
    since: Annotated[
        str | None,
        option(
            "Count only bad lines written since then: 2026-05-01, 2026-05-01T09:30:00Z, 2026-05, 7d, 2w, 24h"
            " or 30m (minutes).",
            panel=Panel.SELECT,
        ),
    ] = None
    now: Annotated[
        str | None,
        option("The moment that --since counts back from; the clock's by default.", panel=Panel.SELECT),
    ] = None
    write_baseline: Annotated[
        bool, option("Write all bad lines to the file of --baseline, and succeed.", panel=Panel.WRITE)
    ] = False


@verb(filtered(Check, *WHOSE), settings=("ingest", "check"))
def check(call: "Call", request: Check) -> Answer:
    """List the bad lines of the logs; exit with 2 if there are any."""
    moment = parse_now(request.now)
    earliest = None if request.since is None else parse_moment(request.since, moment, name="--since")
    settings, roots = call.settings, call.roots(request.roots)
    known = () if request.write_baseline else call.known_lines()
    # The following imports load Polars.
    from vocabgap.ingest.accounting import images_of_several_folders
    from vocabgap.ingest.log_lines import repaired_lines
    from vocabgap.ingest.scanning import scan

    selection = selection_of(request)
    scanned = scan(
        roots, settings=settings.scan, tenants=selection.tenants, repositories=selection.repositories
    )
    call.require_owners(scanned, selection)
    summary, file = scanned.summary, settings.check.baseline
    if request.write_baseline:
        _write_baseline(scanned, file)
    is_expected = file is not None or request.since is not None
    missing = _missing_logs(call, scanned, roots, is_expected=is_expected)
    rejects = _judged(scanned, known, earliest)
    counted = rejects.filter(rejects["ignored"].is_null())
    repaired = repaired_lines(roots, settings.scan) if request.repairs and summary.repairs else []
    several = images_of_several_folders(scanned.gaps).to_dicts()
    ignored = Counter(rejects["ignored"])
    fails = counted.height and not request.write_baseline
    return Answer(
        events=chain(
            (Event("reject", row) for row in rejects.iter_rows(named=True)),
            (Event("mended", {"mended": line}) for line in repaired),
        ),
        result={
            "summary": summary,
            "looked_for": [glob for source in settings.sources.values() for glob in source.globs],
            "counted": counted.height,
            "images_of_several_folders": several,
        },
        view="check.txt.j2",
        shown={
            "rejects": counted.to_dicts(),
            "repaired": repaired,
            "lists_repairs": request.repairs,
            "names_roots": len({*scanned.files["repo_slug"], *scanned.rejects["repo_slug"]}) > 1,
            "baseline": file,
            "earliest": earliest,
            "in_baseline": ignored[_BASELINE],
            "too_old": ignored[_SINCE],
            "written": rejects.height if request.write_baseline else None,
        },
        notes=[*missing, *_gone(len(known) - ignored[_BASELINE], file), *_pretty_printed(counted.to_dicts())],
        exit_code=ExitCode.INVALID_INPUT if fails else ExitCode.DONE,
    )


def _write_baseline(scanned: "Scan", file: str | None) -> None:
    """Write the bad lines to the baseline. Without any log the old baseline stays."""
    from vocabgap.ingest.baseline import write_baseline

    if file is None:
        raise InvalidInputError("--write-baseline: no file is named", hint="name it with --baseline FILE")
    if not (scanned.summary.files or scanned.summary.unreadable):
        raise StateError(f"no log was found, so '{file}' stays as it is", hint="name the roots of the logs")
    write_baseline(file, scanned.rejects)


def _judged(scanned: "Scan", known: "tuple[KnownLine, ...]", earliest: datetime | None) -> "pl.DataFrame":
    """Return table `rejects` with the reason why a line does not count, `baseline` or `since`, or null."""
    import polars as pl

    from vocabgap.ingest.baseline import is_known, is_older

    rejects = scanned.rejects
    why = [pl.when(is_known(rejects, known)).then(pl.lit(_BASELINE))]
    if earliest is not None:
        why.append(pl.when(is_older(rejects, scanned.gaps, earliest)).then(pl.lit(_SINCE)))
    return rejects.with_columns(ignored=pl.coalesce(why))


def _gone(gone: int, file: str | None) -> Iterable[str]:
    if gone:
        are = "is" if gone == 1 else "are"
        yield f"{count(gone, 'bad line')} of '{file}' {are} no longer there; --write-baseline writes it anew"


def _missing_logs(
    call: "Call", scanned: "Scan", roots: "list[Path]", *, is_expected: bool
) -> tuple[str, ...]:
    """Return what to do if there is no log; raise StateError if logs are expected."""
    from vocabgap.ingest.discovery import looked_for

    if scanned.summary.files or scanned.summary.unreadable:
        return ()
    where = ", ".join(map(str, roots))
    problem = f"no log was found in {where}: looked for {looked_for(call.settings.sources)}"
    hint = (
        "name a folder above the logs, or a log itself; --hidden searches names that start with a dot,"
        " and a [source.NAME] table in vocabgap.toml makes logs of other names known"
    )
    if is_expected:
        raise StateError(problem, hint=hint)
    return problem, f"  {hint}"


def _pretty_printed(rejects: list[dict[str, Any]]) -> Iterable[str]:
    """Explain many bad lines at once, if each is a piece of a JSON object."""

    def place(row: Mapping[str, Any]) -> tuple[object, ...]:
        return row["repo_slug"], row["source_path"]

    logs = {
        "/".join(map(str, place(row)))
        for row, following in pairwise(rejects)
        if (row["raw"] or "").strip() == "{"
        and place(row) == place(following)
        and row["line"] + 1 == following["line"]
    }
    if logs:
        others = f" and {count(len(logs) - 1, 'other log')}" if len(logs) > 1 else ""
        yield f"this looks like pretty-printed JSON: {min(logs)}{others}"
        yield "  one object per line is expected, as `jq -c .` writes it"
