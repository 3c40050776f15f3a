"""The data model: the gap record, the tables and the settings, each declared once."""
