"""A report that may leave the machine: what several images have in common, and nothing else of the logs."""

from collections.abc import Mapping
from typing import Final

import polars as pl
from msgspec.structs import replace

from vocabgap.record import OPERATION_ALIASES, UNCATEGORIZED
from vocabgap.reporting.capability import Capability, Tally, Wording
from vocabgap.reporting.common_words import CommonWords, common_words, together
from vocabgap.reporting.details import COVERED, OPEN, SETTLED, Listed
from vocabgap.reporting.summary import Category, Summary
from vocabgap.reporting.withheld import Withheld
from vocabgap.text import surface

NO_WORDING: Final = "(wording withheld)"
NO_CATEGORY: Final = "(withheld)"
_TIMES: Final = ("since", "until")


def shareable(
    summary: Summary,
    counted: pl.DataFrame,
    fewest: int,
    operation_aliases: Mapping[str, str] = OPERATION_ALIASES,
) -> Summary:
    """Reduce a summary to what may leave the machine.

    What stays of the logs are numbers, days, and words that were used on enough images of one capability.

    Args:
        summary: What the report says.
        counted: The rows of table `gaps` that count.
        fewest: How many distinct images are enough.
        operation_aliases: Lower-case name to operation, as `rank` had them.
    """
    common = common_words(counted, fewest, operation_aliases)
    kept = [each for each in summary.everything if each.capability.images >= fewest]
    shared = tuple(_shared(each, common) for each in kept)
    groups = {
        name: tuple(each.capability for each in shared if each.group == name)
        for name in (OPEN, COVERED, SETTLED)
    }
    recurring = {operations for _, operations in common.combinations}
    account, shown = summary.account, _as_many(groups[OPEN], summary.capabilities, summary.open_total)
    return replace(
        summary,
        capabilities=shown,
        open_total=len(groups[OPEN]),
        covered=_as_many(groups[COVERED], summary.covered, summary.covered_total),
        covered_total=len(groups[COVERED]),
        settled=_as_many(groups[SETTLED], summary.settled, summary.settled_total),
        settled_total=len(groups[SETTLED]),
        hidden=0,
        ties=_ties(summary.everything, shown),
        categories=_categories(shared),
        combinations=tuple(each for each in summary.combinations if together(each.operations) in recurring),
        account=None if account is None else replace(account, examples=(), rules={}),
        reclassified=None,
        selection=tuple(map(_nameless, summary.selection)),
        command="",
        deciding="",
        everything=shared,
        withheld=_withheld(summary, kept, common, fewest),
    )


def _shared(listed: Listed, common: CommonWords) -> Listed:
    """A capability without what tells of a single image."""
    item = listed.capability
    name = item.capability_id
    variants = _variants(item, common)
    categories = _kept(item.categories, name, common.categories) or (Tally(NO_CATEGORY, item.mentions),)
    return replace(
        listed,
        capability=replace(
            item,
            capability_id=f"cap-{item.rank}",  # the real one is made from a wording
            label=_label(item, variants, common),
            intent_category=min(categories, key=lambda each: each.name == UNCATEGORIZED).name,
            categories=categories,
            operations=_kept(item.operations, name, common.operations),
            vocabulary_used=_kept(item.vocabulary_used, name, common.entries),
            variants=variants,
            examples=(),
            covered_by=(),
            combinations=tuple(
                each for each in item.combinations if (name, together(each.operations)) in common.combinations
            ),
            workarounds=(),
            decisions=(),
        ),
        on_images=(),
        lineage=(),
    )


def _kept(tallies: tuple[Tally, ...], name: str, common: frozenset[tuple[str, str]]) -> tuple[Tally, ...]:
    return tuple(each for each in tallies if (name, each.name) in common)


def _variants(item: Capability, common: CommonWords) -> tuple[Wording, ...]:
    """One wording of each surface that is common, the most used first."""
    similarity = {surface(each.wording): each.similarity for each in item.variants}
    spoken = [(common.wordings.get((item.capability_id, form)), alike) for form, alike in similarity.items()]
    found = [Wording(each.wording, each.mentions, alike) for each, alike in spoken if each is not None]
    return tuple(sorted(found, key=lambda each: (-each.mentions, each.wording)))


def _label(item: Capability, variants: tuple[Wording, ...], common: CommonWords) -> str:
    own = common.wordings.get((item.capability_id, surface(item.label)))
    if own is not None:
        return own.wording
    return variants[0].wording if variants else NO_WORDING


def _as_many(
    shared: tuple[Capability, ...], shown: tuple[Capability, ...], total: int
) -> tuple[Capability, ...]:
    """As many as the report shows; all, where it shows all."""
    return shared[: len(shown)] if len(shown) < total else shared


def _ties(everything: tuple[Listed, ...], shown: tuple[Capability, ...]) -> tuple[tuple[int, int], ...]:
    """First and last rank of those that are tied with one another, where one of them is shown."""
    ranks: dict[int, list[int]] = {}
    for each in everything:
        if each.group == OPEN:
            ranks.setdefault(each.capability.tie_group, []).append(each.capability.rank)
    groups = dict.fromkeys(item.tie_group for item in shown)
    return tuple((ranks[group][0], ranks[group][-1]) for group in groups if len(ranks[group]) > 1)


def _categories(shared: tuple[Listed, ...]) -> tuple[Category, ...]:
    """Records by category, as far as the capabilities that are shown tell."""
    held: dict[str, list[int]] = {}
    for each in shared:
        for tally in each.capability.categories:
            held.setdefault(tally.name, []).append(tally.mentions)
    found = [Category(name, sum(mentions), len(mentions)) for name, mentions in held.items()]
    return tuple(sorted(found, key=lambda each: (each.name == UNCATEGORIZED, -each.mentions, each.name)))


def _nameless(narrowing: str) -> str:
    """What a report was narrowed to, without the names: an image, a session or a word of the logs."""
    kind = narrowing.partition(" ")[0]
    return narrowing if kind in _TIMES else f"a choice by {kind}"


def _withheld(summary: Summary, kept: list[Listed], common: CommonWords, fewest: int) -> Withheld:
    """What a reader does not see, in numbers."""
    items = [each.capability for each in kept]

    def rare(field: str, common_names: frozenset[tuple[str, str]]) -> int:
        return sum(
            (item.capability_id, each.name) not in common_names
            for item in items
            for each in getattr(item, field)
        )

    def is_common(item: Capability, wording: str) -> bool:
        return (item.capability_id, surface(wording)) in common.wordings

    return Withheld(
        fewest=fewest,
        capabilities=summary.total - len(items),
        mentions=summary.mentions - sum(item.mentions for item in items),
        labels=sum(not is_common(item, item.label) for item in items),
        wordings=sum(not is_common(item, each.wording) for item in items for each in item.variants),
        categories=rare("categories", common.categories),
        operations=rare("operations", common.operations),
        entries=rare("vocabulary_used", common.entries),
    )
