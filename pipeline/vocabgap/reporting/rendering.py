"""The faces of a published run, made again from its tables: by a later version, or to be shared."""

import shutil
from pathlib import Path

import polars as pl
from msgspec.structs import replace

from vocabgap.errors import InvalidInputError, StateError
from vocabgap.files.refusals import FileKind, file_kind
from vocabgap.reporting.faces import Tables, settings_of, summary_of, write_faces
from vocabgap.reporting.manifest import (
    CAPABILITIES_NAME,
    GAPS_NAME,
    GROUPS_NAME,
    LINEAGE_NAME,
    MANIFEST_NAME,
    REJECTS_NAME,
    Manifest,
    OutputFile,
    describe_output,
    read_manifest,
)
from vocabgap.reporting.publishing import published
from vocabgap.reporting.reading import read_run, read_table
from vocabgap.reporting.target import resolve_target
from vocabgap.reporting.terms import CheckedTerms
from vocabgap.reporting.writing import Published
from vocabgap.schema import GAPS, GROUPS, LINEAGE, REJECTS, Table

_HINT = "make the report again with `vocabgap report`"
_OTHERS = {GAPS_NAME: GAPS, REJECTS_NAME: REJECTS, LINEAGE_NAME: LINEAGE, GROUPS_NAME: GROUPS}


def render(
    run: str | Path,
    out: str | Path | None = None,
    *,
    share: bool = False,
    option: str = "RUN",
    terms: CheckedTerms | None = None,
) -> Published:
    """Make the report of a published run again, as this version writes it; its tables stay as they are.

    Args:
        run: The folder of the run.
        out: The folder to publish all its files in; that of the run by default.
        share: Write `share.html`, too, which may leave the machine.
        option: What names the run on the command line, for the error.
        terms: What its words mean by now; by default what the run says of them.

    Raises:
        NotFoundError: There is no run.
        InvalidInputError: What is to be shared would tell of single images.
        StateError: A file of the run is missing or damaged, or not of this version; or the run was replaced
            meanwhile; or the folder holds something that is not a run.
        AccessDeniedError: A folder may not be read or written.
    """
    place = resolve_target(run, option=option)
    manifest, capabilities = read_run(place, option=option)
    fewest = settings_of(manifest).rank.shared_from if share else None
    listed = {output.name: output for output in manifest.outputs}
    others = {name: table for name, table in _OTHERS.items() if name in listed}
    for name in (CAPABILITIES_NAME, *others):
        _require_untouched(place / name, listed.get(name))
    if share and GAPS_NAME not in others:
        raise InvalidInputError(
            f"the run in '{place}' was published without {GAPS_NAME}, which says what may be shared",
            hint="make a report of a scan",
        )
    tables = Tables(capabilities, *(_read(place, name, table, others) for name, table in _OTHERS.items()))
    target = place if out is None else resolve_target(out)
    told = manifest if terms is None else replace(manifest, terms=terms)
    summary = summary_of(tables, told)
    with published(target) as folder:
        for name in tables.files:
            shutil.copyfile(place / name, folder / name)
        made = write_faces(folder, tables, summary, told, fewest)
        _require_same(place, manifest)
    return Published(target, (*(output.name for output in made.outputs), MANIFEST_NAME), summary, made)


def _read(place: Path, name: str, table: Table, listed: dict[str, Table]) -> pl.DataFrame | None:
    return read_table(place, name, table) if name in listed else None


def _require_untouched(path: Path, listed: OutputFile | None) -> None:
    """Refuse a file that is not the one that the manifest tells of."""
    kind = file_kind(path)
    if kind is not FileKind.FILE:
        raise StateError(f"'{path}' is {kind}, not a file", hint=_HINT)
    if listed is None or describe_output(path).sha256 != listed.sha256:
        raise StateError(f"'{path}' is not the file that {MANIFEST_NAME} beside it tells of", hint=_HINT)


def _require_same(place: Path, manifest: Manifest) -> None:
    """Refuse to put an older run in the place of one that was published while this one was read."""
    if read_manifest(place) != manifest:
        raise StateError(f"the run in '{place}' was replaced meanwhile", hint="try again")
