"""What was logged: lists of records, one thing with its evidence, and needs that are similar."""
