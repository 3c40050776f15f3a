"""The manifest of a run: its inputs, parameters, versions and outputs."""

import hashlib
import platform
from datetime import datetime, timedelta
from functools import cache
from importlib.metadata import version
from pathlib import Path
from typing import Annotated, Any, Final, Self

import msgspec
from msgspec import structs

from vocabgap import SCHEMA_VERSION, __version__
from vocabgap.decisions.replay import EffectiveDecisions
from vocabgap.errors import StateError, installing
from vocabgap.files import opened
from vocabgap.files.budget import MOST_LISTED, OverBudgetError, require_decodable
from vocabgap.files.refusals import FileKind, content_of
from vocabgap.model.capability import means
from vocabgap.model.selection import Selection
from vocabgap.model.settings import AUTO, NO_EMBEDDER, RankBy, RankSettings, Settings, known_flags
from vocabgap.model.tables import OF_A_RUN
from vocabgap.ranking.drafting import Candidate
from vocabgap.ranking.vocabulary import VocabularyFile
from vocabgap.reporting.listed import Choices
from vocabgap.reporting.overviews import Account, Place
from vocabgap.text import visible

MARKDOWN_NAME: Final = "report.md"
PAGE_NAME: Final = "report.html"
EVIDENCE_NAME: Final = "evidence.md"
SHARE_NAME: Final = "share.html"
MANIFEST_NAME: Final = "run.json"
# All file names of a run. A new run replaces all of them.
RUN_FILES: Final = frozenset(
    (MARKDOWN_NAME, EVIDENCE_NAME, PAGE_NAME, SHARE_NAME, MANIFEST_NAME, *(table.file for table in OF_A_RUN))
)
ALL: Final = "all"
_UNKNOWN: Final = "not known"


class Narrowing(msgspec.Struct, frozen=True, omit_defaults=True):
    """The records that a run ranks, and the settings of the ranking."""

    selection: Annotated[Selection, means("the records that the report is about")]
    min_images: Annotated[int, means("fewest images of an established capability")]
    min_sessions: Annotated[int, means("fewest sessions of an established capability")]
    rank_by: Annotated[RankBy, means("count that the ranking is sorted by")]
    further: Annotated[dict[str, str], means("other settings of the ranking, by option")] = {}

    @classmethod
    def of(cls, selection: Selection, rank: RankSettings) -> Self:
        """Return the narrowing of a run with this selection and these settings."""
        own = ("min_images", "min_sessions", "by")
        further = {
            name.removeprefix("--"): str(getattr(rank, flag.key))
            for name, flag in known_flags().items()
            if flag.table == "rank" and flag.key not in own
        }
        return cls(selection, rank.min_images, rank.min_sessions, rank.by, further)


class Difference(msgspec.Struct, frozen=True):
    """A filter or a setting of the ranking that differs between two runs, with both values."""

    filter: str
    earlier: str
    later: str


class Timing(msgspec.Struct, frozen=True):
    """The time that a stage took."""

    stage: str
    seconds: float


class InputFile(msgspec.Struct, frozen=True):
    """A log that was read; size and digest are of the uncompressed content."""

    repo_slug: str
    source_path: str
    bytes: int
    lines: Annotated[int, means("lines that are not blank")]
    sha256: str
    source: Annotated[str, means("the kind of log")]
    passed_over: Annotated[int, means("further lines that are not gaps")]


class OutputFile(msgspec.Struct, frozen=True):
    """A file of the run."""

    name: str
    bytes: int
    sha256: str


class Model(msgspec.Struct, frozen=True):
    """The model that embedded the wordings."""

    name: str
    sha256: Annotated[str, means("SHA-256 of the model, its tokenizer and its settings")]
    runtime: Annotated[str, means("the library that ran it, with its version")]
    processor: Annotated[str, means("the kind of CPU that ran it")] = ""
    vectors: Annotated[str, means("SHA-256 of its vectors")] = ""
    embedded: Annotated[int | None, means("wordings that represented all; null if all were embedded")] = None


class GroupedBy(msgspec.Struct, frozen=True):
    """The basis of the groups: a model, or words alone."""

    model: str | None = None
    embedded: int | None = None  # wordings that represented all; None if all were embedded


class Decided(msgspec.Struct, frozen=True, rename={"inactive": "dormant"}):
    """The decisions of people at the time of the run."""

    active: Annotated[int, means("decisions that are not undone")]
    inactive: Annotated[int, means("active decisions that match nothing in the logs")]
    sha256: Annotated[str, means("SHA-256 of their identifiers, one per line, in order")]
    outgrown: Annotated[tuple[str, ...], means("decisions on a status that their groups have outgrown")] = ()
    unfollowed: Annotated[dict[str, str], means("decisions that others contradict, by identifier")] = {}

    @classmethod
    def of(cls, effective: EffectiveDecisions, outgrown: tuple[str, ...]) -> Self:
        """Return the decisions that a run follows."""
        names = "".join(f"{decision.decision_id}\n" for decision in effective.active)
        digest = hashlib.sha256(names.encode()).hexdigest()
        unfollowed = {each.decision_id: each.summary for each in effective.unfollowed}
        return cls(len(effective.active), len(effective.inactive), digest, outgrown, unfollowed)


class Compared(msgspec.Struct, frozen=True):
    """The run that another run was compared with."""

    now: Annotated[datetime, means("the moment that counts as the present")]
    sha256: Annotated[str, means("SHA-256 of its groups.parquet")]
    narrowing: Annotated[Narrowing | None, means("its filters and ranking, if known")]
    folder: Annotated[str | None, means("its folder in the command; null for the replaced run")] = None
    model: Annotated[Model | None, means("the model that embedded its wordings, if any")] = None


class Rendering(msgspec.Struct, frozen=True):
    """Further facts for the report."""

    top: Annotated[int, means("number of shown capabilities; 0 for all")]
    ranked_by: Annotated[str, means("count that the ranking is sorted by")]
    deciding: Annotated[str, means("options that let `vocabgap decide` use the same settings")]


class Parameters(msgspec.Struct, frozen=True):
    """The settings and the selection of a run."""

    settings: Settings
    selection: Selection
    paths: dict[str, str | tuple[str, ...]] = {}  # relative to the folder that contains the roots
    usual: bool = False  # whether source and map of `settings` do not come from options


class Manifest(msgspec.Struct, frozen=True):
    """The content of `run.json`."""

    schema_version: int
    vocabgap: Annotated[str, means("version of vocabgap")]
    python: Annotated[str, means("version of Python")]
    libraries: Annotated[dict[str, str], means("versions of the libraries")]
    now: Annotated[datetime, means("the present moment of the run")]
    command: Annotated[str, means("repeats the run, in the folder of this file")]
    parameters: Annotated[Parameters | None, means("active settings, selection and paths")]
    account: Annotated[Account | None, means("numbers of logs and lines, by what became of them")]
    capabilities: Annotated[int, means("rows of capabilities.parquet")]
    inputs: Annotated[tuple[InputFile, ...], means("the logs, with their digests")]
    outputs: Annotated[tuple[OutputFile, ...], means("the other files of the run")]
    timings: Annotated[tuple[Timing, ...], means("wall-clock seconds of each stage")]
    model: Annotated[Model | None, means("the model that embedded the wordings, if any")] = None
    vocabulary: Annotated[tuple[VocabularyFile, ...], means("files of the vocabulary")] = ()
    decisions: Annotated[Decided | None, means("active decisions, if there are any")] = None
    compared: Annotated[Compared | None, means("the run before, if there was one")] = None
    rendering: Annotated[Rendering | None, means("further facts that the report needs")] = None
    engine: Annotated[str | None, means("engine that read the logs; null for this machine alone")] = None
    places: Annotated[tuple[Place, ...], means("places of the first capabilities on a map")] = ()
    shortlist: Annotated[tuple[Candidate, ...], means("the first capabilities, with drafts of entries")] = ()
    choices: Annotated[tuple[Choices, ...], means("what people may answer about the first capabilities")] = ()

    @property
    def settings(self) -> Settings:
        """Return the settings of the run; the defaults if unknown."""
        return Settings() if self.parameters is None else self.parameters.settings

    @property
    def ranked_by(self) -> str:
        """Return the count that the ranking is sorted by."""
        return self.settings.rank.by.value if self.rendering is None else self.rendering.ranked_by

    @property
    def selection(self) -> Selection:
        """Return the selection of the run; all records if unknown."""
        return Selection() if self.parameters is None else self.parameters.selection

    @property
    def can_be_repeated(self) -> bool:
        """Tell whether the manifest has what `--from` needs; those of earlier versions have not."""
        return self.parameters is not None and bool(self.parameters.paths)

    @property
    def unit(self) -> str:
        """Return what the run counts, such as `image`."""
        return self.settings.unit({log.source for log in self.inputs if log.lines})

    @property
    def narrowing(self) -> Narrowing | None:
        """Return the narrowing of the run, or None if unknown."""
        parameters = self.parameters
        return None if parameters is None else Narrowing.of(parameters.selection, parameters.settings.rank)

    @property
    def differences(self) -> tuple[Difference, ...]:
        """Return the filters and settings that differ from the run before."""
        if self.compared is None or self.parameters is None:
            return ()
        apart = differences(self.compared.narrowing, self.narrowing, between=self.now - self.compared.now)
        return (*apart, *model_differences(self.compared.model, self.model))

    @property
    def grouping(self) -> GroupedBy | None:
        """Return the basis of the groups, or None if unknown."""
        if self.model is not None:
            return GroupedBy(self.model.name, self.model.embedded)
        return None if self.parameters is None else GroupedBy()

    @property
    def installing(self) -> str:
        """Return the command that installs a model, if `auto` found none; else empty text."""
        wanted = self.parameters is not None and self.settings.cluster.embedder == AUTO
        return installing("embed") if wanted and self.model is None else ""

    @property
    def narrowed_to(self) -> str:
        """Return the filters of the run in words; empty if there are none."""
        return visible(", ".join(map(" ".join, self.selection.in_words().items())))

    def digest_of(self, name: str) -> str | None:
        """Return the digest of a published file, or None if the run has no such file."""
        return next((each.sha256 for each in self.outputs if each.name == name), None)

    @property
    def narrowed_or_ranked(self) -> str:
        """Return the filters and ranking of the run, without its time window; empty for the defaults."""
        if self.narrowing is None:
            return _UNKNOWN
        usual = _by_name(Narrowing.of(Selection(), RankSettings())).items()
        own = _by_name(self.narrowing).items()
        return ", ".join(
            f"{name} {value}"
            for name, value in own
            if (name, value) not in usual and name not in {"since", "until"}
        )


def differences(
    earlier: Narrowing | None, later: Narrowing | None, *, between: timedelta
) -> tuple[Difference, ...]:
    """Return the differences of two runs in narrowing and ranking.

    Time windows of the same length are equal, for example the last 30 days of each run.
    """
    if earlier is None or later is None:
        known = [_UNKNOWN if each is None else "known" for each in (earlier, later)]
        return () if earlier is later else (Difference("narrowing", *known),)
    before, after = _by_name(earlier), _by_name(later)
    for name in ("since", "until"):
        was, now = getattr(earlier.selection, name), getattr(later.selection, name)
        if None not in {was, now} and now - was == between:
            del before[name], after[name]
    return tuple(
        Difference(name, before.get(name, ALL), after.get(name, ALL))
        for name in dict.fromkeys((*before, *after))
        if before.get(name) != after.get(name)
    )


def model_differences(earlier: Model | None, later: Model | None) -> tuple[Difference, ...]:
    """Return the difference of the models of two runs, if any."""
    digests = [None if each is None else each.sha256 for each in (earlier, later)]
    if digests[0] == digests[1]:
        return ()
    names = [NO_EMBEDDER if each is None else each.name for each in (earlier, later)]
    if names[0] == names[1]:  # another file of the same name
        names = [f"{name} {digest:.8}" for name, digest in zip(names, digests, strict=True)]
    return (Difference("embedder", *names),)


def _by_name(narrowing: Narrowing) -> dict[str, str]:
    # Order and repetition of values do not matter.
    values = structs.asdict(narrowing.selection)
    ordered = {
        name: tuple(sorted(set(value), key=str)) for name, value in values.items() if isinstance(value, tuple)
    }
    selection: Selection = structs.replace(narrowing.selection, **ordered)
    return selection.in_words() | {
        "min-images": str(narrowing.min_images),
        "min-sessions": str(narrowing.min_sessions),
        "rank-by": narrowing.rank_by.value,
        **Narrowing.of(Selection(), RankSettings()).further,  # defaults of options newer than the run
        **narrowing.further,
    }


@cache
def versions() -> dict[str, str]:
    """Return the versions of the libraries that affect a result, by name."""
    libraries = ("numba", "numpy", "polars", "scikit-learn", "scipy", "snowballstemmer")
    return {name: version(name) for name in libraries}


def new_manifest(
    now: datetime, capabilities: int, rendering: Rendering | None = None, parameters: Parameters | None = None
) -> Manifest:
    """Return a manifest with the versions of this installation, without files."""
    return Manifest(
        schema_version=SCHEMA_VERSION,
        vocabgap=__version__,
        python=platform.python_version(),
        libraries=versions(),
        now=now,
        command="",
        parameters=parameters,
        account=None,
        capabilities=capabilities,
        inputs=(),
        outputs=(),
        timings=(),
        rendering=rendering,
    )


def describe_output(path: Path) -> OutputFile:
    """Return name, size and digest of a file."""
    with opened(path) as content:
        digest = hashlib.file_digest(content, "sha256")
    return OutputFile(path.name, path.stat().st_size, digest.hexdigest())


def encode_manifest(manifest: Manifest) -> bytes:
    """Return the manifest as indented JSON, ending in a newline."""
    return msgspec.json.format(msgspec.json.encode(manifest), indent=2) + b"\n"


def read_manifest(folder: Path) -> Manifest | None:
    """Return the manifest of the run in a folder; None if there is none, or it is of an older version.

    An error of the system, and a newer version, are raised: otherwise a new run would lose the history.
    """
    path = folder / MANIFEST_NAME
    content = content_of(path, "file", MOST_LISTED)
    if isinstance(content, FileKind):
        return None
    try:
        manifest = _decoded(content)
    except (msgspec.DecodeError, UnicodeDecodeError, RecursionError, OverBudgetError):
        return None
    if manifest.schema_version > SCHEMA_VERSION:
        raise StateError(
            f"'{path}' has version {manifest.schema_version}, expected at most {SCHEMA_VERSION}",
            hint="a newer vocabgap wrote it: upgrade, or name another folder",
        )
    return manifest


def _decoded(content: bytes) -> Manifest:
    """Decode a manifest; omit the parameters if the settings are of another version."""
    try:
        return msgspec.json.decode(content, type=Manifest)
    except msgspec.ValidationError:
        require_decodable(content)
        document = msgspec.json.decode(content, type=dict[str, Any])
        return msgspec.convert(document | {"parameters": None}, Manifest)
