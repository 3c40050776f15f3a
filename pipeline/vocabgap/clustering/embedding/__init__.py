"""Embedding: short texts to vectors of unit length by a model that lies on this machine."""

from vocabgap.clustering.embedding.embedder import Embedder, EmbeddingUse, load_embedder

__all__ = ["Embedder", "EmbeddingUse", "load_embedder"]
