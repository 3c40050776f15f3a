"""What a run was asked for: the command line that makes it again, and what its manifest says of it."""

import os
import shlex
from collections.abc import Iterable
from datetime import datetime
from pathlib import Path
from typing import Final

import msgspec
from msgspec.structs import replace

from vocabgap.errors import expanded
from vocabgap.extensions import extensions
from vocabgap.model.loading import CONFIG_NAME
from vocabgap.model.moments import iso
from vocabgap.model.selection import Selection
from vocabgap.model.settings import (
    AUTO,
    DEFAULT_DECISIONS,
    DEFAULT_OUT,
    MINILM,
    NO_EMBEDDER,
    Settings,
    known_flags,
)
from vocabgap.ranking.vocabulary import VocabularyFile
from vocabgap.reporting.manifest import Compared, Decided, Manifest, Model, Parameters
from vocabgap.reporting.published_run import NO_PREVIOUS
from vocabgap.text import escape_unseen, printable_name

_EMBEDDERS: Final = (AUTO, MINILM, NO_EMBEDDER)


class Reproduction(msgspec.Struct, frozen=True):
    """What a run was asked for, and what of it a command line must name."""

    roots: tuple[Path, ...]  # absolute
    settings: Settings
    selection: Selection
    now: datetime  # the moment the run counts as its present
    config: Path | None = None
    model: Model | None = None
    vocabulary: tuple[VocabularyFile, ...] = ()
    decided: Decided | None = None
    previous: Path | None = None  # the folder of the run before, if one was named, or `none`
    compared: Compared | None = None  # that run, or the one that is replaced
    engine: str | None = None  # which no command names, for the report is the same on any

    @property
    def command(self) -> str:
        """A command to run in the folder that holds the roots; empty where no command can say the settings.

        Paths are relative to that folder and the output folder is left to its default, so that the command,
        and the report that quotes it, are the same on every machine.
        """
        if self.config is None and self._beyond_flags():
            return ""
        words = ["vocabgap", "report", *sorted({self._argument(root) for root in self.roots})]
        if self.config is not None:
            words += ["--config", self._argument(self.config.resolve())]
        elif (self._home / CONFIG_NAME).exists():
            words += ["--config", os.devnull]  # what lies there was not in force
        words += ["--hidden"] * self.settings.ingest.hidden
        words += ["--reclassify"] * self.settings.categories.reclassify
        words += ["--allow-empty"] * self.settings.report.allow_empty
        words += self._narrowing()
        words += self._files()
        words += [] if self.previous is None else ["--previous", self._previous]
        for flag, value, default in self._settings():
            # A flag wins over the settings file, so beside one every value is said.
            if self.config is not None or value != default:
                words += [flag, str(value)]
        words += ["--now", iso(self.now)]
        return _line(words)

    @property
    def deciding(self) -> str:
        """The options with which `vocabgap decide` follows the same settings, in the same folder."""
        words = [] if self.config is None else ["--config", self._argument(self.config.resolve())]
        file = self._argument(self.settings.decisions.file)
        names_file = self.decided is not None or self.settings.decisions.file != DEFAULT_DECISIONS
        if names_file and file != DEFAULT_DECISIONS:
            words += ["--decisions", file]
        return _line(words)

    def described_in(self, manifest: Manifest) -> Manifest:
        """A manifest that says what the run was asked for."""
        compared = self.compared
        if compared is not None and self.previous is not None:
            compared = replace(compared, folder=self._previous)
        rendering = manifest.rendering and replace(manifest.rendering, deciding=self.deciding)
        return replace(
            manifest,
            command=self.command,
            parameters=Parameters(self._without_places(), self.selection),
            model=self.model,
            engine=self.engine,
            vocabulary=self.vocabulary,
            decisions=self.decided,
            compared=compared,
            rendering=rendering,
        )

    def _without_places(self) -> Settings:
        """The settings without where files went and lie: that may name a person."""
        ours = self.settings
        for slice_ in extensions():
            table = getattr(ours, slice_.name, None)
            if table is not None:
                named = {key: _name(getattr(table, key)) for key in slice_.written}
                ours = ours.with_table(replace(table, **named))
        return replace(
            ours,
            ingest=replace(ours.ingest, roots=()),
            report=replace(ours.report, out=DEFAULT_OUT),
            cluster=replace(ours.cluster, embedder=self._embedder),
            vocabulary=replace(ours.vocabulary, paths=tuple(filter(None, map(_name, ours.vocabulary.paths)))),
            decisions=replace(ours.decisions, file=DEFAULT_DECISIONS),
            check=replace(ours.check, baseline=_name(ours.check.baseline)),
        )

    @property
    def _embedder(self) -> str | None:
        named = self.settings.cluster.embedder
        if named in _EMBEDDERS:
            return named
        return None if self.model is None else self.model.name

    @property
    def _home(self) -> Path:
        """The folder that the commands run in."""
        return Path(os.path.commonpath([root.parent for root in self.roots]))

    @property
    def _previous(self) -> str:
        nothing = self.previous == Path(NO_PREVIOUS)
        return NO_PREVIOUS if nothing else self._beside(str(self.previous), NO_PREVIOUS)

    def _files(self) -> list[str]:
        """The files beside the logs that the report was made from."""
        settings, embedder = self.settings, self.settings.cluster.embedder or NO_EMBEDDER
        # What `auto` finds is up to the machine.
        used = (NO_EMBEDDER if self.model is None else MINILM) if embedder == AUTO else embedder
        words = ["--embedder", used if used in _EMBEDDERS else self._beside(used, *_EMBEDDERS)]
        for path in settings.vocabulary.paths:
            words += ["--vocabulary", self._argument(path)]
        if self.decided is not None:
            words += ["--decisions", self._argument(settings.decisions.file)]
        words += self._gates()
        return words

    def _argument(self, path: str | Path) -> str:
        """A path as seen from the home folder, taken neither for an option nor for a person's home.

        Only its name where the two have nothing but the root of the file system in common: the rest is of no
        use on another machine, and may name a person.
        """
        place, home = expanded(path).resolve(), self._home
        apart = os.path.commonpath([place, home]) == place.anchor and place.parent != home
        name = printable_name(place.name if apart else os.path.relpath(place, home))
        return f"./{name}" if name.startswith(("-", "~")) else name

    def _beside(self, path: str | Path, *words: str) -> str:
        """A path that is not taken for a word that the option knows."""
        place = self._argument(path)
        return f"./{place}" if place in words else place

    def _narrowing(self) -> list[str]:
        given = self.selection.as_given()
        return [word for filtered, values in given for value in values for word in (filtered.option, value)]

    def _gates(self) -> list[str]:
        """Return the options of the slices that check the report."""
        words: list[str] = []
        for slice_ in extensions():
            table = getattr(self.settings, slice_.name, None)
            if slice_.gate is None or table is None or slice_.settings is None or table == slice_.settings():
                continue
            for name, flag in known_flags().items():
                value = getattr(table, flag.key) if flag.table == slice_.name else None
                if value is not None:
                    words += [name, self._argument(value) if flag.key in slice_.written else str(value)]
        return words

    def _beyond_flags(self) -> bool:
        """Whether something is set that only a settings file can say."""
        ours, default = self.settings, Settings()
        rest = ours
        for flag in known_flags().values():
            table = replace(getattr(rest, flag.table), **{flag.key: flag.default})
            rest = replace(rest, **{flag.table: table})
        for slice_ in extensions():
            if slice_.settings is not None and slice_.gate is None:
                rest = rest.with_table(slice_.settings())
        return replace(rest, ingest=replace(rest.ingest, roots=())) != default

    def _settings(self) -> list[tuple[str, object, object]]:
        """The options whose values stand for themselves, with their defaults."""
        return [
            (name, getattr(getattr(self.settings, flag.table), flag.key), flag.default)
            for name, flag in known_flags().items()
            if flag.table == "rank" or name in {"--threshold", "--top"}
        ]


def _line(words: Iterable[str]) -> str:
    return " ".join(escape_unseen(shlex.quote(word)) for word in words)


def _name(path: str | None) -> str | None:
    """The name that a path ends in."""
    return None if path is None else printable_name(expanded(path).resolve().name)
