"""Which files of a folder are taken, and what is said of those that cannot be."""

import json
import os
import shutil
import sys
from pathlib import Path

import numpy as np
import numpy.typing as npt
import pytest

from builders.embedding import write_json, write_model, write_tokenizer
from vocabgap.clustering.embedding import Embedder
from vocabgap.errors import AccessDeniedError, InvalidInputError, NotFoundError, StateError

Table = npt.NDArray[np.float32]

not_as_root = pytest.mark.skipif(os.geteuid() == 0, reason="root reads files whatever their permissions")

ORDERED = [
    "model.onnx",
    "model_quantized.onnx",
    "model_int8.onnx",
    "onnx/model.onnx",
    "onnx/model_quantized.onnx",
    "onnx/model_int8.onnx",
]


@pytest.mark.parametrize("place", range(len(ORDERED)))
def test_models_are_taken_in_this_order(folder: Path, table: Table, place: int) -> None:
    (folder / "model.onnx").unlink()
    expected = Embedder.load(write_model(folder / ORDERED[place])).embed(["sky"])
    for name in ORDERED[place + 1 :]:
        write_model(folder / name, words=-table)

    assert np.array_equal(Embedder.load(folder).embed(["sky"]), expected)


def test_an_only_model_may_have_any_name(folder: Path) -> None:
    (folder / "onnx").mkdir()
    (folder / "model.onnx").rename(folder / "onnx" / "all-MiniLM.onnx")
    assert Embedder.load(folder).dims == 4


def test_of_several_others_one_is_to_be_named(folder: Path) -> None:
    shutil.copy(folder / "model.onnx", folder / "model_O4.onnx")
    (folder / "onnx").mkdir()
    (folder / "model.onnx").rename(folder / "onnx" / "model_O2.onnx")

    with pytest.raises(
        InvalidInputError, match=r"several models: model_O4\.onnx, onnx/model_O2\.onnx"
    ) as raised:
        Embedder.load(folder)

    assert "model_O4.onnx" in raised.value.hint
    assert Embedder.load(folder / "onnx" / "model_O2.onnx").name == "tiny/model_O2.onnx"


def test_a_tokenizer_may_lie_with_a_model_in_the_folder_below(folder: Path) -> None:
    (folder / "onnx").mkdir()
    for name in ("model.onnx", "tokenizer.json"):
        (folder / name).rename(folder / "onnx" / name)
    assert Embedder.load(folder).dims == Embedder.load(folder / "onnx" / "model.onnx").dims == 4


def test_the_name_says_nothing_of_the_place(folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(folder)
    assert Embedder.load(folder).name == Embedder.load(".").name == "tiny"


def test_a_leading_tilde_is_the_home_folder(folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("HOME", str(folder.parent))
    assert Embedder.load("~/tiny").name == "tiny"


@pytest.mark.parametrize("is_there", [True, False])
def test_weights_in_a_file_beside_the_model_are_refused(
    folder: Path, monkeypatch: pytest.MonkeyPatch, is_there: bool
) -> None:
    write_model(folder / "model.onnx", weights="model.onnx_data")
    monkeypatch.chdir(folder)
    if not is_there:
        (folder / "model.onnx_data").unlink()
    with pytest.raises(InvalidInputError, match=r"model\.onnx' cannot be loaded: ") as caught:
        Embedder.load(folder)
    assert caught.value.hint == "export the model with its weights in the one file"


@pytest.mark.parametrize(
    ("name", "settings"),
    [
        ("1_Pooling/config.json", {"pooling_mode": "cls"}),
        ("sentence_bert_config.json", {"max_seq_length": 64}),
        ("tokenizer_config.json", {"model_max_length": 64}),
    ],
)
def test_settings_that_change_vectors_change_the_digest(
    folder: Path, name: str, settings: dict[str, object]
) -> None:
    before = Embedder.load(folder).digest
    write_json(folder / name, settings)
    assert Embedder.load(folder).digest != before


def test_another_model_or_tokenizer_changes_the_digest(folder: Path, table: Table) -> None:
    digests = [Embedder.load(folder).digest]
    write_model(folder / "model.onnx", words=table + 1)
    digests.append(Embedder.load(folder).digest)
    write_tokenizer(folder, marks=False)
    digests.append(Embedder.load(folder).digest)
    assert len(set(digests)) == 3


def test_nothing_else_does(folder: Path) -> None:
    before = Embedder.load(folder).digest
    moved = folder.rename(folder.with_name("elsewhere"))
    write_json(moved / "config.json", {"model_type": "bert"})
    write_json(moved / "sentence_bert_config.json", {"max_seq_length": 256})
    assert Embedder.load(moved).digest == before
    assert len(before) == 64


def test_a_missing_folder_is_told(tmp_path: Path) -> None:
    with pytest.raises(NotFoundError, match=r"there is no model '.*nowhere'") as raised:
        Embedder.load(tmp_path / "nowhere")
    assert "tokenizer.json and model.onnx" in raised.value.hint


def test_a_missing_model_is_told(folder: Path) -> None:
    (folder / "model.onnx").unlink()
    with pytest.raises(NotFoundError, match=r"tiny' holds no \.onnx file"):
        Embedder.load(folder)


def test_a_missing_tokenizer_is_told(folder: Path) -> None:
    (folder / "tokenizer.json").unlink()
    with pytest.raises(NotFoundError, match=r"tiny' holds no tokenizer\.json"):
        Embedder.load(folder)


def test_another_file_than_a_model_is_told(folder: Path) -> None:
    with pytest.raises(InvalidInputError, match="expected a folder, found a file"):
        Embedder.load(folder / "tokenizer.json")


def test_a_pipe_is_told_and_not_waited_for(folder: Path) -> None:
    (folder / "tokenizer.json").unlink()
    os.mkfifo(folder / "tokenizer.json")
    with pytest.raises(InvalidInputError, match=r"tokenizer\.json' is a pipe; expected a file"):
        Embedder.load(folder)


@pytest.mark.parametrize("content", [b"", b"no model", b"\x08\x08"])
def test_a_damaged_model_is_told(folder: Path, content: bytes, capfd: pytest.CaptureFixture[str]) -> None:
    (folder / "model.onnx").write_bytes(content)
    with pytest.raises(InvalidInputError, match=r"model\.onnx' cannot be loaded") as raised:
        Embedder.load(folder)
    assert raised.value.hint
    assert capfd.readouterr() == ("", "")


def test_names_in_a_damaged_model_that_are_no_text_are_told(
    folder: Path, capfd: pytest.CaptureFixture[str]
) -> None:
    path = folder / "model.onnx"
    path.write_bytes(path.read_bytes().replace(b"batch", b"bat\xe3h").replace(b"looked up", b"look\xe3d up"))
    with pytest.raises(InvalidInputError, match=r"model\.onnx' cannot be loaded"):
        Embedder.load(folder)
    assert capfd.readouterr() == ("", "")


def test_half_a_model_is_told(folder: Path) -> None:
    content = (folder / "model.onnx").read_bytes()
    (folder / "model.onnx").write_bytes(content[: len(content) // 2])
    with pytest.raises(InvalidInputError, match=r"model\.onnx' cannot be loaded"):
        Embedder.load(folder)


@pytest.mark.parametrize("content", [b"", b"{}", b"[1, 2", b"\xff\xfe", b"null"])
def test_a_damaged_tokenizer_is_told(folder: Path, content: bytes) -> None:
    (folder / "tokenizer.json").write_bytes(content)
    with pytest.raises(InvalidInputError, match=r"tokenizer\.json' is no tokenizer"):
        Embedder.load(folder)


def test_a_tokenizer_that_breaks_down_at_its_first_text_is_told(folder: Path) -> None:
    path = folder / "tokenizer.json"
    content = json.loads(path.read_bytes())
    content["post_processor"]["special_tokens"] = {}  # the library ends in a panic, which is no Exception
    path.write_text(json.dumps(content), encoding="utf-8")
    with pytest.raises(InvalidInputError, match=r"tokenizer\.json' cannot split 'a'"):
        Embedder.load(folder)


@pytest.mark.parametrize(
    "name", ["1_Pooling/config.json", "sentence_bert_config.json", "tokenizer_config.json", "modules.json"]
)
@pytest.mark.parametrize("content", [b"", b"{", b"7", b"\xff", b"[" * 100_000])
def test_damaged_settings_are_told(folder: Path, name: str, content: bytes) -> None:
    (folder / name).parent.mkdir(exist_ok=True)
    (folder / name).write_bytes(content)
    with pytest.raises(InvalidInputError, match=rf"{name}' (is not JSON|holds no JSON)"):
        Embedder.load(folder)


@not_as_root
@pytest.mark.parametrize("name", ["model.onnx", "tokenizer.json", "."])
def test_files_without_permission_are_told(folder: Path, name: str) -> None:
    (folder / name).chmod(0)
    try:
        with pytest.raises(AccessDeniedError, match="cannot be read"):
            Embedder.load(folder)
    finally:
        (folder / name).chmod(0o700)


@pytest.mark.parametrize("name", ["model.onnx", "tokenizer.json"])
def test_what_the_system_refuses_is_told(folder: Path, monkeypatch: pytest.MonkeyPatch, name: str) -> None:
    read = Path.read_bytes

    def refuse(path: Path) -> bytes:
        if path.name == name:
            raise PermissionError(13, "Permission denied", str(path))
        return read(path)

    monkeypatch.setattr(Path, "read_bytes", refuse)
    with pytest.raises(AccessDeniedError, match=rf"{name}' cannot be read: Permission denied"):
        Embedder.load(folder)


@pytest.mark.parametrize("library", ["onnxruntime", "tokenizers"])
def test_a_missing_extra_is_told(folder: Path, monkeypatch: pytest.MonkeyPatch, library: str) -> None:
    monkeypatch.setitem(sys.modules, library, None)
    with pytest.raises(StateError, match=f"{library}") as raised:
        Embedder.load(folder)
    assert raised.value.hint == "pip install 'vocabgap[embed]'"
