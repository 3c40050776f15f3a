"""Decisions of people about capabilities, kept as lines of a file and replayed at every run."""
