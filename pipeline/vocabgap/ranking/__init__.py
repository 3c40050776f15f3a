"""Ranking: make capabilities of groups of wordings, with their evidence, and sort them."""
