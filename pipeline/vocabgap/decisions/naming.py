"""The wordings that a decision stores for a capability of a published run."""

from collections.abc import Collection, Sequence
from typing import Any

import polars as pl

from vocabgap.decisions.record import KEPT_WORDINGS, Action, Decision, Subject, one_each, subject
from vocabgap.decisions.replay import separations
from vocabgap.errors import InvalidInputError
from vocabgap.text import excerpt, form, own_form, surface, surface_of


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
