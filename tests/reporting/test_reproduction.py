import shlex
from collections.abc import Callable, Mapping
from datetime import UTC, datetime
from pathlib import Path

import pytest

from builders import gap, write_corpus
from vocabgap.doors.cli.app import run as command_line
from vocabgap.model.selection import Selection
from vocabgap.model.settings import (
    ClusterSettings,
    DecisionSettings,
    RankBy,
    RankSettings,
    ReportSettings,
    Settings,
    VocabularySettings,
)
from vocabgap.reporting.manifest import Decided
from vocabgap.reporting.reproduction import Reproduction

Again = Callable[..., tuple[bytes, bytes]]
NOW = datetime(2026, 7, 1, tzinfo=UTC)
AS_OF = ("--now", "2026-07-01T00:00:00Z")


def asked(*roots: Path, **fields: object) -> Reproduction:
    given = {"settings": Settings(), "selection": Selection(), "now": NOW, **fields}
    return Reproduction(roots, **given)  # type: ignore[arg-type]


def faces(folder: Path) -> bytes:
    return b"".join((folder / name).read_bytes() for name in ("report.md", "report.html"))


@pytest.fixture
def again(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> Again:
    """Runs a report, then the command that it quotes in the folder it names; gives both reports."""

    def both(
        *arguments: str | Path,
        home: Path,
        start: Path | None = None,
        environment: Mapping[str, str] | None = None,
    ) -> tuple[bytes, bytes]:
        monkeypatch.chdir(start or home)
        for variable, value in (environment or {}).items():
            monkeypatch.setenv(variable, value)
        first = tmp_path / "first-run"
        given = ["report", *map(str, arguments), "--out", str(first), *AS_OF]
        assert command_line(given) == 0, capsys.readouterr().err
        for variable in environment or {}:
            monkeypatch.delenv(variable)
        written = faces(first)
        markdown = (first / "report.md").read_text(encoding="utf-8")
        quoted = markdown.partition("```sh\n")[2].partition("\n```")[0]
        monkeypatch.chdir(home)
        program, *words = shlex.split(quoted)
        assert program == "vocabgap"
        assert command_line(words) == 0, capsys.readouterr().err
        return written, faces(home / "out")

    return both


@pytest.fixture
def roots(tmp_path: Path) -> tuple[Path, Path]:
    """Two workspaces in different folders below one."""
    lines = [
        gap(
            "sky mask",
            intent_category="tone",
            session_id="s-1",
            operations_involved=["exposure", "crop"],
        ),
        gap(
            "mask the sky",
            intent_category="tonal",
            session_id="s 2",
            timestamp="2026-05-01T00:00:00Z",
        ),
        gap("film grain", operations_involved=["toneequalizer"], satisfaction=-1),
        gap("no json at all", timestamp="never"),
    ]
    left = write_corpus(
        tmp_path,
        {"one": lines, "it's two": lines[:2], "three": ["[1]"]},
        "photos",
        tmp_path / "left",
    )
    right = write_corpus(
        tmp_path, {"four": lines[1:], "-five": lines[:1]}, "more photos", tmp_path / "right"
    )
    return left, right


@pytest.mark.parametrize(
    "arguments",
    [
        ("--top", "0", "--threshold", "0.1234567890123", "--rank-by", "unsatisfied"),
        ("--min-sessions", "1", "--min-images", "0", "--since", "90d", "--until", "1d"),
        ("--until", "2026-05-01T02:00:00+02:00", "--image", "one", "--image", "it's two"),
        ("--operation", "toneequal", "--session", "s 2", "--category", "tone", "--allow-empty"),
        (
            "--session", '$(touch harm); `x` "y" * ~', "--image", "-five", "--image", "größe 木",
            "--allow-empty",
        ),
    ],
    ids=" ".join,
)  # fmt: skip
def test_quoted_command_makes_the_same_report(
    again: Again, roots: tuple[Path, Path], arguments: tuple[str, ...]
) -> None:
    left, _ = roots
    first, second = again(left, *arguments, home=left.parent)
    assert first == second


@pytest.mark.parametrize("name", ["it's $HOME;  `x` grö߀", "-rf", "~"])
def test_a_root_of_any_name_is_found_again(again: Again, tmp_path: Path, name: str) -> None:
    root = write_corpus(tmp_path, {"two  spaces": [gap("sky mask")]}, name, tmp_path / "home")
    first, second = again(root, "--image", "two  spaces", home=root.parent)
    assert first == second


def test_several_roots_are_named_from_the_folder_that_holds_them(
    again: Again, roots: tuple[Path, Path], tmp_path: Path
) -> None:
    first, second = again(*roots, home=tmp_path)
    assert first == second


@pytest.mark.parametrize("root", ["..", "one/.."])
def test_a_relative_root_is_named_from_the_folder_that_holds_it(
    again: Again, roots: tuple[Path, Path], root: str
) -> None:
    start = roots[0] / "one" if root == ".." else roots[0]
    first, second = again(root, home=roots[0].parent, start=start)
    assert first == second
    assert b"vocabgap report photos --embedder none --now" in first


def test_a_settings_file_is_named_and_read_again(
    again: Again, roots: tuple[Path, Path], tmp_path: Path
) -> None:
    settings = tmp_path / "settings" / "team.toml"
    settings.parent.mkdir()
    settings.write_text(
        '[ingest]\ntenant = "studio"\n[cluster]\nthreshold = 0.2\nstop_words = ["sky"]\n'
        '[rank]\nby = "priority"\nmin_sessions = 1\nhalf_life_days = 7\n[report]\ntop = 2\n'
        '[aliases.categories]\ntone = "light"\n[aliases.operations]\ncrop = "trim"\n'
    )
    first, second = again(roots[0], "--config", settings, home=roots[0].parent)
    assert first == second


def test_the_settings_file_of_the_current_folder_is_named_from_the_other_one(
    again: Again, roots: tuple[Path, Path], tmp_path: Path
) -> None:
    start = tmp_path / "desk"
    start.mkdir()
    (start / "vocabgap.toml").write_text("[report]\ntop = 1\n")
    first, second = again(roots[0], home=roots[0].parent, start=start)
    assert first == second


def test_a_settings_file_that_was_not_in_force_is_not_in_force_again(
    again: Again, roots: tuple[Path, Path], tmp_path: Path
) -> None:
    (roots[0].parent / "vocabgap.toml").write_text("[report]\ntop = 1\n")
    first, second = again(roots[0], home=roots[0].parent, start=tmp_path)
    assert first == second


def test_what_the_environment_set_is_said_as_flags(again: Again, roots: tuple[Path, Path]) -> None:
    environment = {"VOCABGAP_TOP": "1", "VOCABGAP_THRESHOLD": "0.2", "VOCABGAP_RANK_BY": "images"}
    first, second = again(roots[0], home=roots[0].parent, environment=environment)
    assert first == second
    assert b"--threshold 0.2 --embedder none --rank-by images --top 1" in first


def test_defaults_are_left_out(tmp_path: Path) -> None:
    assert (
        asked(tmp_path / "photos").command
        == "vocabgap report photos --embedder none --now 2026-07-01T00:00:00Z"
    )


def test_beside_a_settings_file_every_value_is_said(tmp_path: Path) -> None:
    command = asked(tmp_path / "photos", config=tmp_path / "team.toml").command
    ranking = "--rank-by mentions --min-images 1 --min-sessions 0 --top 10"
    assert f"--config team.toml --threshold 'by wording' --embedder none {ranking}" in command


def test_flags_say_the_settings_that_differ(tmp_path: Path) -> None:
    settings = Settings(
        cluster=ClusterSettings(threshold=0.5),
        rank=RankSettings(by=RankBy.IMAGES, min_images=2, min_sessions=3),
        report=ReportSettings(top=0),
    )
    command = asked(tmp_path / "photos", settings=settings).command
    assert (
        "--threshold 0.5 --embedder none --rank-by images --min-images 2 --min-sessions 3 --top 0"
        in command
    )


def test_roots_are_named_once_and_in_order(tmp_path: Path) -> None:
    command = asked(tmp_path / "b", tmp_path / "a", tmp_path / "c" / ".." / "b").command
    assert command.startswith("vocabgap report a b --embedder none --now")


def test_command_does_not_tell_where_the_person_works(tmp_path: Path) -> None:
    assert str(tmp_path) not in asked(tmp_path / "photos", config=tmp_path / "team.toml").command


def test_command_is_one_line_whatever_a_value_holds(tmp_path: Path) -> None:
    selection = Selection(images=("one\n```\n# heading", "\x1b[31m"))
    command = asked(tmp_path / "photos", selection=selection).command
    assert command.isprintable()


@pytest.mark.parametrize(
    "settings",
    [
        Settings(cluster=ClusterSettings(stop_words=("photo",))),
        Settings(rank=RankSettings(half_life_days=30)),
        Settings(vocabulary=VocabularySettings(threshold=0.5)),
    ],
)
def test_settings_that_no_flag_can_say_give_no_command(tmp_path: Path, settings: Settings) -> None:
    assert asked(tmp_path / "photos", settings=settings).command == ""


def test_what_lies_elsewhere_is_named_without_its_folders() -> None:
    roots = [Path("/home/mira/photos"), Path("/srv/scans")]

    command = asked(*roots, config=Path("/home/mira/team.toml")).command

    assert command.startswith("vocabgap report photos scans --config team.toml ")


def test_vocabularies_are_named_as_seen_from_the_folder_of_the_roots(
    roots: tuple[Path, Path], again: Again, tmp_path: Path
) -> None:
    (tmp_path / "packs").mkdir()
    for name in ("sky.jsonl", "more words.jsonl"):
        (tmp_path / "packs" / name).write_text(f'{{"name": "{name}_mask"}}\n')
    listed = [
        argument for path in (tmp_path / "packs").iterdir() for argument in ("--vocabulary", path)
    ]

    first, second = again(*roots, *listed, home=tmp_path, start=roots[0])

    assert first == second
    assert b"--vocabulary packs/sky.jsonl" in first
    assert b"--vocabulary 'packs/more words.jsonl'" in first


@pytest.mark.parametrize("name", ["none", "-last june"])
def test_the_run_before_is_named_as_seen_from_the_folder_of_the_roots(
    roots: tuple[Path, Path], again: Again, tmp_path: Path, name: str
) -> None:
    june = tmp_path / name
    report = [
        "report",
        str(roots[0]),
        "--image",
        "one",
        "--out",
        str(june),
        "--now",
        "2026-06-01T00:00:00Z",
    ]
    assert command_line(report) == 0

    first, second = again(*roots, "--previous", june, home=tmp_path)

    assert first == second
    assert b"Since the run before, of 2026-06-01 00:00 UTC" in first


def test_deciding_needs_no_options_by_default(tmp_path: Path) -> None:
    assert asked(tmp_path / "photos").deciding == ""


def test_deciding_follows_the_settings_file_and_the_decisions_of_the_run(tmp_path: Path) -> None:
    settings = Settings(decisions=DecisionSettings(file=str(tmp_path / "our team.jsonl")))
    found = asked(tmp_path / "photos", settings=settings, config=tmp_path / "mine.toml").deciding
    assert found == "--config mine.toml --decisions 'our team.jsonl'"


@pytest.mark.parametrize(
    ("root", "options"), [("photos", ""), ("deeper/photos", "--decisions ../decisions.jsonl")]
)
def test_deciding_goes_into_the_file_that_was_followed(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, root: str, options: str
) -> None:
    monkeypatch.chdir(tmp_path)
    followed = Decided(active=1, inactive=0, sha256="")
    assert asked(tmp_path / root, decided=followed).deciding == options
