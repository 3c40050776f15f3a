"""Find what a name stands for: an image, a session, a record, or a capability of the published run."""

from contextlib import suppress
from dataclasses import dataclass
from datetime import datetime
from enum import StrEnum
from pathlib import Path
from typing import Final, NamedTuple, Self

import polars as pl

from vocabgap.errors import AccessDeniedError, InvalidInputError, NotFoundError, StateError, alike
from vocabgap.model.lookup import find_capability
from vocabgap.model.record import FEWEST_DIGITS, UNCATEGORIZED, fold_category
from vocabgap.model.settings import Settings
from vocabgap.model.tables import GROUPS, LINEAGE, LISTED, PRESENT, phrase
from vocabgap.reporting.manifest import GROUPS_NAME, LINEAGE_NAME, read_manifest
from vocabgap.reporting.published_run import read_groups, read_run, read_table, resolve_target
from vocabgap.text import excerpt, surface, visible

_RUN_OPTION: Final = "--run"
_SHOWN: Final = 5  # candidates that an error names
_MOST: Final = 120  # characters of a name in an error


@dataclass(frozen=True, repr=False)
class PublishedCapabilities:
    """The capabilities of a published run."""

    ranked: pl.DataFrame  # table `capabilities`
    groups: pl.DataFrame  # table `groups`, only the surfaces of this run
    relations: pl.DataFrame  # table `lineage`
    folder: Path
    now: datetime  # the present of the run
    narrowed_to: str

    @classmethod
    def read(cls, folder: str | Path) -> Self:
        """Read the Parquet files of a run."""
        place = resolve_target(folder, option=_RUN_OPTION)
        manifest, ranked = read_run(folder, option=_RUN_OPTION)
        groups = read_groups(folder) if (place / GROUPS_NAME).exists() else _groups_of(ranked)
        has_lineage = (place / LINEAGE_NAME).exists()
        relations = read_table(place, LINEAGE_NAME, LINEAGE) if has_lineage else LINEAGE.empty()
        return cls(ranked, groups, relations, place, manifest.now, manifest.narrowed_to)


def published_in(out: str | Path | None, default: str) -> tuple[PublishedCapabilities | None, str]:
    """Return the capabilities of the run in a folder, and why a run that is there cannot be used.

    Raises:
        VocabgapError: The folder was named and holds no readable run.
    """
    if out is not None:
        return PublishedCapabilities.read(out), ""
    try:
        if read_manifest(resolve_target(default, option=_RUN_OPTION)) is None:
            return None, ""
        return PublishedCapabilities.read(default), ""
    except NotFoundError:
        return None, ""
    except StateError as error:
        return None, f"no capability is named: {error.message}"


def with_capability(records: pl.DataFrame, published: PublishedCapabilities | None) -> pl.DataFrame:
    """Return table `listed`: records with a `category`, and the capability of each."""
    if published is None:
        unknown = pl.lit(None, pl.String)
        return records.with_columns(capability_id=unknown, capability=unknown).select(LISTED.names)
    phrases = records.with_columns(phrase().alias("phrase"))
    distinct = phrases.select("phrase").unique().drop_nulls()
    surfaces = pl.Series("surface", [surface(text) for text in distinct["phrase"]], dtype=pl.String)
    groups = published.groups.select("surface", "capability_id", capability="label")
    by_phrase = distinct.with_columns(surfaces).join(groups, on="surface", how="left").drop("surface")
    return phrases.join(by_phrase, on="phrase", how="left", maintain_order="left").select(LISTED.names)


def _groups_of(ranked: pl.DataFrame) -> pl.DataFrame:
    """Return table `groups` as far as the wordings of the capabilities tell; other columns are null."""
    capability_of = {
        surface(variant["wording"]): (identifier, label)
        for identifier, label, variants in ranked.select("capability_id", "label", "variants").iter_rows()
        for variant in variants
    }
    rows = [
        {"run": PRESENT, "surface": text, "capability_id": identifier, "label": label}
        for text, (identifier, label) in capability_of.items()
    ]
    return pl.DataFrame(rows, schema=GROUPS.schema)


def unknown_category(name: str, settings: Settings, run: str | Path) -> str:
    """Return a note on a category that neither the settings nor a published run has, if it is one.

    Args:
        name: The category of a logged record.
        settings: The settings.
        run: The folder of the run, if there is one.
    """
    category = fold_category(name, settings.category_aliases)
    if category in settings.known_categories:
        return ""
    with suppress(NotFoundError, StateError, AccessDeniedError):
        _, ranked = read_run(run, option=_RUN_OPTION)
        if category in ranked["categories"].explode().struct["name"]:
            return ""
    known = settings.known_categories - {UNCATEGORIZED}
    near = alike(category, sorted(known)) or sorted(known)
    return (
        f"category '{excerpt(category)}' is not known here; the nearest: {', '.join(near)};"
        " `known` under [categories] in vocabgap.toml adds to them"
    )


class Kind(StrEnum):
    """What a name may stand for."""

    IMAGE = "image"
    SESSION = "session"
    CAPABILITY = "capability"
    RECORD = "record"


class Candidate(NamedTuple):
    """Something that a name may stand for."""

    kind: Kind
    name: str
    tenant_id: str = ""  # here and below: empty if it distinguishes nothing
    repo_slug: str = ""
    label: str = ""

    def __str__(self) -> str:
        """Describe the candidate in an error."""
        label = f" ({_shown(self.label)})" if self.label else ""
        repository = f" in repository {_shown(self.repo_slug)}" if self.repo_slug else ""
        tenant = f" of tenant {_shown(self.tenant_id)}" if self.tenant_id else ""
        return f"{self.kind} {_shown(self.name)}{label}{repository}{tenant}"


def find(
    name: str, gaps: pl.DataFrame, published: PublishedCapabilities | None, kind: Kind | None
) -> Candidate:
    """Return the one thing of table `gaps`, or the one published capability, that a person means.

    A whole name has precedence over a label, a wording, and the beginning of an identifier.

    Raises:
        NotFoundError: Nothing has this name; the error names the nearest.
        InvalidInputError: Several things have it; the error names them.
    """
    wanted = name.strip()
    candidates = _whole(name, wanted, gaps) + _identified(wanted, published)
    candidates = [candidate for candidate in candidates if kind in {None, candidate.kind}]
    if not candidates:
        candidates = _begun(wanted, gaps) + _called(wanted, published)
        candidates = [candidate for candidate in candidates if kind in {None, candidate.kind}]
    if len(candidates) == 1:
        return candidates[0]
    raise _ambiguous(wanted, candidates) if candidates else _unknown(wanted, gaps, published, kind)


def _whole(name: str, wanted: str, gaps: pl.DataFrame) -> list[Candidate]:
    """Return the images, sessions and records of exactly this name, else of a name that looks like it."""
    candidates = _images_and_sessions(gaps, [name, wanted])
    if not candidates:
        names = pl.concat([gaps["image_id"], gaps["session_id"].rename("image_id")]).drop_nulls().unique()
        candidates = _images_and_sessions(gaps, [name for name in names if visible(name) == wanted])
    if not gaps.filter(record_id=wanted.casefold()).is_empty():
        candidates.append(Candidate(Kind.RECORD, wanted.casefold()))
    return candidates


def _images_and_sessions(gaps: pl.DataFrame, names: list[str]) -> list[Candidate]:
    candidates = []
    for kind, *columns in (
        (Kind.IMAGE, "image_id", "tenant_id", "repo_slug"),
        (Kind.SESSION, "session_id", "tenant_id"),
    ):
        rows = gaps.filter(pl.col(columns[0]).is_in(names)).select(columns).unique()
        ordered = rows.sort(*columns[1:], columns[0]).rows()
        candidates += [Candidate(kind, *(row if len(ordered) > 1 else row[:1])) for row in ordered]
    return candidates


def _identified(wanted: str, published: PublishedCapabilities | None) -> list[Candidate]:
    """Return the capability of an identifier, or the capabilities that followed the one that had it."""
    if published is None:
        return []
    rows = published.ranked.filter(capability_id=wanted)
    if rows.is_empty():
        became = published.relations.filter(previous_id=wanted)["capability_id"].drop_nulls().unique()
        regrouped = published.groups.filter(group_id=wanted)["capability_id"].drop_nulls().unique()
        ids = became if len(became) else regrouped
        rows = published.ranked.filter(pl.col("capability_id").is_in(ids.implode()))
    pairs = rows.sort("rank").select("capability_id", "label").iter_rows()
    return [Candidate(Kind.CAPABILITY, identifier, label=label) for identifier, label in pairs]


def _called(wanted: str, published: PublishedCapabilities | None) -> list[Candidate]:
    """Return the capability with this label or wording, or whose identifier begins so."""
    if published is None:
        return []
    try:
        row = find_capability(published.ranked, wanted).row(0, named=True)
    except NotFoundError:
        return []
    return [Candidate(Kind.CAPABILITY, row["capability_id"], label=row["label"])]


def _begun(wanted: str, gaps: pl.DataFrame) -> list[Candidate]:
    """Return the records whose identity begins so."""
    digits = wanted.casefold()
    if len(digits) < FEWEST_DIGITS:
        return []
    names = gaps.filter(pl.col("record_id").str.starts_with(digits))["record_id"].unique().sort()
    return [Candidate(Kind.RECORD, name) for name in names]


def _ambiguous(wanted: str, candidates: list[Candidate]) -> InvalidInputError:
    several = ", ".join(str(candidate) for candidate in candidates[:_SHOWN])
    more = f" and {len(candidates) - _SHOWN:,} more" if len(candidates) > _SHOWN else ""
    kinds = {candidate.kind for candidate in candidates}
    if len(kinds) > 1:
        hint = "choose one with --kind"
    elif kinds <= {Kind.IMAGE, Kind.SESSION}:
        hint = "choose one with --repo or --tenant"
    else:
        hint = "name one of them in full"
    return InvalidInputError(f"'{_shown(wanted)}' may be several things: {several}{more}", hint=hint)


def _unknown(
    wanted: str, gaps: pl.DataFrame, published: PublishedCapabilities | None, kind: Kind | None
) -> NotFoundError:
    columns = {Kind.IMAGE: gaps["image_id"], Kind.SESSION: gaps["session_id"]}
    names = [
        name
        for of, column in columns.items()
        if kind in {None, of}
        for name in column.drop_nulls().unique().sort()
    ]
    if published is not None and kind in {None, Kind.CAPABILITY}:
        names += [*published.ranked["label"], *published.ranked["capability_id"]]
    near = ", ".join(f"'{_shown(name)}'" for name in alike(wanted, dict.fromkeys(names)))
    hint = f"the nearest: {near}" if near else "`vocabgap list` prints what was logged"
    if published is None and kind in {None, Kind.CAPABILITY}:
        hint += "; capabilities are known once `vocabgap report ROOTS` has published a run"
    elif published is not None and published.narrowed_to:
        hint += f"; the run was narrowed to {published.narrowed_to}; --run names another one"
    what = "image, session, capability or record" if kind is None else str(kind)
    return NotFoundError(f"no {what} is called '{_shown(wanted)}'", hint=hint)


def _shown(text: str) -> str:
    return excerpt(text, _MOST)
