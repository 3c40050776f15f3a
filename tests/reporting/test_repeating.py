"""`vocabgap report --from run.json` repeats a run."""

import json
import shlex
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from msgspec.structs import replace

from builders import gap, write_corpus
from builders.command import CommandResult, vocabgap
from vocabgap.model.moments import parse_now
from vocabgap.model.selection import Selection
from vocabgap.model.settings import DecisionSettings, Settings
from vocabgap.reporting.manifest import Decided, new_manifest
from vocabgap.reporting.repeating import Reproduction

Again = Callable[..., tuple[bytes, bytes]]
NOW = parse_now("2026-07-01")


def faces(folder: Path) -> bytes:
    """Return report and page; the run that `vocabgap decide` uses is another one in each folder."""
    faces = b"".join((folder / name).read_bytes() for name in ("report.md", "report.html"))
    option = f"--run {shlex.quote(folder.name)}".encode()
    assert option in faces
    return faces.replace(option, b"--run RUN")


@pytest.fixture
def first_run(tmp_path: Path) -> Path:
    return tmp_path / "first run"


@pytest.fixture
def again(first_run: Path, monkeypatch: pytest.MonkeyPatch) -> Again:
    """Report, then run the command of the report in its folder; return both reports."""

    def both(*arguments: str | Path, start: Path) -> tuple[bytes, bytes]:
        monkeypatch.chdir(start)
        result = vocabgap("report", *arguments, "--out", first_run, "--now", "2026-07-01")
        assert result.code == 0, result.err
        for variable in ("VOCABGAP_TOP", "VOCABGAP_THRESHOLD"):
            monkeypatch.delenv(variable, raising=False)
        command = json.loads((first_run / "run.json").read_text(encoding="utf-8"))["command"]
        monkeypatch.chdir(first_run)
        program, *words = shlex.split(command)
        repeated = vocabgap(*words)
        assert (program, repeated.code, repeated.err) == ("vocabgap", 0, result.err)
        return faces(first_run), faces(first_run.parent / "again")

    return both


@pytest.fixture
def roots(tmp_path: Path) -> tuple[Path, Path]:
    """Two workspaces in different folders."""
    lines = [
        gap("sky mask", intent_category="tone", session_id="s-1", operations_involved=["exposure"]),
        gap("mask the sky", session_id="s 2", timestamp="2026-05-01T00:00:00Z"),
        gap("film grain", operations_involved=["toneequalizer"], satisfaction=-1),
        gap("no json at all", timestamp="never"),
    ]
    images: dict[str, list[Any]] = {"one": lines, "it's two": lines[:2], "three": ["[1]"]}
    left = write_corpus(tmp_path, images, "it's $HOME;  `x` grö߀", tmp_path / "left")
    right = write_corpus(tmp_path, {"-five": lines[:1]}, "-rf", tmp_path / "right")
    return left, right


@pytest.mark.parametrize(
    "arguments",
    [
        ("--top", "0", "--threshold", "0.1234567890123", "--rank-by", "unsatisfied", "--min-sessions", "1"),
        ("--since", "90d", "--until", "1d", "--image", "one", "--image", "it's two"),
        ("--session", '$(touch harm); `x` "y" * ~', "--image", "größe 木", "--allow-empty"),
    ],
    ids=" ".join,
)  # fmt: skip
def test_the_command_of_a_report_repeats_it(
    again: Again, roots: tuple[Path, Path], arguments: tuple[str, ...]
) -> None:
    first, second = again(*roots, *arguments, start=roots[0] / "one")

    assert first == second


def test_settings_of_a_file_and_of_the_environment_are_repeated_and_those_of_others_are_not(
    again: Again, roots: tuple[Path, Path], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    settings = tmp_path / "settings" / "team.toml"
    settings.parent.mkdir()
    settings.write_text(
        '[ingest]\ntenant = "studio"\n[ingest.map]\ndescription = "why"\n[cluster]\nstop_words = ["sky"]\n'
        '[rank]\nby = "priority"\nhalf_life_days = 7\n[aliases.categories]\ntone = "light"\n'
        '[source.mine]\nglob = "mine.jsonl"\n'
    )
    (tmp_path / "left" / "vocabgap.toml").write_text("[report]\ntop = 3\n")
    monkeypatch.setenv("VOCABGAP_TOP", "1")
    monkeypatch.setenv("VOCABGAP_THRESHOLD", "0.2")

    first, second = again(roots[0], "--config", settings, start=tmp_path)

    assert first == second
    assert b"--config settings/team.toml --run RUN --decisions" in first  # of `vocabgap decide`


def test_vocabularies_decisions_and_the_run_before_are_found_again(
    again: Again, roots: tuple[Path, Path], tmp_path: Path
) -> None:
    (tmp_path / "packs").mkdir()
    for name in ("sky.jsonl", "more words.jsonl"):
        (tmp_path / "packs" / name).write_text(json.dumps({"name": f"{name}_mask"}))
    june, decisions = tmp_path / "none", tmp_path / "ours.jsonl"
    before = ("--image", "one", "--out", june, "--now", "2026-06-01", "--quiet")
    assert vocabgap("report", roots[0], *before).code == 0
    decide = (
        "decide",
        "pin",
        "sky mask",
        "--run",
        june,
        "--decisions",
        decisions,
        "--actor",
        "ana",
    )
    assert vocabgap(*decide).code == 0
    packs = [word for path in (tmp_path / "packs").iterdir() for word in ("--vocabulary", path)]

    first, second = again(
        *roots, *packs, "--decisions", decisions, "--previous", june, start=roots[0]
    )

    assert first == second
    assert b"Since the run before, of 2026-06-01 00:00 UTC" in first
    assert b"pinned" in first


def repeat(first_run: Path, *arguments: str | Path) -> CommandResult:
    return vocabgap("report", "--from", first_run / "run.json", "--quiet", *arguments)


@pytest.fixture
def photos(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.chdir(tmp_path)
    return write_corpus(tmp_path, {"heron": [gap("sky mask"), gap("film grain")]})


@pytest.fixture
def reported(photos: Path, first_run: Path) -> Path:
    vocabgap("report", photos, "--out", first_run, "--now", "2026-07-01", "--top", "2", "--quiet")
    return first_run


def test_options_beside_it_override_the_settings_the_filters_the_moment_and_the_roots(
    reported: Path, tmp_path: Path
) -> None:
    others = write_corpus(tmp_path, {"owl": [gap("moon glow"), gap("sky mask")]}, "others")
    options = ("--top", "1", "--need", "moon glow", "--now", "2026-08-01")

    assert repeat(reported, others, *options[:2], "--match", "moon", *options[4:]).code == 0

    manifest = json.loads((tmp_path / "out" / "run.json").read_text())
    assert manifest["now"] == "2026-08-01T00:00:00Z"
    assert manifest["parameters"]["settings"]["report"]["top"] == 1
    assert manifest["parameters"]["selection"]["match"] == "moon"
    assert manifest["parameters"]["paths"]["roots"] == ["others"]


def test_a_filter_beside_it_overrides_only_filters_of_its_kind(
    photos: Path, first_run: Path
) -> None:
    filters = ("--image", "heron", "--match", "sky", "--top", "2")
    vocabgap("report", photos, "--out", first_run, "--now", "2026-07-01", *filters, "--quiet")

    assert repeat(first_run, "--match", "mask").code == 0

    selection = json.loads(Path("out/run.json").read_text())["parameters"]["selection"]
    assert (selection["images"], selection["match"]) == (["heron"], "mask")


def test_what_changed_since_the_run_is_named(reported: Path, photos: Path) -> None:
    same = vocabgap("report", "--from", reported, "--out", "same")
    write_corpus(photos.parent, {"owl": [gap("moon glow")]}, "more", photos)
    other = vocabgap("report", "--from", reported, "--out", "other")

    assert "repeated run" not in same.err
    assert "not as in the repeated run: logs\n" in other.err


@pytest.mark.parametrize(
    "paths",
    [
        {"roots": "logs"}, {"roots": ["logs"], "home": "x\0y"}, {"home": "."},
        {"roots": ["logs"], "config": ["a"]},
        {"roots": ["logs"], "report.out": "elsewhere"}, {"roots": ["logs"], "foo.bar": "x"},
        {"roots": ["logs"], "vocabulary.paths": "x"}, {"roots": ["logs"], "previous": ["x"]},
    ],
)  # fmt: skip
def test_paths_that_no_report_wrote_are_refused(reported: Path, paths: dict[str, object]) -> None:
    file = reported / "run.json"
    manifest = json.loads(file.read_text())
    manifest["parameters"]["paths"] = paths
    file.write_text(json.dumps(manifest))

    result = repeat(reported)

    assert (result.code, result.out) == (4, "")
    assert "damaged or of another version" in result.err


@pytest.mark.parametrize(
    ("content", "code", "message"),
    [
        (None, 3, "does not exist"),
        ("{", 4, "damaged or of another version"),
        ({"parameters": None}, 4, "damaged or of another version"),
        ({"schema_version": 999}, 4, "expected at most"),
    ],
)
def test_a_manifest_that_cannot_be_repeated_is_named(
    reported: Path, content: str | dict[str, object] | None, code: int, message: str
) -> None:
    file = reported / "run.json"
    manifest = json.loads(file.read_text())
    file.unlink()
    if content is not None:
        file.write_text(content if isinstance(content, str) else json.dumps(manifest | content))

    result = repeat(reported)

    assert (result.code, result.out) == (code, "")
    assert message in result.err
    assert "run.json'" in result.err


def test_roots_that_a_manifest_does_not_locate_are_named_beside_it(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "work").mkdir()
    monkeypatch.chdir(tmp_path / "work")
    Path("logs").symlink_to(write_corpus(tmp_path, {"heron": [gap("sky mask")]}, "far/photos"))
    assert vocabgap("report", "logs", "--quiet").code == 0

    result = repeat(Path("out"))

    assert (result.code, result.err.splitlines()[-1]) == (3, "  name the roots beside --from")
    assert repeat(Path("out"), "logs").code == 0


def test_from_and_config_exclude_each_other(reported: Path) -> None:
    result = repeat(reported, "--config", "team.toml")

    assert (result.code, result.err.partition("\n")[0]) == (
        2,
        "vocabgap: --from and --config exclude each other",
    )


def test_the_manifest_names_what_lies_elsewhere_without_its_folders(
    reported: Path, tmp_path: Path
) -> None:
    roots = (Path("/home/mira/photos"), Path("/srv/scans"))
    request = Reproduction(roots, Settings(), Selection(), config=Path("/home/mira/team.toml"))

    parameters = request.described_in(new_manifest(NOW, 0), tmp_path).parameters
    assert parameters is not None
    paths = parameters.paths
    assert {name: paths[name] for name in ("roots", "config")} == {
        "roots": ("photos", "scans"),
        "config": "team.toml",
    }
    assert "mira" not in str(paths)
    assert str(tmp_path) not in (reported / "run.json").read_text()


@pytest.mark.parametrize(
    ("out", "file", "options"),
    [
        ("out", "decisions.jsonl", ""),
        ("demo/out", "demo/decisions.jsonl", ""),
        ("out-next", "decisions.jsonl", "--run out-next"),
        ("deeper/out", "decisions.jsonl", "--run deeper/out"),
        ("out", "our team.jsonl", "--decisions 'our team.jsonl'"),
    ],
)
def test_deciding_uses_the_run_and_the_file_that_was_followed(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, out: str, file: str, options: str
) -> None:
    monkeypatch.chdir(tmp_path)
    settings = Settings(decisions=DecisionSettings(file=file))
    manifest = replace(new_manifest(NOW, 0), decisions=Decided(active=1, inactive=0, sha256=""))
    request = Reproduction((tmp_path / "photos",), settings, Selection())

    rendering = request.described_in(manifest, tmp_path / out).rendering
    assert rendering is not None
    assert rendering.deciding == options
