"""The write side of the gap log: one record, checked at the door, appended as one whole line."""

from vocabgap.gaplog.log import LoggedGap as LoggedGap
from vocabgap.gaplog.log import log_gap as log_gap
