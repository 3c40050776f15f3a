"""Decisions about a published run: the wordings that they store, and the capabilities that they change.

A preview of the changes needs only the tables of the run: no log is read again. The numbers are estimates if
a model grouped the run and a split does not say where some wordings go. These go to the side with similar
words.
"""

from collections.abc import Collection, Iterable, Sequence
from datetime import datetime
from typing import Any, Final, NamedTuple

import msgspec
import polars as pl

from vocabgap.clustering.grouping import Clusters, known_clusters
from vocabgap.decisions.record import KEPT_WORDINGS, Action, Decision, Subject, one_each, subject
from vocabgap.decisions.replay import followed, separations
from vocabgap.errors import InvalidInputError
from vocabgap.files.parts import Parts
from vocabgap.ingest.accounting import FILTERED
from vocabgap.model.capability import SETTLED
from vocabgap.model.settings import Settings
from vocabgap.model.tables import Apart, Constraint
from vocabgap.ranking.capabilities import rank_parts
from vocabgap.ranking.identity import identify
from vocabgap.ranking.statuses import authored_effects
from vocabgap.text import excerpt, form, own_form, surface, surface_of

_FACTS: Final = ("label", "rank", "mentions", "status")


class Effect(msgspec.Struct, frozen=True):
    """A capability that decisions change, before and after.

    A new capability has no facts before. A merged one has none after, but the label of its successor.
    """

    capability_id: str
    previous_label: str | None
    label: str | None
    previous_rank: int | None
    rank: int | None
    previous_mentions: int | None
    mentions: int | None
    previous_status: str | None
    status: str | None
    merged_into: str | None = None
    is_estimate: bool = False

    @property
    def leaves(self) -> bool:
        """Tell whether it leaves the ranking, because it is dismissed or authored."""
        return self.status in SETTLED and self.previous_status not in SETTLED


class _State(NamedTuple):
    clusters: Clusters
    rows: dict[str, dict[str, Any]]  # by identifier
    capability_of: dict[str, str]  # of each wording


class PublishedGroups:
    """The groups of a published run, to try decisions on; from its tables `gaps` and `groups`."""

    def __init__(
        self, gaps: Parts, groups: pl.DataFrame, settings: Settings, now: datetime, *, by_meaning: bool
    ) -> None:
        is_record = pl.col("counted") | (pl.col("why_not") == FILTERED).fill_null(value=False)
        self._lines = gaps.then(lambda part: part.with_columns(recorded=is_record))
        self._records = self._lines.then(lambda part: part.filter("recorded"))
        self._groups, self._settings, self._now, self._by_meaning = groups, settings, now, by_meaning
        self._known = dict(groups.select("surface", "capability_id").iter_rows())
        by_capability = groups.group_by("capability_id", maintain_order=True).agg("surface")
        self._names: dict[str, list[str]] = dict(by_capability.iter_rows())
        group_of = groups.select("surface", "group_id").iter_rows()
        group_by_surface = {surface_of(name): group for name, group in group_of}
        self._proposed = known_clusters(self._records, group_by_surface, settings.cluster)

    def effects(self, earlier: Collection[Decision], new: Collection[Decision]) -> tuple[Effect, ...]:
        """Return the capabilities that new decisions change, by rank; merged ones last."""
        before, after = self._after(earlier), self._after((*earlier, *new))
        names = {decision.decision_id for decision in new}
        splits = [split for split in after.clusters.constraints if isinstance(split, Apart)]
        is_estimate = self._by_meaning and any(
            split.name in names and self._is_open(split, before) for split in splits
        )
        effects = []
        for name in {**before.rows, **after.rows}:
            old, row = before.rows.get(name, {}), after.rows.get(name, {})
            if all(old.get(fact) == row.get(fact) for fact in ("label", "mentions", "status", "pinned")):
                continue
            facts = {fact: row.get(fact) for fact in _FACTS}
            facts |= {f"previous_{fact}": old.get(fact) for fact in _FACTS}
            into = None
            if not row:
                wording = next(wording for wording, own in before.capability_of.items() if own == name)
                into = after.rows.get(after.capability_of[wording], {}).get("label")
            effects.append(Effect(name, **facts, merged_into=into, is_estimate=is_estimate))
        return tuple(
            sorted(effects, key=lambda effect: (effect.rank is None, effect.rank or effect.previous_rank))
        )

    def _after(self, decisions: Iterable[Decision]) -> _State:
        effective, clusters = followed(self._proposed, decisions, self._as_published)
        settings = self._settings.rank
        identities = identify(
            self._proposed,
            clusters,
            baseline=self._groups,
            verdicts=effective.verdicts,
            effects=authored_effects(
                clusters.wordings, effective.verdicts, self._records, self._now, settings.window_weeks
            ),
        ).identities
        ranked = rank_parts(self._lines, clusters, settings, now=self._now, identities=identities)
        rows = ranked.select("capability_id", "pinned", *_FACTS).to_dicts()
        wordings = clusters.wordings.join(identities, on="cluster").sort(-pl.col("mentions"), "wording")
        owners = dict(wordings.select("wording", "capability_id").iter_rows())
        return _State(clusters, {row["capability_id"]: row for row in rows}, owners)

    def _as_published(self, constraint: Constraint) -> Constraint:
        """Return a split with all wordings that each side had in the run."""
        if not isinstance(constraint, Apart):
            return constraint
        sides = [self._known.get(name) for name in (constraint.anchor, constraint.leaving[0])]
        if sides[0] == sides[1]:
            return constraint
        stays, leaves = (self._names.get(side or "", []) for side in sides)
        return constraint._replace(
            leaving=tuple(dict.fromkeys((*constraint.leaving, *leaves))),
            staying=tuple(dict.fromkeys((*constraint.staying, *stays))),
        )

    @staticmethod
    def _is_open(split: Apart, before: _State) -> bool:
        """Tell whether a split leaves wordings of its group undecided."""
        place = dict(before.clusters.wordings.select("surface", "cluster").iter_rows())
        group = place.get(split.anchor, place.get(surface_of(split.anchor)))
        named = {*split.surfaces, *split.staying}
        return any(own == group and name not in named for name, own in place.items())


class Naming:
    """A capability of a run (`row` of table `capabilities`) under the name that a person gave.

    `groups` is table `groups` of the run, and `active` are the decisions so far.
    """

    def __init__(
        self, name: str, row: dict[str, Any], groups: pl.DataFrame, active: Sequence[Decision]
    ) -> None:
        self._name, self.row, self._active = name, row, active
        self._groups = groups.filter(capability_id=row["capability_id"])
        self._wordings = [str(variant["wording"]) for variant in row["variants"]]

    def subject(self, most: int | None = KEPT_WORDINGS) -> Subject:
        """Return the capability as a decision stores it.

        If people merged groups, the wordings of one of them come first: of the group with the name, else of
        the one whose identifier is kept. If the merge is undone, the decision stays with that group. If a
        split is newer than the run, only the wordings of one side belong to the capability.
        """
        row, separated = self.row, separations(self._active)
        forms = {wording: form(wording, separated) for wording in self._wordings}
        moved = {
            form(wording, separated): split.decision_id
            for split in self._active
            if split.action is Action.SPLIT
            and split.capability is not None
            and split.capability.capability_id == row["capability_id"]
            for wording in split.wordings
        }
        side = moved.get(form(self._name, separated))
        forms = {wording: own for wording, own in forms.items() if moved.get(own) == side} or forms
        group_of = dict(self._groups.select("surface", "group_id").iter_rows())
        label_of = dict(self._groups.select("group_id", "group_surface").iter_rows())

        def group(name: str) -> str | None:
            return group_of.get(name, group_of.get(surface_of(name)))

        there = {*map(group, forms.values())}
        likely = (group(surface(self._name)), row["capability_id"])
        meant = next((name for name in likely if name in there), None)

        def distance(wording: str) -> tuple[bool, bool, bool]:
            own = forms[wording]
            return group(own) != meant, surface_of(own) != label_of.get(meant), wording != row["label"]

        ordered = sorted(forms, key=distance)
        label_form = form(row["label"], separated)
        is_elsewhere = meant is not None and (group(label_form) or meant) != meant
        is_elsewhere = is_elsewhere or moved.get(label_form) != side
        return subject(row["capability_id"], ordered[0] if is_elsewhere else row["label"], ordered, most)

    def staying(self, leaving: Collection[str], *, is_exact: bool) -> tuple[Subject, tuple[str, ...]]:
        """Return the capability without the wordings that leave, and all that stay if `is_exact`.

        The named wording comes first. Other wordings with the surface of a leaving wording stay in three
        cases: if `is_exact`, if the name is one of them, or if nothing else would stay.
        """
        whole = self.subject(None)
        gone, gone_forms = {*map(surface, leaving)}, {*map(own_form, leaving)}
        others = [wording for wording in whole.wordings if surface(wording) not in gone]
        others.sort(key=lambda wording: surface(wording) != surface(self._name))
        alike = [
            name for name in self._wordings if surface(name) in gone and own_form(name) not in gone_forms
        ]
        if not is_exact and others:
            alike = [name for name in alike if own_form(name) == own_form(self._name)]
        is_named = own_form(self._name) in map(own_form, alike)
        staying = [*alike, *others] if is_named else [*others[:1], *alike, *others[1:]]
        if not staying:
            problem = f"no wording of '{excerpt(whole.label)}' would stay"
            raise InvalidInputError(problem, hint="name only the wordings to split off")
        kept = subject(whole.capability_id, whole.label, staying)
        return kept, one_each(staying) if is_exact else ()
