"""What `vocabgap show` prints, and what it refuses."""

import json
import shutil
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

from builders import gap, write_corpus
from builders.command import vocabgap


@pytest.fixture
def published(reported: Path) -> Path:
    """A run of `photos` in the default folder."""
    return reported.parent / "out"


def result(out: str) -> dict[str, Any]:
    found: dict[str, Any] = json.loads(out.splitlines()[-1])
    return found


def test_an_image_is_its_records_and_their_numbers(photos: Path) -> None:
    result = vocabgap("show", "heron", photos)

    assert result.code == 0
    assert result.out.startswith("image heron\n")
    assert result.out.index("film grain") < result.out.index("sky mask")
    assert "2 records on 1 image in 1 session" in result.out


def test_a_session_is_its_records(photos: Path) -> None:
    result = vocabgap("show", "s-2", photos)

    assert result.out.startswith("session s-2\n")
    assert "film grain" not in result.out


@pytest.mark.usefixtures("published")
def test_a_capability_is_its_evidence_and_how_to_decide(photos: Path) -> None:
    result = vocabgap("show", "mask the sky", photos)

    identifier = result.out.split()[0]
    assert "status: new" in result.out or "status: open" in result.out
    assert (
        "mentions: 2 (likely 2–3) on 2 images in 2 sessions; 1 of 1 workaround failed, 1 not rated"
        in result.out
    )
    assert "  1 × sky mask" in result.out
    assert vocabgap("decide", "pin", identifier).code == 0


@pytest.mark.usefixtures("published")
def test_a_record_is_every_field_and_its_line(photos: Path) -> None:
    gap = json.loads(vocabgap("--json", "list", photos, "--image", "heron").out.splitlines()[1])

    result = vocabgap("show", gap["record_id"][:12], photos)

    assert result.out.startswith(f"record {gap['record_id']}\n")
    assert "timestamp: 2026-04-01T10:00:00Z" in result.out
    assert "satisfaction: -1 (unsatisfied)" in result.out
    assert "line: photos/heron/vocabulary_gaps.jsonl:1, byte 0, counted" in result.out
    assert "capability: cap-" in result.out


@pytest.mark.usefixtures("published")
@pytest.mark.parametrize("name", ["heron", "s-2", "sky mask"])
def test_programs_get_the_records_and_the_rest_as_the_result(photos: Path, name: str) -> None:
    lines = vocabgap("--json", "show", name, photos).out.splitlines()

    made = result(lines[-1])
    assert made["event"] == "result"
    assert made["listed"] == made["totals"]["records"] == len(lines) - 1


def test_a_limit_lists_the_first_records_alone(photos: Path) -> None:
    result = vocabgap("show", "heron", photos, "--limit", "1")

    assert "sky mask" not in result.out
    assert "and 1 more record; --limit 0 lists all" in result.out


def test_an_image_without_a_record_that_counts_says_so(tmp_path: Path) -> None:
    root = write_corpus(
        tmp_path, {"a": [gap("sky mask", image_id="a")], "b": [gap("sky mask", image_id="a")]}
    )
    state = "cd" * 32
    write_corpus(
        tmp_path,
        {"c": [gap("x", snapshot_hash=state), gap("x", notes=state, timestamp="2026-05-01")]},
        "more",
    )

    assert "not counted: 1 duplicate" in vocabgap("show", "a", root).out
    assert "not counted: 1 superseded" in vocabgap("show", "c", "more").out


def test_an_image_without_gaps_is_shown_and_nothing_else_is_made_up(photos: Path) -> None:
    (photos / "calm").mkdir()
    result, other = (
        vocabgap("show", "calm", photos),
        vocabgap("show", "calm", photos, "--kind", "session"),
    )
    assert (result.code, result.out) == (0, "image calm\n\nno gap is logged\n")
    assert other.code == 3


def test_a_name_of_two_things_is_invalid_input_and_both_are_told(tmp_path: Path) -> None:
    root = write_corpus(tmp_path, {"heron": [gap("sky mask", session_id="heron")]})

    result = vocabgap("show", "heron", root)

    assert (result.code, result.out) == (2, "")
    assert "image heron, session heron" in result.err
    assert "--kind" in result.err
    for kind in ("image", "session"):
        assert vocabgap("show", "heron", root, "--kind", kind).out.startswith(f"{kind} heron\n")


def test_what_is_not_there_is_not_found_and_the_nearest_is_told(photos: Path) -> None:
    outcome = vocabgap("show", "herno", photos)

    assert (outcome.code, outcome.out, "similar names: 'heron'" in outcome.err) == (3, "", True)
    assert "similar names" not in vocabgap("show", "heron", photos, "--kind", "session").err
    assert result(vocabgap("--json", "show", "herno", photos).out)["code"] == 3


def test_a_long_name_that_is_not_there_is_cut_in_the_message(photos: Path) -> None:
    result = vocabgap("show", "x" * 100_000, photos)

    assert result.code == 3
    assert len(result.err) < 400


def test_what_shows_no_capability_does_not_load_clustering(published: Path, photos: Path) -> None:
    commands = (
        ["list"],
        ["list", "--run", "out"],
        ["show", "heron"],
        ["show", "s-2", "--run", "out"],
    )
    code = (
        "import sys; from vocabgap.doors.cli.app import run\n"
        f"for command in {commands}:\n"
        "    assert run([*command, sys.argv[1]]) == 0, command\n"
        "    loaded = {'scipy', 'sklearn', 'numba', 'vocabgap.pipeline', 'vocabgap.clustering',"
        " 'vocabgap.ranking.capabilities'} & sys.modules.keys()\n"
        "    assert not loaded, (command, loaded)"
    )
    command = [sys.executable, "-c", code, str(photos)]
    process = subprocess.run(
        command, cwd=published.parent, capture_output=True, text=True, check=False
    )
    assert process.returncode == 0, process.stderr


def test_show_says_how_many_wordings_differ_only_in_numbers(tmp_path: Path) -> None:
    needs = [gap("24mm lens profile"), gap("85mm lens profile")]
    root = write_corpus(tmp_path, {"one": needs}, "lenses")
    vocabgap("report", root, "--quiet")

    result = vocabgap("show", "85mm lens profile", root)

    assert "wordings (2 wordings differ only in numbers):\n" in result.out


@pytest.mark.usefixtures("published")
@pytest.mark.parametrize("name", ["mask the sky", "heron", "s-2"])
def test_without_a_folder_the_published_run_is_shown(photos: Path, name: str) -> None:
    with_logs = vocabgap("show", name, photos)
    shutil.rmtree(photos)

    alone = vocabgap("show", name)

    assert (alone.code, alone.out, alone.err) == (0, with_logs.out, "")


def test_without_a_folder_and_a_run_both_are_asked_for(tmp_path: Path) -> None:
    result = vocabgap("show", "heron")

    assert (result.code, f"'{tmp_path / 'out'}' has no run of vocabgap" in result.err) == (3, True)


def test_what_a_damaged_run_may_have_is_told_as_damage(published: Path, photos: Path) -> None:
    file = published / "groups.parquet"
    file.write_bytes(file.read_bytes() + b"x")

    need, image = vocabgap("show", "mask the sky", photos), vocabgap("show", "heron", photos)

    assert (need.code, need.out, f"'{file}' is damaged" in need.err) == (4, "", True)
    assert (image.code, f"'{file}' is damaged" in image.err) == (0, True)
    assert "again with this version; `--previous none` ignores it" in need.err
    assert vocabgap("show", "herno", photos, "--kind", "image").code == 3


def test_a_torn_manifest_is_damage_and_no_missing_run(published: Path) -> None:
    file = published / "run.json"
    file.write_bytes(file.read_bytes()[:300])

    result = vocabgap("show", "1")

    assert (result.code, f"'{file}' is damaged" in result.err) == (4, True)


def test_a_pinned_need_is_shown_with_the_order_of_the_run(photos: Path) -> None:
    vocabgap("report", photos, "--rank-by", "images", "--quiet")
    vocabgap("decide", "pin", "film grain", "--actor", "ana")
    vocabgap("report", photos, "--rank-by", "images", "--quiet")

    assert "rank: 1, pinned by ana; by images rank 1–2" in vocabgap("show", "film grain").out
