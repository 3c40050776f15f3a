"""Clustering: records to phrases, phrases to surfaces, surfaces to groups of the same need."""
