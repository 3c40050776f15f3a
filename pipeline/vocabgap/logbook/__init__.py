"""The logbook: people, agents and hooks log gaps."""
