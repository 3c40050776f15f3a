"""Where a group is asked for by a name that only a report knows, since people have decided about it."""

from collections.abc import Iterator
from contextlib import contextmanager
from typing import TYPE_CHECKING, Final

from vocabgap.errors import NotFoundError, VocabgapError
from vocabgap.text import shortened, visible

if TYPE_CHECKING:
    from vocabgap.clustering import Clusters

_SHOWN: Final = 5  # groups to name
_AS_FOUND: Final = "these are the groups as found, before what was decided about them"


@contextmanager
def telling_of_decisions(found: "Clusters", name: str, run: str) -> Iterator[None]:
    """Have a group that is not found say which groups the capability of that name is made of.

    Args:
        found: The groups.
        name: What was asked for.
        run: The folder of the published run whose capabilities are looked at.

    Raises:
        NotFoundError: As within, with a hint that says so.
    """
    try:
        yield
    except NotFoundError as error:
        groups = _groups_of(found, name, run)
        hint = f"{error.hint}; {_AS_FOUND}"
        if groups:
            more = f" and {len(groups) - _SHOWN:,} more" if len(groups) > _SHOWN else ""
            named = ", ".join(f"'{shortened(visible(label))}'" for label in groups[:_SHOWN])
            known = f"the capability of that name, in '{run}', is of {named}{more}"
            hint = f"{_AS_FOUND}; {known}: show one of these"
        raise NotFoundError(error.message, hint=hint) from error


def _groups_of(found: "Clusters", name: str, run: str) -> list[str]:
    """The labels of the groups that a capability of a run is made of, the most mentioned first."""
    from vocabgap.ranking import find_capability  # noqa: PLC0415 - loads Polars
    from vocabgap.reporting import read_run  # noqa: PLC0415

    try:
        (variants,) = find_capability(read_run(run, option="--run")[1], name)["variants"].to_list()
    except VocabgapError:
        return []
    held = found.wordings.filter(found.wordings["wording"].is_in([each["wording"] for each in variants]))
    groups = found.clusters.filter(found.clusters["cluster"].is_in(held["cluster"].unique().implode()))
    return groups.sort("mentions", "label", descending=[True, False])["label"].to_list()
