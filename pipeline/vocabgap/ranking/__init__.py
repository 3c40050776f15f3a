"""Ranking: groups of wordings to capabilities, each with its evidence, in the order to look at them."""
