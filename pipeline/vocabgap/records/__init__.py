"""Gap records: their fields, categories and moments."""
