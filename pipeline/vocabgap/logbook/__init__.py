"""The logbook: a gap is written down, by a person, an agent or a hook."""
