"""The command line that makes a report again."""

import os
import shlex
from collections.abc import Iterable
from datetime import datetime
from pathlib import Path

import msgspec
from msgspec.structs import replace

from vocabgap.errors import expanded
from vocabgap.ingest.selection import Selection
from vocabgap.ranking.vocabulary import VocabularyFile
from vocabgap.records.moments import iso
from vocabgap.reporting.manifest import Compared, Decided, Model
from vocabgap.reporting.published_run import NO_PREVIOUS
from vocabgap.settings.loading import CONFIG_NAME
from vocabgap.settings.model import DEFAULT_DECISIONS, MINILM, Settings, known_flags
from vocabgap.text import escape_unseen, printable_name


class Reproduction(msgspec.Struct, frozen=True):
    """What a run was asked for.

    Attributes:
        roots: What was scanned, absolute paths.
        settings: The settings in force.
        selection: What the report was narrowed to.
        now: The moment the run counts as its present.
        config: The settings file, if there was one.
        model: What wordings were embedded by, if anything.
        vocabulary: The files of the vocabulary that the needs were compared with.
        decided: What people had decided, if anything was.
        previous: The folder of the run before, if one was named, or `none`.
        compared: The run before, if there was one.
    """

    roots: tuple[Path, ...]
    settings: Settings
    selection: Selection
    now: datetime
    config: Path | None = None
    model: Model | None = None
    vocabulary: tuple[VocabularyFile, ...] = ()
    decided: Decided | None = None
    previous: Path | None = None
    compared: Compared | None = None

    @property
    def command(self) -> str:
        """A command to run in the folder that holds the roots; empty where no command can say the settings.

        Paths are relative to that folder and the output folder is left to its default, so that the command,
        and the report that quotes it, are the same on every machine.
        """
        if self.config is None and self._beyond_flags():
            return ""
        home = self._home
        words = [
            "vocabgap",
            "report",
            *sorted({_argument(_relative(root, home)) for root in self.roots}),
        ]
        if self.config is not None:
            words += ["--config", _argument(_relative(self.config.resolve(), home))]
        elif (home / CONFIG_NAME).exists():
            words += ["--config", os.devnull]  # what lies there was not in force
        if self.settings.ingest.hidden:
            words.append("--hidden")
        if self.settings.categories.reclassify:
            words.append("--reclassify")
        words += self._narrowing()
        words += self._files(home)
        words += [] if self.previous is None else ["--previous", self._previous]
        for flag, value, default in self._settings():
            # A flag wins over the settings file, so beside one every value is said.
            if self.config is not None or value != default:
                words += [flag, str(value)]
        words += ["--now", iso(self.now)]
        return _line(words)

    @property
    def compared_with(self) -> Compared | None:
        """The run before, with its folder as the command names it."""
        if self.compared is None or self.previous is None:
            return self.compared
        return replace(self.compared, folder=self._previous)

    @property
    def _previous(self) -> str:
        nothing = self.previous == Path(NO_PREVIOUS)
        return NO_PREVIOUS if nothing else self._beside(str(self.previous), self._home, NO_PREVIOUS)

    @property
    def deciding(self) -> str:
        """The options with which `vocabgap decide` follows the same settings, in the same folder."""
        home = self._home
        words = []
        if self.config is not None:
            words += ["--config", _argument(_relative(self.config.resolve(), home))]
        if self.decided is not None or self._names_decisions:
            file = self._decisions(home)
            words += [] if file == DEFAULT_DECISIONS else ["--decisions", file]
        return _line(words)

    def _files(self, home: Path) -> list[str]:
        """The files beside the logs that the report was made from."""
        embedder = self.settings.cluster.embedder
        words = []
        if embedder is not None:
            words += ["--embedder", embedder if embedder == MINILM else self._beside(embedder, home, MINILM)]
        for path in self.settings.vocabulary.paths:
            words += ["--vocabulary", _argument(_relative(expanded(path).resolve(), home))]
        if self.decided is not None:
            words += ["--decisions", self._decisions(home)]
        if self.settings.glossary.folder is not None:
            place = expanded(self.settings.glossary.folder).resolve()
            words += ["--glossary", _argument(_relative(place, home))]
            words += ["--strictness", self.settings.glossary.strictness]
        return words

    @property
    def _home(self) -> Path:
        """The folder that the commands run in."""
        return Path(os.path.commonpath([root.parent for root in self.roots]))

    @property
    def _names_decisions(self) -> bool:
        return self.settings.decisions.file != DEFAULT_DECISIONS

    def _decisions(self, home: Path) -> str:
        return _argument(_relative(expanded(self.settings.decisions.file).resolve(), home))

    @staticmethod
    def _beside(path: str, home: Path, word: str) -> str:
        """A path that is not taken for a word that the option knows."""
        place = _argument(_relative(expanded(path).resolve(), home))
        return f"./{place}" if place == word else place

    def _narrowing(self) -> list[str]:
        chosen = self.selection
        words = [] if chosen.since is None else ["--since", iso(chosen.since)]
        words += [] if chosen.until is None else ["--until", iso(chosen.until)]
        for flag, values in (
            ("--image", chosen.images),
            ("--category", chosen.categories),
            ("--module", chosen.modules),
            ("--session", chosen.sessions),
            ("--tenant", chosen.tenants),
            ("--repo", chosen.repositories),
        ):
            for value in values:
                words += [flag, value]
        return words

    def _beyond_flags(self) -> bool:
        """Whether something is set that only a settings file can say."""
        ours, default = self.settings, Settings()
        rest = ours
        for flag in known_flags().values():
            table = replace(getattr(rest, flag.table), **{flag.key: flag.default})
            rest = replace(rest, **{flag.table: table})
        return replace(rest, corpus=default.corpus) != default

    def _settings(self) -> list[tuple[str, object, object]]:
        """The options whose values stand for themselves, with their defaults."""
        return [
            (name, getattr(getattr(self.settings, flag.table), flag.key), flag.default)
            for name, flag in known_flags().items()
            if flag.table == "rank" or name in {"--threshold", "--top"}
        ]


def _line(words: Iterable[str]) -> str:
    return " ".join(escape_unseen(shlex.quote(word)) for word in words)


def _argument(path: str) -> str:
    """A relative path that is neither taken for an option nor for a home folder."""
    name = printable_name(path)
    return f"./{name}" if name.startswith(("-", "~")) else name


def _relative(path: Path, home: Path) -> str:
    """A path as seen from the folder that the command runs in.

    Only the name where the two have nothing but the root of the file system in common: the rest is of
    no use on another machine, and may name a person.
    """
    apart = os.path.commonpath([path, home]) == path.anchor and path.parent != home
    return path.name if apart else os.path.relpath(path, home)
