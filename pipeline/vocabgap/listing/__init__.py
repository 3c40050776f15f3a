"""Logged records: lists of them, one thing with its evidence, and needs that are similar."""
