"""How images and logs are named: by as much as tells those of one run from each other."""

from typing import Final, Protocol

import polars as pl

from vocabgap.reporting.capability import Asker
from vocabgap.schema import IMAGE_KEY

_WHOSE: Final = IMAGE_KEY[:-1]


class Owned(Protocol):
    """What is of a tenant's repository."""

    @property
    def tenant_id(self) -> str:
        """Whose it is."""
        ...

    @property
    def repo_slug(self) -> str:
        """Where it is."""
        ...


def named_by(
    gaps: pl.DataFrame | None, rejects: pl.DataFrame | None, askers: tuple[Asker, ...]
) -> tuple[str, ...]:
    """Which of `tenant_id` and `repo_slug` stand before the name of an image or a log: those that vary.

    Args:
        gaps: Table `gaps`.
        rejects: Table `rejects`, whose lines are named, too.
        askers: Whose records count, for a ranking that comes without its records.
    """
    owners = pl.DataFrame([{name: getattr(each, name) for name in _WHOSE} for each in askers])
    tables = [owners] if gaps is None else [gaps] if rejects is None else [gaps, rejects]

    def varies(name: str) -> bool:
        found = [table[name] for table in tables if name in table.columns]
        return bool(found) and pl.concat(found).n_unique() > 1

    return tuple(filter(varies, _WHOSE))


def prefix(owned: Owned, named: tuple[str, ...]) -> str:
    """What stands before the name of an image or a log, the last slash included.

    Args:
        owned: The record that it is of.
        named: What `named_by` said.
    """
    return "".join(f"{getattr(owned, name)}/" for name in named)
