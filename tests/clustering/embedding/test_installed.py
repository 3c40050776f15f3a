"""The MiniLM of an installed package, found whatever way the package holds it."""

import importlib.metadata
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Final

import numpy as np
import pytest

from builders.embedding import write_model, write_tokenizer
from vocabgap.clustering.embedding import Embedder, model_files
from vocabgap.errors import InvalidInputError, NotFoundError

Install = Callable[..., Path]

# Where tokens stand in the vocabulary of BERT (uncased), as it was published.
BERT_IDS: Final = {
    "[PAD]": 0,
    "[UNK]": 100,
    "[CLS]": 101,
    "[SEP]": 102,
    "[MASK]": 103,
    ".": 1012,
    "a": 1037,
    "the": 1996,
    "of": 1997,
    "##s": 2015,
    "##ing": 2075,
    "##!": 29_612,
}


def _bert_words() -> tuple[str, ...]:
    words = [f"w{place}" for place in range(30_522)]
    for word, place in BERT_IDS.items():
        words[place] = word
    return tuple(words)


def _swapped(words: tuple[str, ...], one: str, other: str) -> tuple[str, ...]:
    pair = {one: other, other: one}
    return tuple(pair.get(word, word) for word in words)


BERT_WORDS: Final = _bert_words()


@pytest.fixture
def site(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A folder of packages; no other is looked at."""
    place = tmp_path / "site-packages"
    place.mkdir()
    monkeypatch.setattr(
        model_files, "distributions", lambda: importlib.metadata.distributions(path=[str(place)])
    )
    return place


@pytest.fixture
def install(site: Path) -> Install:
    """Installs a package: a model at each path that ends in `.onnx`, a tokenizer at the others."""

    def lay(name: str, *paths: str, words: tuple[str, ...] | None = None) -> Path:
        for path in paths:
            if path.endswith(".onnx"):
                table = np.random.default_rng(3).normal(size=(len(words or range(11)), 4)).astype(np.float32)
                write_model(site / path, words=table)
            elif words is None:
                write_tokenizer((site / path).parent)
            else:
                write_tokenizer((site / path).parent, words)
        info = site / f"{name.replace('-', '_')}-1.5.dist-info"
        info.mkdir()
        (info / "METADATA").write_text(f"Metadata-Version: 2.1\nName: {name}\nVersion: 1.5\n")
        (info / "RECORD").write_text("".join(f"{path},,\n" for path in paths))
        return site

    return lay


@pytest.mark.parametrize(
    "paths",
    [
        ("mini/model.onnx", "mini/tokenizer.json"),
        ("mini/onnx/model_quantized.onnx", "mini/tokenizer.json"),
        ("mini/onnx/model.onnx", "mini/onnx/tokenizer.json"),
        ("mini/some.onnx", "mini/data/tokenizer.json"),
    ],
)
def test_a_package_of_that_name_is_found(install: Install, paths: tuple[str, ...]) -> None:
    install("all-MiniLM-L6-v2", *paths)
    found = Embedder.load("minilm")
    assert found.name == "minilm (all-minilm-l6-v2 1.5)"
    assert found.embed(["sky"]).shape == (1, 4)


def test_a_folder_of_that_name_is_found(install: Install) -> None:
    install("search-things", "things/all-MiniLM-L6-v2/model.onnx", "things/all-MiniLM-L6-v2/tokenizer.json")
    assert Embedder.load("minilm").name == "minilm (search-things 1.5)"


@pytest.mark.usefixtures("site")
def test_none_is_told_with_what_to_do() -> None:
    with pytest.raises(NotFoundError, match="no installed package carries an ONNX file") as raised:
        Embedder.load("minilm")
    assert "name a folder that holds tokenizer.json and model.onnx" in raised.value.hint


def test_other_models_and_those_that_compare_texts_are_passed_over(install: Install) -> None:
    install("voice", "voice/vad.onnx", "voice/tokenizer.json")
    install("minilm-ranker", "ranker/ms-marco-MiniLM-L6/model.onnx", "ranker/tokenizer.json")
    with pytest.raises(NotFoundError):
        Embedder.load("minilm")


def test_of_several_the_first_by_name_is_taken_that_has_its_tokenizer(install: Install) -> None:
    install("a-minilm", "a/model.onnx")
    install("c-minilm", "c/model.onnx", "c/tokenizer.json")
    install("b-minilm", "b/model.onnx", "b/tokenizer.json")
    assert Embedder.load("minilm").name == "minilm (b-minilm 1.5)"


def test_of_several_models_in_a_package_the_usual_order_holds(install: Install) -> None:
    names = ("model_O4.onnx", "model_int8.onnx", "model.onnx", "tokenizer.json")
    site = install("minilm", *(f"mini/{name}" for name in names))
    expected = Embedder.load(site / "mini" / "model.onnx").digest
    (site / "mini" / "model_O4.onnx").write_bytes(b"damaged")
    (site / "mini" / "model_int8.onnx").write_bytes(b"damaged")
    assert Embedder.load("minilm").digest == expected


def test_a_tokenizer_is_borrowed_from_a_package_of_the_same_model(install: Install) -> None:
    install("minilm-int8", "mini/model.onnx", words=BERT_WORDS)
    install("aaa", "aaa/tokenizer.json", words=BERT_WORDS)
    install("all-minilm", "all/tokenizer.json", words=BERT_WORDS)

    found = Embedder.load("minilm")

    assert found.name == "minilm (minilm-int8 1.5, tokenizer of all-minilm 1.5)"
    assert found.embed(["w7"]).shape == (1, 4)


def test_a_tokenizer_with_the_vocabulary_of_bert_is_borrowed_whatever_its_package(install: Install) -> None:
    install("minilm-int8", "mini/model.onnx", words=BERT_WORDS)
    install("bert", "bert/tokenizer.json", words=BERT_WORDS)
    assert Embedder.load("minilm").name == "minilm (minilm-int8 1.5, tokenizer of bert 1.5)"


@pytest.mark.parametrize(
    "words",
    [
        ("[PAD]", "[UNK]", "[CLS]", "[SEP]", *(f"w{number}" for number in range(30_518))),
        _swapped(BERT_WORDS, "the", "w5000"),
        _swapped(BERT_WORDS, "[MASK]", "[SEP]"),
        _swapped(BERT_WORDS, "##!", "w30521"),
    ],
    ids=["the count alone", "a word elsewhere", "marks swapped", "the end elsewhere"],
)
def test_as_many_tokens_in_other_places_are_not_borrowed(install: Install, words: tuple[str, ...]) -> None:
    install("minilm-int8", "mini/model.onnx", words=BERT_WORDS)
    install("lookalike", "lookalike/tokenizer.json", words=words)
    with pytest.raises(NotFoundError, match=r"minilm-int8 1\.5 carries a minilm without tokenizer\.json"):
        Embedder.load("minilm")


def test_several_tokenizers_apart_from_the_model_are_told(install: Install) -> None:
    install("models", "all-MiniLM/model.onnx", "e5/tokenizer.json", "bge/tokenizer.json")

    with pytest.raises(
        InvalidInputError, match=r"several tokenizers: bge/tokenizer\.json, e5/tokenizer\.json"
    ) as raised:
        Embedder.load("minilm")

    assert "models 1.5 carries 'all-MiniLM/model.onnx'" in raised.value.message
    assert "copy the model and its tokenizer.json into a folder" in raised.value.hint


def test_the_tokenizer_that_lies_with_the_model_is_taken_among_several(install: Install) -> None:
    site = install(
        "models", "all-MiniLM/onnx/model.onnx", "aaa-MiniLM/tokenizer.json", "all-MiniLM/tokenizer.json"
    )
    (site / "aaa-MiniLM" / "tokenizer.json").write_text("{")
    assert Embedder.load("minilm").name == "minilm (models 1.5)"


def test_other_tokenizers_are_not_borrowed(install: Install) -> None:
    install("minilm-int8", "mini/model.onnx", words=BERT_WORDS)
    site = install("small-minilm", "small/tokenizer.json")
    install("broken-minilm", "broken/tokenizer.json")
    (site / "broken" / "tokenizer.json").write_text("{")
    with pytest.raises(NotFoundError, match=r"minilm-int8 1\.5 carries a minilm without tokenizer\.json"):
        Embedder.load("minilm")


@pytest.mark.parametrize("words", [(*BERT_WORDS, "more"), BERT_WORDS[:-1]])
def test_a_borrowed_tokenizer_must_know_exactly_the_words_of_the_model(
    install: Install, words: tuple[str, ...]
) -> None:
    install("minilm-multilingual", "mini/model.onnx", words=words)
    install("bert", "bert/tokenizer.json", words=BERT_WORDS)
    with pytest.raises(InvalidInputError, match=r"has 30,522 tokens; .* knows another number"):
        Embedder.load("minilm")


def test_files_that_a_package_only_lists_are_passed_over(install: Install, site: Path) -> None:
    install("minilm", "mini/model.onnx", "mini/tokenizer.json")
    (site / "mini" / "model.onnx").unlink()
    with pytest.raises(NotFoundError):
        Embedder.load("minilm")


def test_nothing_of_a_package_is_imported(
    install: Install, site: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    install("minilm", "carrier/model.onnx", "carrier/tokenizer.json")
    (site / "carrier" / "__init__.py").write_text("raise SystemExit('imported')")
    monkeypatch.syspath_prepend(site)
    Embedder.load("minilm")
    assert "carrier" not in sys.modules


def test_a_folder_called_so_is_a_folder(
    folder: Path, install: Install, monkeypatch: pytest.MonkeyPatch
) -> None:
    install("all-minilm", "mini/model.onnx", "mini/tokenizer.json")
    folder.rename(folder.with_name("minilm"))
    monkeypatch.chdir(folder.parent)
    assert [Embedder.load(each).name for each in ("./minilm", Path("minilm"))] == ["minilm", "minilm"]
