"""The shapes, each declared once: the gap record, the tables, the settings."""
