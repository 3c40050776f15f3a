"""The write side of the gap log: one record, checked at the door, appended as one whole line."""
