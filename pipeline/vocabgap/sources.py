"""Sources: which files are gap logs, and where in their objects the fields of a record lie.

`sources.toml` beside this file holds those that are known without being told; `[source.NAME]` tables of
the settings add to them or change them.
"""

import hashlib
import tomllib
from collections.abc import Mapping
from functools import cache
from importlib import resources
from typing import Any, Final

import msgspec

from vocabgap.errors import InvalidInputError
from vocabgap.record import FIELDS, LOG_NAME, GapRecord

_SHIPPED: Final = "sources.toml"
_Scalar = str | int | float | bool


class Source(msgspec.Struct, frozen=True, forbid_unknown_fields=True, kw_only=True):
    """One kind of gap log.

    Attributes:
        glob: Shell patterns of file names. One with folders (`exports/*.jsonl`) is matched from the right.
        fields: Field of the record to where its value lies: a path with dots (`properties.intent`), or a
            JSON pointer (`/properties/a.b`) where a key holds a dot; of several the first that leads to a
            value. Without any, the objects are records as they are.
        constants: Field of the record to the value it takes where the object has none.
        where: Path to the value, or the values, that an object must have there to be a gap at all.
        enabled: Whether such logs are read.
    """

    glob: str | tuple[str, ...] = ()
    fields: dict[str, str | tuple[str, ...]] = {}
    constants: dict[str, Any] = {}
    where: dict[str, _Scalar | tuple[_Scalar, ...]] = {}
    enabled: bool = True

    @property
    def globs(self) -> tuple[str, ...]:
        """The patterns; one may be given as it is."""
        return (self.glob,) if isinstance(self.glob, str) else self.glob

    @property
    def native(self) -> bool:
        """Whether the objects of such a log are records as they are."""
        return not (self.fields or self.constants or self.where)

    @property
    def digest(self) -> str:
        """SHA-256 (hex) of what decides how a line is read; empty where lines are records as they are."""
        if self.native:
            return ""
        reading = (self.fields, self.constants, self.where)
        return hashlib.sha256(msgspec.json.encode(reading)).hexdigest()


NATIVE: Final = Source(glob=LOG_NAME)


@cache
def shipped_sources() -> Mapping[str, Source]:
    """The sources that are known without being told, by name."""
    text = resources.files("vocabgap").joinpath(_SHIPPED).read_text(encoding="utf-8")
    return msgspec.convert(tomllib.loads(text)["source"], dict[str, Source])


def sources_in_force(own: Mapping[str, Source]) -> dict[str, Source]:
    """The shipped sources with one's own laid over them, key by key; one's own come first.

    Raises:
        InvalidInputError: A source cannot work: it names no file, or something that no record has.
    """
    shipped = shipped_sources()
    laid = {name: _over(shipped.get(name), source) for name, source in own.items()}
    for name, source in laid.items():
        _check(name, source)
    return {name: source for name, source in {**laid, **_without(shipped, own)}.items() if source.enabled}


def _without(sources: Mapping[str, Source], names: Mapping[str, Source]) -> dict[str, Source]:
    return {name: source for name, source in sources.items() if name not in names}


def _over(base: Source | None, own: Source) -> Source:
    if base is None:
        return own
    return Source(
        glob=own.glob or base.glob,
        fields={**base.fields, **own.fields},
        constants={**base.constants, **own.constants},
        where={**base.where, **own.where},
        enabled=own.enabled,
    )


def _check(name: str, source: Source) -> None:
    if not source.globs or not all(source.globs):
        raise InvalidInputError(
            f"[source.{name}] glob: expected the pattern of a file name",
            hint='for example glob = "gaps.jsonl"',
        )
    for table in ("fields", "constants"):
        for field in getattr(source, table):
            if field not in FIELDS:
                raise InvalidInputError(
                    f"[source.{name}.{table}] {field}: a record has no such field",
                    hint="`vocabgap schema records` lists them",
                )
    paths = [*source.where, *source.fields.values()]
    if not all(each for path in paths for each in ((path,) if isinstance(path, str) else path or ("",))):
        raise InvalidInputError(
            f"[source.{name}] a path is empty", hint="expected keys joined by dots, such as properties.intent"
        )
    for field, value in source.constants.items():
        try:
            msgspec.convert({field: value}, GapRecord)
        except msgspec.ValidationError as error:
            problem = str(error).partition(" - at ")[0]
            raise InvalidInputError(
                f"[source.{name}.constants] {field}: {problem}",
                hint="`vocabgap schema records` says what fits",
            ) from error
