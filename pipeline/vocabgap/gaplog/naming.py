"""Which image, session, capability or record a person means by a name."""

import difflib
from collections.abc import Callable, Iterable
from dataclasses import dataclass
from datetime import datetime
from enum import StrEnum
from pathlib import Path
from typing import Final, NamedTuple, Self

import polars as pl

from vocabgap.errors import InvalidInputError, NotFoundError, StateError
from vocabgap.pipeline import Analysis
from vocabgap.ranking.identity import ID_PREFIX, PRESENT
from vocabgap.ranking.lookup import find_capability
from vocabgap.reporting.manifest import GROUPS_NAME, LINEAGE_NAME, read_manifest
from vocabgap.reporting.published_run import read_groups, read_run, read_table, resolve_target
from vocabgap.schema import GROUPS, LINEAGE, LISTED, phrase
from vocabgap.text import shortened, surface, visible

# Which capability a wording belongs to, as far as a published run or an analysis says so.


RUN_OPTION = "--run"


@dataclass(frozen=True, repr=False)
class Known:
    """The capabilities of a run.

    Attributes:
        ranked: Table `capabilities`.
        groups: Table `groups`, this run's own surfaces alone.
        relations: Table `lineage`.
        folder: Where the run is published; null for one that is not.
        now: The moment that it counts as its present; null where nothing was published.
        narrowed_to: What it was narrowed to, in words; empty for everything.
    """

    ranked: pl.DataFrame
    groups: pl.DataFrame
    relations: pl.DataFrame
    folder: Path | None = None
    now: datetime | None = None
    narrowed_to: str = ""

    @classmethod
    def of_run(cls, folder: str | Path) -> Self:
        """What a published run says.

        Raises:
            NotFoundError: There is none.
            StateError: It is damaged, or of another version.
            AccessDeniedError: It may not be read.
        """
        place = resolve_target(folder, option=RUN_OPTION)
        manifest, ranked = read_run(folder, option=RUN_OPTION)
        groups = read_groups(folder) if (place / GROUPS_NAME).exists() else _groups_of(ranked)
        known = (place / LINEAGE_NAME).exists()
        relations = read_table(place, LINEAGE_NAME, LINEAGE) if known else LINEAGE.empty()
        return cls(ranked, groups, relations, place, manifest.now, manifest.narrowed_to)

    @classmethod
    def of_analysis(cls, made: Analysis) -> Self:
        """What an analysis found."""
        groups = made.lineage.groups.filter(run=PRESENT)
        return cls(made.ranked, groups, made.lineage.relations)

    def belonging(self, records: pl.DataFrame) -> pl.DataFrame:
        """The records with `capability_id` and `capability`.

        Args:
            records: Columns of table `records`.
        """
        named = records.with_columns(phrase().alias("phrase"))
        spoken = named.select("phrase").unique().drop_nulls()
        surfaces = pl.Series("surface", [surface(text) for text in spoken["phrase"]], dtype=pl.String)
        groups = self.groups.select("surface", "capability_id", capability="label")
        by_phrase = spoken.with_columns(surfaces).join(groups, on="surface", how="left").drop("surface")
        return named.join(by_phrase, on="phrase", how="left", maintain_order="left").drop("phrase")


def known_in(out: str | Path | None, default: str) -> tuple[Known | None, str]:
    """What the run in a folder says, if there is one.

    Args:
        out: The folder that was asked for; null for the default one, which may hold none.
        default: The default one.

    Returns:
        The capabilities, and why there are none though a run is there.

    Raises:
        NotFoundError: A folder was asked for that holds no run.
        StateError: It was asked for, and is damaged or of another version.
        AccessDeniedError: It may not be read.
    """
    if out is not None:
        return Known.of_run(out), ""
    try:
        if read_manifest(resolve_target(default, option=RUN_OPTION)) is None:
            return None, ""
        return Known.of_run(default), ""
    except NotFoundError:
        return None, ""
    except StateError as error:
        return None, f"no capability is named: {error.message}"


def listed(records: pl.DataFrame, known: Known | None) -> pl.DataFrame:
    """Table `listed` of records and their column `category`."""
    if known is None:
        nothing = pl.lit(None, pl.String)
        return records.with_columns(nothing.alias("capability_id"), nothing.alias("capability")).select(
            LISTED.names
        )
    return known.belonging(records).select(LISTED.names)


def _groups_of(ranked: pl.DataFrame) -> pl.DataFrame:
    """Table `groups` as far as the wordings of the capabilities tell; other columns are null."""
    rows = {
        surface(variant["wording"]): (identifier, label)
        for identifier, label, variants in ranked.select("capability_id", "label", "variants").iter_rows()
        for variant in variants
    }
    told = [
        {"run": PRESENT, "surface": spoken, "capability_id": identifier, "label": label}
        for spoken, (identifier, label) in rows.items()
    ]
    return pl.DataFrame(told, schema=GROUPS.schema)


FEWEST_DIGITS: Final = 4  # of the identity of a record: fewer may be meant as another name
_ALIKE: Final = 3
_NEAR: Final = 0.5  # ratio of matching characters (difflib) from which on a name is proposed
_SHOWN: Final = 5  # of those that fit where only one should
_MOST: Final = 120  # characters of a name in an error
_HEX: Final = frozenset("0123456789abcdef")


class Kind(StrEnum):
    """What a name may be of."""

    IMAGE = "image"
    SESSION = "session"
    CAPABILITY = "capability"
    RECORD = "record"


class Candidate(NamedTuple):
    """Something that may be meant.

    Attributes:
        kind: What it is.
        name: Its name, whole.
        tenant_id: Whose it is; empty where that does not tell it from others.
        repo_slug: The repository that it is in, likewise.
        label: What it is about; empty where the name says it.
    """

    kind: Kind
    name: str
    tenant_id: str = ""
    repo_slug: str = ""
    label: str = ""

    @property
    def told(self) -> str:
        """The candidate in an error."""
        label = f" ({_shown(self.label)})" if self.label else ""
        repository = f" in repository {_shown(self.repo_slug)}" if self.repo_slug else ""
        tenant = f" of tenant {_shown(self.tenant_id)}" if self.tenant_id else ""
        return f"{self.kind} {_shown(self.name)}{label}{repository}{tenant}"


def find(
    name: str, gaps: pl.DataFrame, known: Callable[[], Known], *, is_known: bool, kind: Kind | None
) -> Candidate:
    """What a person means.

    A whole name wins over the label or a wording of a capability, and over the beginning of an identifier.

    Args:
        name: The name of an image or a session, as it was written or as it is shown; the identifier of a
            capability, its label or a wording; the identity of a record, or its first four digits or more.
        gaps: Table `gaps`.
        known: Gives the capabilities; asked only where they may be meant.
        is_known: Whether that costs nothing.
        kind: What is meant; null for any.

    Raises:
        NotFoundError: Nothing is called so.
        InvalidInputError: Several things are.
    """
    wanted = name.strip()
    may_be_capability = kind in {None, Kind.CAPABILITY}
    found = [each for each in _whole(name, wanted, gaps) if kind in {None, each.kind}]
    if may_be_capability and (is_known or (not found and wanted.startswith(ID_PREFIX))):
        found += _identified(wanted, known())
    if not found:
        found = _begun(wanted, gaps) if kind in {None, Kind.RECORD} else []
        # What has to be computed first is asked for last.
        found += _called(wanted, known()) if may_be_capability and (is_known or not found) else []
    if len(found) == 1:
        return found[0]
    if found:
        raise _ambiguous(wanted, found)
    raise _nothing(wanted, gaps, known() if may_be_capability else None, kind)


def _whole(name: str, wanted: str, gaps: pl.DataFrame) -> list[Candidate]:
    """The images, sessions and records of exactly this name, else those that are shown so."""
    names = list(dict.fromkeys((name, wanted)))
    found = _images(gaps, names) + _sessions(gaps, names)
    if not found:
        found = _images(gaps, _shown_as(wanted, gaps["image_id"]))
        found += _sessions(gaps, _shown_as(wanted, gaps["session_id"]))
    records = gaps.filter(record_id=wanted.casefold())
    if records.height:
        found.append(Candidate(Kind.RECORD, str(records["record_id"][0])))
    return found


def _images(gaps: pl.DataFrame, names: list[str]) -> list[Candidate]:
    rows = gaps.filter(pl.col("image_id").is_in(names)).select("image_id", "tenant_id", "repo_slug").unique()
    return _told_apart(Kind.IMAGE, list(rows.sort("tenant_id", "repo_slug", "image_id").iter_rows()))


def _sessions(gaps: pl.DataFrame, names: list[str]) -> list[Candidate]:
    rows = gaps.filter(pl.col("session_id").is_in(names)).select("session_id", "tenant_id").unique()
    ordered = rows.sort("tenant_id", "session_id").iter_rows()
    return _told_apart(Kind.SESSION, [(session, tenant, "") for session, tenant in ordered])


def _told_apart(kind: Kind, rows: list[tuple[str, str, str]]) -> list[Candidate]:
    """Candidates that say whose they are where there is more than one."""
    if len(rows) == 1:
        return [Candidate(kind, rows[0][0])]
    return [Candidate(kind, *row) for row in rows]


def _shown_as(wanted: str, names: pl.Series) -> list[str]:
    return [each for each in names.drop_nulls().unique() if visible(each) == wanted]


def _identified(wanted: str, known: Known) -> list[Candidate]:
    """The capability of this identifier, or what became of the one that had it."""
    rows = known.ranked.filter(capability_id=wanted)
    if rows.is_empty():
        became = known.relations.filter(previous_id=wanted)["capability_id"].drop_nulls().unique()
        regrouped = known.groups.filter(group_id=wanted)["capability_id"].drop_nulls().unique()
        ids = became if len(became) else regrouped
        rows = known.ranked.filter(pl.col("capability_id").is_in(ids.implode()))
    pairs = rows.sort("rank").select("capability_id", "label").iter_rows()
    return [Candidate(Kind.CAPABILITY, identifier, label=label) for identifier, label in pairs]


def _called(wanted: str, known: Known) -> list[Candidate]:
    """The capability with this label or wording, or an identifier that begins so."""
    try:
        row = find_capability(known.ranked, wanted).row(0, named=True)
    except NotFoundError:
        return []
    return [Candidate(Kind.CAPABILITY, row["capability_id"], label=row["label"])]


def _begun(wanted: str, gaps: pl.DataFrame) -> list[Candidate]:
    """The records whose identity begins so."""
    digits = wanted.casefold()
    if len(digits) < FEWEST_DIGITS or not _HEX.issuperset(digits):
        return []
    names = gaps.filter(pl.col("record_id").str.starts_with(digits))["record_id"].unique().sort()
    return [Candidate(Kind.RECORD, each) for each in names]


def _ambiguous(wanted: str, found: list[Candidate]) -> InvalidInputError:
    told = ", ".join(each.told for each in found[:_SHOWN])
    more = f" and {len(found) - _SHOWN:,} more" if len(found) > _SHOWN else ""
    kinds = {each.kind for each in found}
    if len(kinds) > 1:
        hint = "say which with --kind"
    elif kinds <= {Kind.IMAGE, Kind.SESSION}:
        hint = "say whose with --repo or --tenant"
    else:
        hint = "name one of them in full"
    return InvalidInputError(f"'{_shown(wanted)}' may be several things: {told}{more}", hint=hint)


def _nothing(wanted: str, gaps: pl.DataFrame, known: Known | None, kind: Kind | None) -> NotFoundError:
    names: dict[str, None] = {}
    if kind in {None, Kind.IMAGE}:
        names |= dict.fromkeys(gaps["image_id"].drop_nulls().unique().sort())
    if kind in {None, Kind.SESSION}:
        names |= dict.fromkeys(gaps["session_id"].drop_nulls().unique().sort())
    if known is not None:
        names |= dict.fromkeys(known.ranked["label"])
        names |= dict.fromkeys(known.ranked["capability_id"])
    near = nearest(wanted, names)
    what = "image, session, capability or record" if kind is None else str(kind)
    proposed = ", ".join(f"'{_shown(each)}'" for each in near)
    hint = f"the nearest: {proposed}" if near else "`vocabgap list` says what was logged"
    if known is not None and known.narrowed_to:
        hint += f"; the run was narrowed to {known.narrowed_to}; --run names another one"
    return NotFoundError(f"no {what} is called '{_shown(wanted)}'", hint=hint)


def nearest(wanted: str, names: Iterable[str]) -> list[str]:
    """The names that hold what was asked for, else those that are spelt like it, three at most."""
    folded = wanted.casefold()
    by_folded = {each.casefold(): each for each in names}
    holding = [each for key, each in by_folded.items() if folded and folded in key]
    alike = difflib.get_close_matches(folded, by_folded, _ALIKE, _NEAR)
    return holding[:_ALIKE] or [by_folded[each] for each in alike]


def _shown(text: str) -> str:
    return shortened(visible(text), _MOST)
