"""The request of a run, the command that repeats it, and its part of the manifest."""

import os
import shlex
from collections.abc import Iterable
from datetime import datetime
from pathlib import Path
from typing import Final

import msgspec
from msgspec.structs import replace

from vocabgap.errors import expanded, full_address
from vocabgap.extensions import extensions
from vocabgap.files.refusals import current_folder
from vocabgap.ingest.roots import origin_of
from vocabgap.model.loading import CONFIG_NAME
from vocabgap.model.moments import iso
from vocabgap.model.selection import Selection
from vocabgap.model.settings import (
    AUTO,
    DEFAULT_DECISIONS,
    DEFAULT_OUT,
    MINILM,
    NO_EMBEDDER,
    Setting,
    Settings,
    known_flags,
    known_settings,
)
from vocabgap.model.sources import several
from vocabgap.ranking.vocabulary import VocabularyFile
from vocabgap.reporting.manifest import Compared, Decided, Manifest, Model, Parameters
from vocabgap.reporting.published_run import NO_PREVIOUS
from vocabgap.text import escape_unseen, printable_name

_EMBEDDERS: Final = (AUTO, MINILM, NO_EMBEDDER)
# Options that do not change a report, or that the command leaves at their default.
_LEFT_OUT: Final = {"--out", "--fail-on", "--baseline"}


class Reproduction(msgspec.Struct, frozen=True):
    """The request of a run."""

    roots: tuple[Path, ...]  # absolute
    settings: Settings
    selection: Selection
    now: datetime  # the present moment of the run
    config: Path | None = None
    model: Model | None = None
    vocabulary: tuple[VocabularyFile, ...] = ()
    decided: Decided | None = None
    previous: Path | None = None  # the named folder of the run before, or `none`
    compared: Compared | None = None  # that run, or the replaced run
    engine: str | None = None  # not in the command: every engine makes the same report

    @property
    def command(self) -> str:
        """Return the command that repeats the run; empty if options cannot express the settings.

        It runs in the folder that contains the roots. Paths are relative to it, and the output folder is the
        default. So the command, and the report that quotes it, are the same on every machine.
        """
        if self.config is None and self._beyond_flags():
            return ""
        words = ["vocabgap", "report", *sorted({self._argument(root) for root in self.roots})]
        words += ["--engine", "spark"] * any(map(full_address, words))  # it may need --remote, too
        if self.config is not None:
            words += ["--config", self._argument(self.config.resolve())]
        elif (self._home / CONFIG_NAME).exists():
            words += ["--config", os.devnull]  # its settings were not used
        words += self.selection.words()
        for option, flag in known_flags().items():
            words += self._option(option, flag)
        words += [] if self.previous is None else ["--previous", self._previous]
        return _line([*words, "--now", iso(self.now)])

    def _option(self, option: str, flag: Setting) -> list[str]:
        """Return the words of an option; none if its default has the same effect."""
        table = getattr(self.settings, flag.table)
        value = getattr(table, flag.key)
        slice_ = next((each for each in extensions() if each.name == flag.table), None)
        if slice_ is not None and (slice_.gate is None or table == type(table)()):
            return []
        if isinstance(value, bool):
            return [option] * value
        if option == "--embedder":
            # The result of `auto` depends on the machine.
            automatic = NO_EMBEDDER if self.model is None else MINILM
            used = automatic if value == AUTO else value or NO_EMBEDDER
            values = [used if used in _EMBEDDERS else self._beside(used, *_EMBEDDERS)]
        elif value is None or option in _LEFT_OUT or (option == "--decisions" and self.decided is None):
            values = []
        elif isinstance(value, dict):
            values = [f"{key}={each}" for key, paths in value.items() for each in several(paths)]
        elif isinstance(value, tuple):
            values = [self._argument(path) for path in value]
        elif option == "--decisions" or (slice_ is not None and flag.written):
            values = [self._argument(value)]
        else:
            # An option overrides the settings file, so name every value if there is a file.
            is_needless = self.config is None and slice_ is None and value == flag.default
            values = [] if is_needless else [str(value)]
        return [word for each in values for word in (option, each)]

    @property
    def deciding(self) -> str:
        """Return the options that make `vocabgap decide` use the same settings in the same folder."""
        words = [] if self.config is None else ["--config", self._argument(self.config.resolve())]
        file = self._argument(self.settings.decisions.file)
        names_file = self.decided is not None or self.settings.decisions.file != DEFAULT_DECISIONS
        if names_file and file != DEFAULT_DECISIONS:
            words += ["--decisions", file]
        return _line(words)

    def described_in(self, manifest: Manifest) -> Manifest:
        """Return the manifest with the request of the run."""
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
        """Return the settings without folders, which may contain the name of a person."""
        ours = self.settings
        embedder, name = ours.cluster.embedder, None if self.model is None else self.model.name
        for each in known_settings():
            if each.written:
                ours = _with(ours, each, _name(getattr(getattr(ours, each.table), each.key)))
        return replace(
            ours,
            ingest=replace(ours.ingest, roots=()),
            report=replace(ours.report, out=DEFAULT_OUT),
            cluster=replace(ours.cluster, embedder=embedder if embedder in _EMBEDDERS else name),
            vocabulary=replace(ours.vocabulary, paths=tuple(filter(None, map(_name, ours.vocabulary.paths)))),
            decisions=replace(ours.decisions, file=DEFAULT_DECISIONS),
        )

    @property
    def _home(self) -> Path:
        """Return the folder to run the commands in: the nearest one that contains all roots."""
        folders = [root.parent for root in self.roots if not origin_of(root)]
        return Path(os.path.commonpath(folders or [current_folder()]))

    @property
    def _previous(self) -> str:
        nothing = self.previous == Path(NO_PREVIOUS)
        return NO_PREVIOUS if nothing else self._beside(str(self.previous), NO_PREVIOUS)

    def _argument(self, path: str | Path) -> str:
        """Return a path relative to the folder of the commands; it never looks like an option or `~`.

        Return only the name if both share just the root of the file system: other folders may contain the
        name of a person.
        """
        place, home = (current_folder() / expanded(path)).resolve(), self._home
        if origin := origin_of(place):
            return origin
        apart = os.path.commonpath([place, home]) == place.anchor and place.parent != home
        name = printable_name(place.name if apart else os.path.relpath(place, home))
        return f"./{name}" if name.startswith(("-", "~")) else name

    def _beside(self, path: str | Path, *words: str) -> str:
        place = self._argument(path)
        return f"./{place}" if place in words else place

    def _beyond_flags(self) -> bool:
        """Return whether a setting has a value that no option can set."""
        ours, default = self.settings, Settings()
        rest = ours
        for flag in known_flags().values():
            rest = _with(rest, flag, flag.default)
        for slice_ in extensions():
            if slice_.settings is not None and slice_.gate is None:
                rest = rest.with_table(slice_.settings())
        return replace(rest, ingest=replace(rest.ingest, roots=())) != default


def _with(settings: Settings, setting: Setting, value: object) -> Settings:
    table = replace(getattr(settings, setting.table), **{setting.key: value})
    return replace(settings, **{setting.table: table})


def _line(words: Iterable[str]) -> str:
    return " ".join(escape_unseen(shlex.quote(word)) for word in words)


def _name(path: str | None) -> str | None:
    return None if path is None else printable_name((current_folder() / expanded(path)).resolve().name)
