"""What names stand for: which capability a record belongs to, and which thing a person means by a name.

Both come from the published run, without clustering anything.
"""

from collections.abc import Callable
from dataclasses import dataclass
from datetime import datetime
from enum import StrEnum
from pathlib import Path
from typing import TYPE_CHECKING, Final, NamedTuple, Self

import polars as pl

from vocabgap.errors import InvalidInputError, NotFoundError, StateError, alike
from vocabgap.model.lookup import find_capability
from vocabgap.model.record import FEWEST_DIGITS
from vocabgap.model.tables import CAPABILITY_PREFIX, GROUPS, LINEAGE, LISTED, PRESENT, phrase
from vocabgap.reporting.manifest import GROUPS_NAME, LINEAGE_NAME, read_manifest
from vocabgap.reporting.published_run import read_groups, read_run, read_table, resolve_target
from vocabgap.text import excerpt, surface, visible

if TYPE_CHECKING:
    from vocabgap.pipeline import Analysis

_RUN_OPTION: Final = "--run"
_SHOWN: Final = 5  # of those that fit where only one should
_MOST: Final = 120  # characters of a name in an error
_HEX: Final = frozenset("0123456789abcdef")


@dataclass(frozen=True, repr=False)
class PublishedCapabilities:
    """The capabilities of a run: of a published one, or of one that was computed and has no folder."""

    ranked: pl.DataFrame  # table `capabilities`
    groups: pl.DataFrame  # table `groups`, this run's own surfaces alone
    relations: pl.DataFrame  # table `lineage`
    folder: Path | None = None
    now: datetime | None = None  # what counts as its present
    narrowed_to: str = ""  # in words

    @classmethod
    def read(cls, folder: str | Path) -> Self:
        """Those of a published run, from its Parquet files."""
        place = resolve_target(folder, option=_RUN_OPTION)
        manifest, ranked = read_run(folder, option=_RUN_OPTION)
        groups = read_groups(folder) if (place / GROUPS_NAME).exists() else _groups_of(ranked)
        has_lineage = (place / LINEAGE_NAME).exists()
        relations = read_table(place, LINEAGE_NAME, LINEAGE) if has_lineage else LINEAGE.empty()
        return cls(ranked, groups, relations, place, manifest.now, manifest.narrowed_to)

    @classmethod
    def of_analysis(cls, analysis: "Analysis") -> Self:
        """Those that were computed, where nothing is published."""
        groups = analysis.lineage.groups.filter(run=PRESENT)
        return cls(analysis.ranked, groups, analysis.lineage.relations)


def published_in(out: str | Path | None, default: str) -> tuple[PublishedCapabilities | None, str]:
    """The capabilities of the run in a folder, if there is one, and why there are none though a run is there.

    The folder that was asked for must hold a run that can be read, the default one need not.
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
    """Table `listed`: records and their column `category`, with the capability that each asks for."""
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
    """Table `groups` as far as the wordings of the capabilities tell; other columns are null."""
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


class Kind(StrEnum):
    """What a name may be of."""

    IMAGE = "image"
    SESSION = "session"
    CAPABILITY = "capability"
    RECORD = "record"


class Candidate(NamedTuple):
    """Something that may be meant."""

    kind: Kind
    name: str
    tenant_id: str = ""  # empty where that does not tell it from others, as the repository
    repo_slug: str = ""
    label: str = ""

    def __str__(self) -> str:
        """The candidate in an error."""
        label = f" ({_shown(self.label)})" if self.label else ""
        repository = f" in repository {_shown(self.repo_slug)}" if self.repo_slug else ""
        tenant = f" of tenant {_shown(self.tenant_id)}" if self.tenant_id else ""
        return f"{self.kind} {_shown(self.name)}{label}{repository}{tenant}"


def find(
    name: str,
    gaps: pl.DataFrame,
    known: Callable[[], PublishedCapabilities],
    *,
    is_known: bool,
    kind: Kind | None,
) -> Candidate:
    """The one thing of table `gaps`, or the one capability, that a person means.

    A whole name wins over the label or a wording of a capability, and over the beginning of an identifier.
    Where the capabilities are not known yet, to ask for them has a ranking made.
    """
    wanted = name.strip()
    may_be_capability = kind in {None, Kind.CAPABILITY}
    candidates = [each for each in _whole(name, wanted, gaps) if kind in {None, each.kind}]
    if may_be_capability and (is_known or (not candidates and wanted.startswith(CAPABILITY_PREFIX))):
        candidates += _identified(wanted, known())
    if not candidates:
        candidates = _begun(wanted, gaps) if kind in {None, Kind.RECORD} else []
        # What has to be computed first is asked for last.
        candidates += _called(wanted, known()) if may_be_capability and (is_known or not candidates) else []
    if len(candidates) == 1:
        return candidates[0]
    if candidates:
        raise _ambiguous(wanted, candidates)
    raise _nothing(wanted, gaps, known() if may_be_capability else None, kind)


def _whole(name: str, wanted: str, gaps: pl.DataFrame) -> list[Candidate]:
    """The images, sessions and records of exactly this name, else those that are shown so."""
    candidates = _of_images_and_sessions(gaps, [name, wanted])
    if not candidates:
        names = pl.concat([gaps["image_id"], gaps["session_id"].rename("image_id")]).drop_nulls().unique()
        candidates = _of_images_and_sessions(gaps, [each for each in names if visible(each) == wanted])
    if not gaps.filter(record_id=wanted.casefold()).is_empty():
        candidates.append(Candidate(Kind.RECORD, wanted.casefold()))
    return candidates


def _of_images_and_sessions(gaps: pl.DataFrame, names: list[str]) -> list[Candidate]:
    """Those of some names; they say whose they are where there is more than one."""
    candidates = []
    for kind, *columns in (
        (Kind.IMAGE, "image_id", "tenant_id", "repo_slug"),
        (Kind.SESSION, "session_id", "tenant_id"),
    ):
        rows = gaps.filter(pl.col(columns[0]).is_in(names)).select(columns).unique()
        ordered = rows.sort(*columns[1:], columns[0]).rows()
        candidates += [Candidate(kind, *(row if len(ordered) > 1 else row[:1])) for row in ordered]
    return candidates


def _identified(wanted: str, known: PublishedCapabilities) -> list[Candidate]:
    """The capability of this identifier, or what became of the one that had it."""
    rows = known.ranked.filter(capability_id=wanted)
    if rows.is_empty():
        became = known.relations.filter(previous_id=wanted)["capability_id"].drop_nulls().unique()
        regrouped = known.groups.filter(group_id=wanted)["capability_id"].drop_nulls().unique()
        ids = became if len(became) else regrouped
        rows = known.ranked.filter(pl.col("capability_id").is_in(ids.implode()))
    pairs = rows.sort("rank").select("capability_id", "label").iter_rows()
    return [Candidate(Kind.CAPABILITY, identifier, label=label) for identifier, label in pairs]


def _called(wanted: str, known: PublishedCapabilities) -> list[Candidate]:
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


def _ambiguous(wanted: str, candidates: list[Candidate]) -> InvalidInputError:
    several = ", ".join(str(each) for each in candidates[:_SHOWN])
    more = f" and {len(candidates) - _SHOWN:,} more" if len(candidates) > _SHOWN else ""
    kinds = {each.kind for each in candidates}
    if len(kinds) > 1:
        hint = "say which with --kind"
    elif kinds <= {Kind.IMAGE, Kind.SESSION}:
        hint = "say whose with --repo or --tenant"
    else:
        hint = "name one of them in full"
    return InvalidInputError(f"'{_shown(wanted)}' may be several things: {several}{more}", hint=hint)


def _nothing(
    wanted: str, gaps: pl.DataFrame, known: PublishedCapabilities | None, kind: Kind | None
) -> NotFoundError:
    names: dict[str, None] = {}
    if kind in {None, Kind.IMAGE}:
        names |= dict.fromkeys(gaps["image_id"].drop_nulls().unique().sort())
    if kind in {None, Kind.SESSION}:
        names |= dict.fromkeys(gaps["session_id"].drop_nulls().unique().sort())
    if known is not None:
        names |= dict.fromkeys(known.ranked["label"])
        names |= dict.fromkeys(known.ranked["capability_id"])
    near = alike(wanted, names)
    what = "image, session, capability or record" if kind is None else str(kind)
    proposed = ", ".join(f"'{_shown(each)}'" for each in near)
    hint = f"the nearest: {proposed}" if near else "`vocabgap list` says what was logged"
    if known is not None and known.narrowed_to:
        hint += f"; the run was narrowed to {known.narrowed_to}; --run names another one"
    return NotFoundError(f"no {what} is called '{_shown(wanted)}'", hint=hint)


def _shown(text: str) -> str:
    return excerpt(text, _MOST)
