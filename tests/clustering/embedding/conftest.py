"""Builders of tiny models: a table of word vectors as an ONNX graph, and the tokenizer of its words."""

from pathlib import Path

import pytest

from builders.embedding import VECTORS, Table, write_model, write_tokenizer
from vocabgap.clustering.embedder import Embedder


@pytest.fixture(scope="session")
def table() -> Table:
    """The vectors of the words, a row each."""
    return VECTORS


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    """A model as it would be published, in a folder named `tiny`."""
    write_model(tmp_path / "tiny" / "model.onnx")
    write_tokenizer(tmp_path / "tiny")
    return tmp_path / "tiny"


@pytest.fixture
def embedder(folder: Path) -> Embedder:
    """That model, loaded."""
    return Embedder.load(folder)
