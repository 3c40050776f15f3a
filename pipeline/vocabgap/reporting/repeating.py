"""The request of a run in its manifest, and how `vocabgap report --from out/run.json` repeats it."""

import os
import shlex
from collections.abc import Mapping
from pathlib import Path
from typing import Any, Final

import msgspec
from msgspec.structs import asdict, replace

from vocabgap.errors import NotFoundError, StateError, expanded, full_address
from vocabgap.extensions import extensions
from vocabgap.files import STANDARD_INPUT
from vocabgap.files.refusals import current_folder
from vocabgap.ingest.roots import origin_of
from vocabgap.model.loading import Loaded, resolve_settings
from vocabgap.model.selection import Selection
from vocabgap.model.settings import (
    AUTO,
    DEFAULT_DECISIONS,
    DEFAULT_OUT,
    MINILM,
    NO_EMBEDDER,
    IngestSettings,
    Settings,
    UsualIngestSettings,
    known_settings,
)
from vocabgap.reporting.manifest import (
    MANIFEST_NAME,
    Decided,
    Manifest,
    Model,
    Parameters,
    Rendering,
    read_manifest,
)
from vocabgap.reporting.published_run import NO_PREVIOUS, resolve_target
from vocabgap.text import escape_unseen, printable_name

_WORDS: Final = (AUTO, MINILM, NO_EMBEDDER, NO_PREVIOUS, STANDARD_INPUT)  # values that are no path


class Reproduction(msgspec.Struct, frozen=True):
    """The request of a run."""

    roots: tuple[Path, ...]  # absolute
    settings: Settings
    selection: Selection
    config: Path | None = None
    previous: Path | None = None  # the named folder of the run before, or `none`

    def described_in(self, manifest: Manifest, folder: Path) -> Manifest:
        """Add the request to the manifest of a run, which is published in a folder."""
        compared, paths, settings = manifest.compared, self._paths(manifest, folder), self.settings
        if compared is not None and self.previous is not None:
            compared = replace(compared, folder=paths["previous"])
        command = f"vocabgap report --from {MANIFEST_NAME} --out ../again"
        command += " --engine spark" * any(map(full_address, paths["roots"]))  # it may need --remote, too
        is_usual = isinstance(settings.ingest, UsualIngestSettings)
        deciding = self._deciding(manifest.decisions, folder)
        return replace(
            manifest,
            command=command,
            parameters=Parameters(self._without_places(manifest.model), self.selection, paths, is_usual),
            compared=compared,
            rendering=Rendering(settings.report.top, settings.rank.by.value, deciding),
        )

    def _deciding(self, decided: Decided | None, folder: Path) -> str:
        """Return the options that make `vocabgap decide` use a published run, its settings and its decisions.

        Paths are relative to the folder that contains all of these. A settings file may name other defaults.
        """
        file = self.settings.decisions.file
        is_named = decided is not None or file != DEFAULT_DECISIONS
        is_remote = bool(origin_of(folder))  # `--run` takes only a local folder
        is_below = is_remote or folder.is_relative_to(current_folder())
        beside = current_folder() if is_named or is_below else folder.parent
        places = {} if is_remote else {"--run": folder}
        places["--decisions"] = (beside / expanded(file)).resolve()
        usual = {"--run": DEFAULT_OUT, "--decisions": DEFAULT_DECISIONS}
        if self.config is not None:
            places, usual = {"--config": self.config.resolve(), **places}, {}
        home = Path(os.path.commonpath([place.parent for place in places.values()]))
        names = {option: self._relative(place, home) for option, place in places.items()}
        words = [word for pair in names.items() if pair not in usual.items() for word in pair]
        return " ".join(escape_unseen(shlex.quote(word)) for word in words)

    def _paths(self, manifest: Manifest, folder: Path) -> dict[str, Any]:
        """Return the paths of the request by `table.key`, relative to the folder that contains the roots.

        `home` is that folder relative to the run, if this reveals only names below the current folder.
        """
        settings, home = self.settings, self._home
        is_inside = all(place.is_relative_to(current_folder()) for place in (home, folder))
        without_effect = {slice_.name for slice_ in extensions() if slice_.gate is None}
        paths = {
            f"{setting.table}.{setting.key}": getattr(getattr(settings, setting.table), setting.key)
            for setting in known_settings()
            if setting.written and setting.table not in without_effect
        }
        # The result of `auto` depends on the machine.
        automatic = NO_EMBEDDER if manifest.model is None else MINILM
        embedder = settings.cluster.embedder or NO_EMBEDDER
        paths |= {
            "report.out": None,
            "decisions.file": manifest.decisions and settings.decisions.file,
            "cluster.embedder": automatic if embedder == AUTO else embedder,
            "previous": self.previous,
            "config": self.config and self.config.resolve(),
        }
        return {
            **({"home": os.path.relpath(home, folder)} if is_inside or folder.is_relative_to(home) else {}),
            "roots": tuple(sorted({*map(self._relative, self.roots)})),
            "vocabulary.paths": tuple(map(self._relative, settings.vocabulary.paths)),
            **{name: self._relative(path) for name, path in paths.items() if path is not None},
        }

    def _without_places(self, model: Model | None) -> Settings:
        """Return the settings without folders, which may contain the name of a person."""
        ours = self.settings
        embedder, name = ours.cluster.embedder, None if model is None else model.name
        for setting in known_settings():
            if setting.written:
                table = getattr(ours, setting.table)
                table = replace(table, **{setting.key: _name(getattr(table, setting.key))})
                ours = replace(ours, **{setting.table: table})
        return replace(
            ours,
            ingest=replace(ours.ingest, roots=()),
            report=replace(ours.report, out=DEFAULT_OUT),
            cluster=replace(ours.cluster, embedder=embedder if embedder in _WORDS else name),
            vocabulary=replace(ours.vocabulary, paths=tuple(filter(None, map(_name, ours.vocabulary.paths)))),
            decisions=replace(ours.decisions, file=DEFAULT_DECISIONS),
        )

    @property
    def _home(self) -> Path:
        """Return the folder that contains the roots."""
        folders = [root.parent for root in self.roots if not origin_of(root)]
        return Path(os.path.commonpath(folders or [current_folder()]))

    def _relative(self, path: str | Path, home: Path | None = None) -> str:
        """Return a path relative to a folder, never like an option, `~` or a word.

        By default, that is the folder that contains the roots.

        Return only the name if both share just the root of the file system: other folders may contain the
        name of a person.
        """
        if str(path) in _WORDS:
            return str(path)
        place, home = (current_folder() / expanded(path)).resolve(), home or self._home
        if origin := origin_of(place):
            return origin
        is_apart = os.path.commonpath([place, home]) == place.anchor and place.parent != home
        name = printable_name(place.name if is_apart else os.path.relpath(place, home))
        return f"./{name}" if name.startswith(("-", "~")) or name in _WORDS else name


def _name(path: str | None) -> str | None:
    return None if path is None else printable_name((current_folder() / expanded(path)).resolve().name)


class Repeated(msgspec.Struct, frozen=True):
    """A run to repeat."""

    manifest: Manifest
    loaded: Loaded
    roots: tuple[Path, ...]
    previous: str | None
    selection: Selection

    def changes(self, manifest: Manifest) -> list[str]:
        """Return a sentence that names what differs between the run and its repetition, if anything does."""
        compared = {"inputs": "logs", "vocabgap": "version of vocabgap"}
        differing = [
            compared.get(name, name)
            for name in ("inputs", "vocabulary", "decisions", "model", "vocabgap")
            if getattr(self.manifest, name) != getattr(manifest, name)
        ]
        return [f"not as in the repeated run: {', '.join(differing)}"] * bool(differing)


def _is_request(paths: Mapping[str, Any]) -> bool:
    """Tell whether a manifest has the paths of a request; somebody may have changed it.

    A manifest never says where to write a report.
    """
    names = {f"{setting.table}.{setting.key}" for setting in known_settings() if setting.written}
    names |= {"home", "config", "previous", "cluster.embedder"}
    kinds = dict.fromkeys(names - {"report.out"}, str) | dict.fromkeys(("roots", "vocabulary.paths"), tuple)
    are_known = all(isinstance(path, kinds.get(name, bool)) for name, path in paths.items())
    return are_known and "roots" in paths and "\0" not in "".join(map("".join, paths.values()))


def repeated(source: str | Path, flags: Mapping[str, Any]) -> Repeated:
    """Read the request of a run from its manifest; `flags` override its settings.

    If the manifest does not say which folder contains the roots, it is the current folder.

    Raises:
        NotFoundError: There is no such file.
        StateError: The file is damaged, or of another version.
    """
    place = resolve_target(source, option="--from")
    folder = place.parent if place.name == MANIFEST_NAME else place
    shown, hint = printable_name(str(place)), f"name the {MANIFEST_NAME} of a report of this version"
    if not place.exists():
        raise NotFoundError(f"'{shown}' does not exist", hint=hint)
    manifest = read_manifest(folder)
    parameters = None if manifest is None else manifest.parameters
    if manifest is None or parameters is None or not _is_request(parameters.paths):
        raise StateError(
            f"'{shown}' does not say how to repeat a run: it is damaged or of another version", hint=hint
        )
    paths: dict[str, Any] = dict(parameters.paths)
    roots = paths.pop("roots")
    base = folder / paths.pop("home") if "home" in paths else current_folder()

    def found(path: Any) -> Any:  # noqa: ANN401 - one path or several
        if not isinstance(path, str):
            return [*map(found, path)]
        return path if path in _WORDS or full_address(path) else os.path.normpath(base / path)

    config, previous = (found(paths.pop(name, NO_PREVIOUS)) for name in ("config", "previous"))
    layer = msgspec.to_builtins(parameters.settings)
    for name, path in paths.items():
        table, _, key = name.partition(".")
        layer[table][key] = found(path)
    settings = resolve_settings(os.devnull, {}, flags, layer=layer).settings
    if not parameters.usual and isinstance(settings.ingest, UsualIngestSettings):
        settings = replace(settings, ingest=IngestSettings(**asdict(settings.ingest)))
    return Repeated(
        manifest,
        Loaded(settings, None if "config" not in parameters.paths else Path(config)),
        tuple(map(Path, found(roots))),
        previous if "previous" in parameters.paths else None,
        parameters.selection,
    )
