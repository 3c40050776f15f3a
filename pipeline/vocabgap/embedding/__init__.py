"""Embedding: short texts to vectors of unit length by a model that lies on this machine."""

from vocabgap.embedding.embedder import Embedder, EmbeddingUse
from vocabgap.embedding.installed import MINILM

__all__ = ["MINILM", "Embedder", "EmbeddingUse"]
