"""Decisions of people about capabilities: lines of a file that every run replays."""
