"""Sentence embeddings from the command line to the manifest, and what the cache of a run keeps of them."""

import json
from pathlib import Path

import pytest

import vocabgap as vg
from builders import gap, write_corpus
from vocabgap.cli.app import run
from vocabgap.errors import NotFoundError

NOW = "2026-07-01T00:00:00Z"


@pytest.fixture
def sightings(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """Three wordings, in a folder that the command runs beside."""
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("COLUMNS", "200")
    monkeypatch.delenv("VOCABGAP_EMBEDDER", raising=False)
    return write_corpus(
        tmp_path, {"heron": [gap("sky mask"), gap("warm skin tone")], "fjord": [gap("skin tones")]}
    )


def test_the_manifest_names_the_model_and_not_its_place(
    sightings: Path, folder: Path, tmp_path: Path
) -> None:
    assert run(["report", str(sightings), "--embedder", str(folder), "--now", NOW]) == 0

    manifest = json.loads((tmp_path / "out" / "run.json").read_text())
    assert manifest["model"]["name"] == "tiny"
    assert len(manifest["model"]["sha256"]) == 64
    assert manifest["model"]["runtime"].startswith("onnxruntime ")
    assert manifest["parameters"]["settings"]["cluster"]["embedder"] == "tiny"


def test_without_an_embedder_the_manifest_has_no_model(sightings: Path, tmp_path: Path) -> None:
    assert run(["report", str(sightings), "--now", NOW]) == 0

    assert json.loads((tmp_path / "out" / "run.json").read_text())["model"] is None


def test_the_command_that_makes_the_report_again_names_the_model(
    sightings: Path, folder: Path, tmp_path: Path
) -> None:
    assert run(["report", str(sightings), "--embedder", str(folder), "--now", NOW]) == 0

    command = json.loads((tmp_path / "out" / "run.json").read_text())["command"]
    assert "--embedder tiny" in command
    again = run([*command.split()[1:], "--out", "again"])
    assert again == 0
    assert (tmp_path / "again" / "report.md").read_bytes() == (tmp_path / "out" / "report.md").read_bytes()


def test_the_environment_and_the_settings_name_an_embedder(
    sightings: Path, folder: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    settings = tmp_path / "other.toml"
    settings.write_text(f"[cluster]\nembedder = {json.dumps(str(folder))}\n")
    assert run(["report", str(sightings), "--config", str(settings), "--out", "a", "--now", NOW]) == 0

    monkeypatch.setenv("VOCABGAP_EMBEDDER", str(folder))
    assert run(["report", str(sightings), "--out", "b", "--now", NOW]) == 0

    models = [json.loads((tmp_path / out / "run.json").read_text())["model"] for out in "ab"]
    assert models[0] == models[1] is not None


def test_a_second_run_finds_the_embeddings_in_the_cache(
    sightings: Path, folder: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    words = ["report", str(sightings), "--embedder", str(folder), "--cache", "kept", "--now", NOW]
    run(words)
    capsys.readouterr()

    assert run(words) == 0

    assert "3 embeddings kept, 0 computed" in capsys.readouterr().err


def test_a_model_that_is_not_there_is_told_before_anything_is_read(
    sightings: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    (sightings / "heron" / "vocabulary_gaps.jsonl").unlink()

    assert run(["report", str(sightings), "--embedder", str(tmp_path / "none")]) == NotFoundError.exit_code

    assert "none" in capsys.readouterr().err
    assert not (tmp_path / "out").exists()


@pytest.mark.parametrize(
    "words", [["clusters"], ["clusters", "--threshold-sweep"], ["clusters", "show", "sky mask"]]
)
def test_groups_are_looked_at_with_an_embedder(
    sightings: Path, folder: Path, capsys: pytest.CaptureFixture[str], words: list[str]
) -> None:
    assert run([*words, str(sightings)]) == 0
    without = capsys.readouterr().out

    assert run([*words, str(sightings), "--embedder", str(folder)]) == 0

    assert capsys.readouterr().out != without


def test_records_are_grouped_by_a_model_from_python(sightings: Path, folder: Path) -> None:
    embedder = vg.Embedder.load(folder)

    found = vg.cluster(vg.scan(sightings).records, embedder=embedder)

    assert sorted(found.wordings["wording"]) == ["skin tones", "sky mask", "warm skin tone"]
    assert embedder.use.computed == 3
