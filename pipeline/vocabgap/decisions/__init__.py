"""Decisions: what people said about capabilities, kept as lines of a file and replayed at every run."""
