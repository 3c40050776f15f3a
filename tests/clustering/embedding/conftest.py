"""Builders of tiny models: a table of word vectors as an ONNX graph, and the tokenizer of its words."""

from pathlib import Path
from typing import Final

import numpy as np
import pytest

from builders.embedding import DIMS, WORDS, Table, write_model, write_tokenizer
from vocabgap.clustering.embedding import Embedder

SENTENCE: Final = "sentence"  # one with a vector for the text: twice its first token's


@pytest.fixture(scope="session")
def table() -> Table:
    """The vectors of the words, a row each."""
    return np.random.default_rng(7).normal(size=(len(WORDS), DIMS)).astype(np.float32)


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
