"""Embed short texts as vectors of unit length, with a model on this machine."""

from vocabgap.clustering.embedding.embedder import Embedder, EmbeddingUse, load_embedder

__all__ = ["Embedder", "EmbeddingUse", "load_embedder"]
