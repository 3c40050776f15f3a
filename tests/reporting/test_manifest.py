import hashlib
import json
from datetime import UTC, datetime
from pathlib import Path

import pytest
from msgspec.structs import replace

from builders.command import vocabgap
from builders.reporting import publish
from vocabgap.model.selection import Selection
from vocabgap.model.settings import ClusterSettings, Settings
from vocabgap.pipeline import Run
from vocabgap.reporting.manifest import MANIFEST_NAME, encode_manifest, read_manifest
from vocabgap.reporting.published_run import holds_run


def digest(path: Path) -> str:
    return hashlib.sha256(path.read_bytes()).hexdigest()


def test_outputs_are_the_other_files_with_their_digests(demo_run: Run) -> None:
    folder = demo_run.published.folder
    names = {entry.name for entry in folder.iterdir()} - {MANIFEST_NAME}
    message = {
        output.name: (output.bytes, output.sha256) for output in demo_run.published.manifest.outputs
    }
    assert message == {
        name: ((folder / name).stat().st_size, digest(folder / name)) for name in names
    }


def test_inputs_are_the_logs_with_their_digests(demo_run: Run, demo: Path) -> None:
    message = {
        item.source_path: (item.bytes, item.sha256) for item in demo_run.published.manifest.inputs
    }
    logs = demo.rglob("vocabulary_gaps.jsonl")
    assert message == {
        log.relative_to(demo).as_posix(): (log.stat().st_size, digest(log)) for log in logs
    }


def test_stages_before_the_report_are_timed(demo_run: Run) -> None:
    timings = demo_run.published.manifest.timings
    assert [timing.stage for timing in timings] == ["ingest", "cluster", "rank"]
    assert all(timing.seconds >= 0 for timing in timings)


@pytest.mark.parametrize(("embedder", "is_named"), [("auto", True), ("none", False)])
def test_a_model_is_suggested_only_to_those_who_let_vocabgap_choose(
    demo_run: Run, embedder: str, is_named: bool
) -> None:
    manifest, cluster = demo_run.published.manifest, ClusterSettings(embedder=embedder)
    assert manifest.parameters is not None
    parameters = replace(manifest.parameters, settings=Settings(cluster=cluster))

    made = replace(manifest, parameters=parameters, model=None)

    assert ("pip install" in made.installing) == is_named


def test_what_was_asked_for_is_written_and_read_as_it_was(demo: Path, tmp_path: Path) -> None:
    settings = Settings(cluster=ClusterSettings(threshold=0.5, stop_words=("the",)))
    selection = Selection(since=datetime(2026, 4, 1, tzinfo=UTC), categories=("tone", "wb"))
    published = publish(tmp_path, demo, settings=settings, selection=selection).published
    parameters = published.manifest.parameters
    assert parameters is not None
    assert (parameters.settings, parameters.selection) == (settings, selection)
    assert read_manifest(published.folder) == published.manifest


def test_file_is_indented_json_that_ends_in_a_newline(demo_run: Run) -> None:
    written = (demo_run.published.folder / MANIFEST_NAME).read_bytes()
    assert written == encode_manifest(demo_run.published.manifest)
    assert written.endswith(b"}\n")
    assert written.startswith(b'{\n  "schema_version": 1')
    assert json.loads(written)["now"] == "2026-07-01T00:00:00Z"


def test_a_manifest_cut_off_anywhere_is_no_run(demo_run: Run, tmp_path: Path) -> None:
    whole = encode_manifest(demo_run.published.manifest).rstrip()
    for end in range(0, len(whole), 997):
        (tmp_path / MANIFEST_NAME).write_bytes(whole[:end])
        assert read_manifest(tmp_path) is None


@pytest.mark.parametrize("content", [b"", b"{", b"[]", b"\xff", b'{"deep": ' + b"[" * 100_000])
def test_what_is_no_manifest_is_none(tmp_path: Path, content: bytes) -> None:
    (tmp_path / MANIFEST_NAME).write_bytes(content)

    assert read_manifest(tmp_path) is None
    assert not holds_run(tmp_path)


def test_the_manifest_of_a_run_of_many_logs_may_be_large(demo_run: Run, tmp_path: Path) -> None:
    path = tmp_path / MANIFEST_NAME
    path.write_bytes(encode_manifest(demo_run.published.manifest) + b" " * (65 << 20))

    assert read_manifest(tmp_path) == demo_run.published.manifest
    assert holds_run(tmp_path)


def test_a_manifest_with_settings_of_another_version_is_read_without_its_parameters(
    demo: Path, tmp_path: Path
) -> None:
    published = publish(tmp_path, demo).published
    path = published.folder / MANIFEST_NAME
    document = json.loads(path.read_text(encoding="utf-8"))
    document["parameters"]["settings"]["report"]["keep"] = 0
    path.write_text(json.dumps(document), encoding="utf-8")

    assert read_manifest(published.folder) == replace(published.manifest, parameters=None)


def test_a_run_of_a_newer_version_is_neither_read_nor_replaced(demo: Path, tmp_path: Path) -> None:
    published = publish(tmp_path, demo).published
    file = published.folder / MANIFEST_NAME
    newer = file.read_text(encoding="utf-8").replace(
        '"schema_version": 1', '"schema_version": 2', 1
    )
    file.write_text(newer, encoding="utf-8")

    for words in (("diff", published.folder, published.folder), ("render", published.folder)):
        result = vocabgap(*words)
        assert (result.code, "has version 2, expected at most 1" in result.err) == (4, True)

    assert file.read_text(encoding="utf-8") == newer
