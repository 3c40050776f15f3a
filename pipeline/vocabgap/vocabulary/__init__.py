"""Vocabularies: what agents can already ask for, read from the files that list it."""

from vocabgap.vocabulary.entry import Entry, Vocabulary, VocabularyFile
from vocabgap.vocabulary.loading import load_vocabulary, vocabulary_files

__all__ = ["Entry", "Vocabulary", "VocabularyFile", "load_vocabulary", "vocabulary_files"]
