"""The report to look at: one HTML page, which needs no network and no script to be read."""
